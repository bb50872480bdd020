import { MediaClient, type MessagingOptions } from 'postreel';
import { describe, expect, it, vi } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';

const contact = () => ({ id: 'con_1' });

describe('`client.with()`', () => {
  it('keeps what it does not change', async () => {
    const { fetch, requests } = answering(contact);
    const headers = { 'x-team': 'cats' };
    const derived = messagingOver(fetch, { headers }).with({ timeout: 1_000 });
    await derived.contacts.get('con_1');
    expect(requests[0]?.url).toBe('https://messaging.test/contacts/con_1');
    expect(requests[0]?.headers.get('authorization')).toBe('Bearer sk_test_key');
    expect(requests[0]?.headers.get('x-team')).toBe('cats');
  });

  it('changes the given options, and does not change the original client', async () => {
    const { fetch, requests } = answering(contact);
    const client = messagingOver(fetch);
    const derived = client.with({ headers: { 'x-team': 'dogs' }, apiKey: 'sk_other' });
    await derived.contacts.get('con_1');
    await client.contacts.get('con_1');
    const sent = requests.map(({ headers }) => [
      headers.get('authorization'),
      headers.get('x-team'),
    ]);
    expect(sent).toEqual([
      ['Bearer sk_other', 'dogs'],
      ['Bearer sk_test_key', null],
    ]);
  });

  it('ignores options that are undefined', async () => {
    const { fetch, requests } = answering(contact);
    const given = { baseUrl: undefined, apiKey: undefined, headers: undefined, retries: undefined };
    await messagingOver(fetch, { headers: { 'x-team': 'cats' } })
      .with(given)
      .contacts.get('con_1');
    expect(requests[0]?.headers.get('x-team')).toBe('cats');
    expect(requests[0]?.headers.get('authorization')).toBe('Bearer sk_test_key');
  });

  it('shares listeners', async () => {
    const messaging = messagingOver(answering(contact).fetch);
    const listener = vi.fn();
    messaging.on('request', listener);
    await messaging.with({ timeout: 1_000 }).contacts.get('con_1');
    expect(listener).toHaveBeenCalledTimes(1);
  });

  it('shares the key that a function returned, unless it gets another key', async () => {
    const apiKey = vi.fn(() => 'sk_made');
    const client = messagingOver(answering(contact).fetch, { apiKey });
    await client.contacts.get('con_1');
    await client.with({ timeout: 1_000 }).contacts.get('con_1');
    expect(apiKey).toHaveBeenCalledTimes(1);
  });

  it('shares the rate limit', async () => {
    const rateLimit = { limit: 5, windowMs: 3_600_000, group: 'derived' };
    const client = messagingOver(answering(contact).fetch, { rateLimit });
    await client.contacts.get('con_1');
    const derived = client.with({ timeout: 1_000 });
    await derived.contacts.get('con_1');
    expect([client.rateLimit.state()?.used, derived.rateLimit.state()?.used]).toEqual([2, 2]);
  });

  it.each<[string, MessagingOptions, string]>([
    ['a time that cannot be', { timeout: 0 }, 'INVALID_OPTION'],
    ['an address that is none', { baseUrl: 'nowhere' }, 'INVALID_BASE_URL'],
    ['a key that is none', { apiKey: 'x' }, 'INVALID_API_KEY'],
  ])('rejects %s', (_, changes, code) => {
    const client = messagingOver(fetch);
    expect(() => client.with(changes)).toThrow(expect.objectContaining({ code }) as Error);
  });

  it('of the media client is a media client', () => {
    const media = new MediaClient({ apiKey: 'key', baseUrl: 'https://media.test' });
    expect(media.with({ timeout: 1 })).toBeInstanceOf(MediaClient);
  });
});
