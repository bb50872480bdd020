import { MessagingClient } from 'postreel';
import { Agent, fetch } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { faults, openFault } from '../../support/runtimes/faults.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

// Node's own `fetch` is undici's, with 300 s for each of them.
it.each([
  ['headersTimeout', 'no answer in time'],
  ['bodyTimeout', 'no end of the answer in time'],
] as const)("the runtime's own %s is told as a time limit", async (limit, fault) => {
  const service = await openFault(faults[fault]);
  const dispatcher = new Agent({ [limit]: 100 });
  onTestFinished(async () => {
    await service.close();
    await dispatcher.destroy();
  });
  const own = (url: string, init: object) => fetch(url, { ...init, dispatcher });
  const client = new MessagingClient({
    apiKey: 'sk_test_key',
    baseUrl: service.url,
    dangerouslyAllowPlainHttp: true,
    fetch: own as typeof globalThis.fetch, // it is called so
  });
  const { error } = await client.send(mail).safe();
  expect(error).toMatchObject({ name: 'TimeoutError', code: 'TIMEOUT', outcome: 'unknown' });
  expect(error?.message).toMatch(
    /in time: `fetch` ended it by a limit of its own, .* taken effect\.$/,
  );
  expect(service.arrivals.get('POST /v1/send')).toBe(1);
});

// Bun ends with it what has waited for five minutes, and so does a `fetch` with a signal of its own.
it('so is what ends with a TimeoutError that is not ours', async () => {
  const own = () => Promise.reject(new DOMException('The operation timed out.', 'TimeoutError'));
  const client = new MessagingClient({
    apiKey: 'sk_test_key',
    baseUrl: 'https://a.test',
    fetch: own,
  });
  const { error } = await client.send(mail).safe();
  expect(error).toMatchObject({ name: 'TimeoutError', code: 'TIMEOUT', outcome: 'unknown' });
});
