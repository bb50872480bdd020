import { getEventListeners, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConnectionError, PostreelError, type SendRequest } from 'postreel';
import { describe, expect, it } from 'vitest';
import { messagingOver } from '../../support/clients.js';
import { serve } from '../../support/fake-server.js';

const mail: SendRequest = {
  from: 'shop@example.com',
  to: 'ann@example.com',
  subject: 'Hi',
  body: '<p>Hi</p>',
};

describe('a call that is aborted on its way', () => {
  it('reports an unknown outcome, on the call and in its event', async () => {
    const { messaging, fake } = await serve();
    fake.fail('POST /v1/send', { hang: true });
    const client = messaging();
    const outcomes: unknown[] = [];
    client.on('response', ({ outcome }) => outcomes.push(outcome));
    const controller = new AbortController();
    const call = client.send(mail, { signal: controller.signal });
    call.catch(() => undefined);
    await expect.poll(() => fake.requests.length).toBe(1);
    controller.abort('enough');
    await expect(call).rejects.toBe('enough');
    expect(call.outcome).toBe('unknown');
    expect(outcomes).toEqual(['unknown']);
  });

  it('keeps its place in the rate budget', async () => {
    const { messaging, fake } = await serve();
    fake.fail('POST /v1/send', { hang: true });
    const client = messaging({ rateLimit: { limit: 5, windowMs: 3_600_000 } });
    const controller = new AbortController();
    const call = client.send(mail, { signal: controller.signal });
    call.catch(() => undefined);
    await expect.poll(() => fake.requests.length).toBe(1);
    controller.abort();
    await expect(call).rejects.toThrow();
    expect(client.rateLimit.state()).toMatchObject({ used: 1 });
  });

  it('stays unknown when it is aborted before a repeat that never left', async () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    const faults = [new TypeError('terminated'), new TypeError('failed', { cause: refused })];
    const controller = new AbortController();
    const client = messagingOver(() => Promise.reject(faults.shift() ?? new Error('too many')), {
      retries: 5,
    });
    let retries = 0;
    client.on('retry', () => {
      if (++retries === 2) {
        controller.abort('enough');
      }
    });
    const { signal } = controller;
    const call = client.contacts.update('con_1', { data: { plan: 'pro' } }, { signal });
    await expect(call).rejects.toBe('enough');
    expect(call.outcome).toBe('unknown');
  });

  it('is done with on the side of the service too', async () => {
    let isGone = false;
    const service = createServer((_, response) => {
      response.once('close', () => {
        isGone = true;
      });
      response.write('{"data": [');
    }).listen(0, '127.0.0.1');
    await once(service, 'listening');
    const { port } = service.address() as AddressInfo; // it listens on a port
    const { messaging } = await serve();
    const controller = new AbortController();
    const client = messaging({ baseUrl: `http://127.0.0.1:${port}` });
    const call = client.contacts.get('con_1', { signal: controller.signal });
    const end = expect(call).rejects.toBe('enough');
    await once(service, 'request');
    controller.abort('enough');
    await end;
    await expect.poll(() => isGone).toBe(true);
    service.close();
  });
});

describe('the reason of an abort', () => {
  const reasons: [string, unknown][] = [
    ['an error', new Error('left')],
    ['a text', 'left'],
    ['an object', { left: true }],
    ['null', null],
    ['0', 0],
    [
      'an error of ours',
      new ConnectionError('other', { code: 'NOT_CONNECTED', outcome: 'not-sent' }),
    ],
  ];

  it.each(reasons)('comes out as it is: %s', async (_, reason) => {
    const controller = new AbortController();
    const client = messagingOver(
      (_input, init) =>
        new Promise((_resolve, reject) => {
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- like fetch
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
          controller.abort(reason);
        }),
    );
    const call = client.send(mail, { signal: controller.signal });
    const thrown: unknown = await call.then(
      () => 'resolved',
      (error: unknown) => error,
    );
    expect(thrown).toBe(reason);
    expect(call.outcome).toBe('unknown');
    if (reason instanceof PostreelError) {
      expect(reason.outcome).toBe('not-sent');
    }
  });

  it('is the cause of the error that safe() resolves to', async () => {
    const client = messagingOver(() => new Promise(() => undefined));
    const reason = { left: true };
    const { error } = await client.send(mail, { signal: AbortSignal.abort(reason) }).safe();
    expect(error).toBeInstanceOf(PostreelError);
    expect(error).toMatchObject({ code: 'ABORTED', outcome: 'not-sent', cause: reason });
  });

  it('is a TimeoutError of the platform when the caller takes AbortSignal.timeout()', async () => {
    const client = messagingOver(() => new Promise(() => undefined));
    const call = client.send(mail, { signal: AbortSignal.timeout(20) });
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError', constructor: DOMException });
  });
});

describe('a signal that many calls share', () => {
  it('has no listener left when they are over, however they ended', async () => {
    const { messaging, fake } = await serve();
    fake.fail('GET /contacts/{id}', { status: 404, times: 10 });
    fake.fail('GET /contacts', { status: 503, retryAfter: 0, times: 5 });
    const { signal } = new AbortController();
    const client = messaging({ timeout: 5_000 });
    const calls = Array.from({ length: 10 }, (_, index) => [
      client.contacts.get(`con_${index}`, { signal }).safe(),
      client.contacts.list(undefined, { signal }),
      client.contacts.create({ email: `ann${index}@example.com` }, { signal }),
    ]);
    await Promise.allSettled(calls.flat());
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('does nothing to calls that are over', async () => {
    const { messaging } = await serve();
    const controller = new AbortController();
    const call = messaging().contacts.list(undefined, { signal: controller.signal });
    const page = await call;
    controller.abort();
    await expect(call).resolves.toBe(page);
  });
});

describe('a fetch that does not hear an abort', () => {
  it('has the body of its late answer cancelled', async () => {
    let answer: (response: Response) => void = () => undefined;
    const client = messagingOver(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    const controller = new AbortController();
    const call = client.send(mail, { signal: controller.signal });
    const end = expect(call).rejects.toBe('enough');
    await new Promise((resolve) => client.once('request', resolve));
    controller.abort('enough');
    await end;
    const { body, isCancelled } = endlessBody();
    answer(new Response(body));
    await expect.poll(isCancelled).toBe(true);
  });

  it('has the body that is being read cancelled', async () => {
    const { body, isCancelled } = endlessBody();
    const client = messagingOver(() => Promise.resolve(new Response(body)), { timeout: 50 });
    await expect(client.send(mail)).rejects.toMatchObject({ name: 'TimeoutError' });
    await expect.poll(isCancelled).toBe(true);
  });
});

function endlessBody() {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{')),
    cancel() {
      cancelled = true;
    },
  });
  return { body, isCancelled: () => cancelled };
}
