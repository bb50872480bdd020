import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answering, messagingOver } from '../../support/clients.js';
import { settledInTime } from '../../support/settled.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('an `apiKey` function that hangs', () => {
  it('fails the call after its `timeout`, and nothing was sent', async () => {
    const { fetch, requests } = answering(() => ({ id: 'con_1' }));
    const apiKey = () => new Promise<string>(() => undefined);
    const client = messagingOver(fetch, { apiKey, timeout: 2_000 });
    const { error, tookMs } = await settledInTime(() => client.contacts.get('con_1'));
    expect(error).toMatchObject({ code: 'API_KEY_UNAVAILABLE', outcome: 'not-sent' });
    expect(tookMs).toBe(2_000);
    expect(requests).toHaveLength(0);
  });

  it('is called anew by the next call', async () => {
    const { fetch } = answering(() => ({ id: 'con_1' }));
    let questions = 0;
    const apiKey = () =>
      ++questions === 1 ? new Promise<string>(() => undefined) : Promise.resolve('sk_second');
    const client = messagingOver(fetch, { apiKey, timeout: 2_000 });
    await settledInTime(() => client.contacts.get('con_1'));
    const { value } = await settledInTime(() => client.contacts.get('con_1'));
    expect(value).toMatchObject({ id: 'con_1' });
    expect(questions).toBe(2);
  });

  it('fails the call after a 401 too, and stays at the refusal', async () => {
    const { fetch, requests } = answering(() => new Response(null, { status: 401 }));
    let questions = 0;
    const apiKey = () =>
      ++questions === 1 ? Promise.resolve('sk_first') : new Promise<string>(() => undefined);
    const client = messagingOver(fetch, { apiKey, timeout: 2_000 });
    const { error } = await settledInTime(() => client.contacts.get('con_1'));
    expect(error).toMatchObject({ code: 'API_KEY_UNAVAILABLE', outcome: 'rejected' });
    expect(requests).toHaveLength(1);
  });
});

it('a key that stays refused is not sent a second time by the same call', async () => {
  const { fetch, requests } = answering(() => new Response(null, { status: 401 }));
  const client = messagingOver(fetch, { apiKey: () => 'sk_bad' });
  for (let call = 0; call < 5; call++) {
    const { error } = await settledInTime(() => client.contacts.get('con_1'));
    expect(error).toMatchObject({ status: 401, outcome: 'rejected' });
  }
  expect(requests).toHaveLength(5);
});
