import { MessagingClient } from 'postreel';
import { Agent, fetch } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { faults, openFault } from '../../support/runtimes/faults.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

// The `fetch` of Node is undici's, with 300 s for each limit.
it.each([
  ['headersTimeout', 'no answer in time'],
  ['bodyTimeout', 'no end of the answer in time'],
] as const)("the runtime's %s is reported as a time limit", async (limit, fault) => {
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
    fetch: own as typeof globalThis.fetch, // as: it is called like `fetch`
  });
  const { error } = await client.send(mail).safe();
  expect(error).toMatchObject({ name: 'TimeoutError', code: 'TIMEOUT', outcome: 'unknown' });
  expect(error?.message).toMatch(
    /in time: `fetch` ended it at its own time limit, .* taken effect\.$/,
  );
  expect(service.arrivals.get('POST /v1/send')).toBe(1);
});

// Bun throws it for a request that has waited for five minutes, as does a `fetch` with its own
// signal.
it('a TimeoutError that the client did not cause is reported as a time limit', async () => {
  const own = () => Promise.reject(new DOMException('The operation timed out.', 'TimeoutError'));
  const client = new MessagingClient({
    apiKey: 'sk_test_key',
    baseUrl: 'https://a.test',
    fetch: own,
  });
  const { error } = await client.send(mail).safe();
  expect(error).toMatchObject({ name: 'TimeoutError', code: 'TIMEOUT', outcome: 'unknown' });
});
