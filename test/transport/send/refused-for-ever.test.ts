import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answering, mediaOver } from '../../support/clients.js';
import { scripted, step } from '../../support/script.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a service that answers 429 for ever', () => {
  it.each<[string, Record<string, string>]>([
    ['and says "at once"', { 'retry-after': '0' }],
    ['and names no time', {}],
    ['and counts from a clock that is fast', { 'x-ratelimit-reset': '1' }],
  ])('%s sees at most ten requests of one call', async (_, headers) => {
    const refusals = Array.from({ length: 1_000 }, () => step.status(429, headers));
    const { client, requests } = scripted(refusals);
    const failed = expect(client.contacts.get('con_1')).rejects.toMatchObject({ status: 429 });
    await vi.runAllTimersAsync();
    await failed;
    expect(requests.length).toBeLessThanOrEqual(10);
  });

  it('does not eat the window of generate.audio()', async () => {
    const { fetch, requests } = answering(
      () => new Response(null, { status: 429, headers: { 'retry-after': '0' } }),
    );
    const startedAt = Date.now();
    const client = mediaOver(fetch, {
      rateLimit: { group: 'refused-for-ever' },
      validation: { requests: 'off', responses: 'off' },
    });
    const audio = client.generate.audio({ content: 'Good morning!', voiceId: 'voice_1' });
    const failed = expect(audio).rejects.toMatchObject({ status: 429, outcome: 'rejected' });
    await vi.runAllTimersAsync();
    await failed;
    expect(requests.length).toBeLessThanOrEqual(10);
    expect(Date.now() - startedAt).toBeLessThan(2 * 3_600_000);
  });

  it('is never asked again at once', async () => {
    const refusals = Array.from({ length: 9 }, () => step.status(429, { 'retry-after': '0' }));
    const { client, retries } = scripted(refusals);
    const failed = expect(client.contacts.get('con_1')).rejects.toBeDefined();
    await vi.runAllTimersAsync();
    await failed;
    expect(retries.length).toBeGreaterThan(3);
    for (const { delayMs } of retries) {
      expect(delayMs).toBeGreaterThanOrEqual(250);
    }
  });
});

describe('reset headers', () => {
  it('of a 503 do not make a read with a deadline give up', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const busy = step.status(503, { 'x-ratelimit-reset': '60', 'ratelimit-reset': '60' });
    const { client, requests } = scripted([busy]);
    const call = client.contacts.get('con_1', { deadline: 10_000 });
    await vi.runAllTimersAsync();
    await expect(call).resolves.toBeDefined();
    expect(requests).toHaveLength(2);
  });
});
