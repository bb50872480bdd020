import { once } from 'node:events';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { MessagingClient, type MessagingOptions } from 'postreel';
import { afterEach, describe, expect, it } from 'vitest';
import { serve } from '../support/fake-server.js';

const tries = 50;
const maxTurns = 5;
const open: Server[] = [];

afterEach(() => open.splice(0).forEach((server) => server.close()));

/** Aborts many calls in the same phase; how many turns of the event loop the slowest took to hear it. */
async function slowestOf(
  inPhase: (client: MessagingClient, signal: AbortSignal) => PromiseLike<unknown>,
  client: MessagingClient,
  isReached: (index: number) => unknown,
): Promise<number> {
  let slowest = 0;
  for (let index = 0; index < tries; index++) {
    const controller = new AbortController();
    const reason = { index };
    const run = { isOver: false };
    const call = Promise.resolve(inPhase(client, controller.signal)).then(
      () => 'resolved',
      (error: unknown) => {
        run.isOver = true;
        return error;
      },
    );
    await expect.poll(() => isReached(index), { interval: 2 }).toBeTruthy();
    controller.abort(reason);
    let turns = 0;
    for (; !run.isOver && turns < 1_000; turns++) {
      await new Promise(setImmediate);
    }
    slowest = Math.max(slowest, turns);
    expect(await call).toBe(reason);
  }
  return slowest;
}

describe('an abort ends a call within a few turns of the event loop', () => {
  it('while it connects', async () => {
    let connections = 0;
    const silent = createTcpServer((socket) => {
      connections++;
      socket.on('error', () => undefined); // the client hangs up
    });
    open.push(silent.listen(0, '127.0.0.1'));
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo; // it listens on a port
    const client = new MessagingClient({
      apiKey: 'sk_test_key',
      baseUrl: `https://127.0.0.1:${port}`, // its handshake is never answered
      rateLimit: false,
    });
    const get = (one: MessagingClient, signal: AbortSignal) =>
      one.contacts.get('con_1', { signal });
    expect(await slowestOf(get, client, (index) => connections > index)).toBeLessThanOrEqual(
      maxTurns,
    );
  });

  it('while it waits for the headers of the response', async () => {
    const { messaging, fake } = await serve();
    fake.fail('GET /contacts/{id}', { hang: true, times: tries });
    const client = messaging({ rateLimit: false });
    const get = (one: MessagingClient, signal: AbortSignal) =>
      one.contacts.get('con_1', { signal });
    const arrived = (index: number) => fake.requests.length > index;
    expect(await slowestOf(get, client, arrived)).toBeLessThanOrEqual(maxTurns);
    // The connection to the service is closed, too.
    await expect.poll(() => fake.requests.every(({ status }) => status === undefined)).toBe(true);
  });

  it('while it reads the body', async () => {
    const { messaging, fake } = await serve();
    fake.fail('GET /contacts', { stall: true, times: tries });
    let heads = 0;
    const counting: MessagingOptions['fetch'] = async (input, init) => {
      const response = await fetch(input, init);
      heads++;
      return response;
    };
    const client = messaging({ rateLimit: false, fetch: counting });
    const list = (one: MessagingClient, signal: AbortSignal) => one.contacts.list({}, { signal });
    expect(await slowestOf(list, client, (index) => heads > index)).toBeLessThanOrEqual(maxTurns);
  });
});

it('an abort also closes the connection to the service', async () => {
  let isGone = false;
  const service = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('close', () => {
      isGone = true;
    });
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"data": [');
  });
  open.push(service.listen(0, '127.0.0.1'));
  await once(service, 'listening');
  const { port } = service.address() as AddressInfo; // it listens on a port
  const client = new MessagingClient({ apiKey: 'sk_1', baseUrl: `http://127.0.0.1:${port}` });
  const controller = new AbortController();
  const call = client.contacts.get('con_1', { signal: controller.signal });
  const end = expect(call).rejects.toBe('enough');
  await once(service, 'connection');
  controller.abort('enough');
  await end;
  await expect.poll(() => isGone).toBe(true);
});
