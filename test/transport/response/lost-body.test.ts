import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answering, messagingOver } from '../../support/clients.js';
import { scripted } from '../../support/script.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

/** An answer whose head arrives and whose body breaks or never ends. */
function headOnly(status: number, end: 'breaks' | 'stalls', headers: HeadersInit = {}): Response {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"error":{"co'));
      if (end === 'breaks') {
        controller.error(new TypeError('terminated'));
      }
    },
  });
  return new Response(body, { status, headers });
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a refusal whose body is lost', () => {
  it.each([
    [400, 'breaks', 'BadRequestError'],
    [401, 'breaks', 'AuthenticationError'],
    [422, 'stalls', 'UnprocessableError'],
    [404, 'stalls', 'NotFoundError'],
  ] as const)('is a refusal: %i that %s', async (status, end, name) => {
    const { client, requests } = scripted([() => headOnly(status, end)]);
    const call = client.send(mail);
    const failed = expect(call).rejects.toMatchObject({ name, status, outcome: 'rejected' });
    await vi.advanceTimersByTimeAsync(30_000);
    await failed;
    expect(call.outcome).toBe('rejected');
    expect(requests).toHaveLength(1);
  });

  it('is still a redirect', async () => {
    const { client } = scripted([() => headOnly(307, 'breaks', { location: 'https://x.test/' })]);
    await expect(client.send(mail)).rejects.toMatchObject({
      code: 'UNEXPECTED_RESPONSE',
      status: 307,
      outcome: 'rejected',
    });
  });

  it('renews the key after a 401', async () => {
    const keys = ['sk_old', 'sk_new'];
    const answers = [headOnly(401, 'breaks'), Response.json({ id: 'con_1' })];
    const { fetch, requests } = answering(() => answers.shift());
    const client = messagingOver(fetch, {
      apiKey: () => keys.shift() ?? '',
      validation: { requests: 'off', responses: 'off' },
    });
    await expect(client.contacts.get('con_1')).resolves.toMatchObject({ id: 'con_1' });
    expect(requests.map(({ headers }) => headers.get('authorization'))).toEqual([
      'Bearer sk_old',
      'Bearer sk_new',
    ]);
  });

  it('closes the gate after a 429', async () => {
    const refusal = () => headOnly(429, 'breaks', { 'retry-after': '7' });
    const { client, retries } = scripted([refusal], { rateLimit: { group: 'lost-body-429' } });
    const call = client.send(mail);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(retries).toMatchObject([{ delayMs: 7_000 }]);
    expect(client.rateLimit.state()?.resetsAt).toBeInstanceOf(Date);
    await vi.advanceTimersByTimeAsync(10_000);
    await expect(call).resolves.toBeDefined();
  });

  it('leaves the effect unknown after a 500', async () => {
    const { client } = scripted([() => headOnly(500, 'breaks')]);
    await expect(client.send(mail)).rejects.toMatchObject({ status: 500, outcome: 'unknown' });
  });

  it('does not hide an abort', async () => {
    const { client } = scripted([() => headOnly(400, 'stalls')]);
    const controller = new AbortController();
    const call = client.send(mail, { signal: controller.signal });
    const aborted = expect(call).rejects.toBe('enough');
    await vi.advanceTimersByTimeAsync(100);
    controller.abort('enough');
    await aborted;
  });

  it('is a lost answer where the service said yes', async () => {
    const { client } = scripted([() => headOnly(200, 'breaks')]);
    await expect(client.send(mail)).rejects.toMatchObject({
      code: 'CONNECTION_LOST',
      outcome: 'unknown',
    });
  });
});
