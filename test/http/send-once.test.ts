import { afterEach, describe, expect, it, vi } from 'vitest';
import { createTrackProxy } from 'postreel/tracker/proxy';
import { sendOnce } from '../../src/core/call/send-once.js';
import { mediaOver, messagingOver } from '../support/clients.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const request = { method: 'POST', headers: { a: 'b' } };
type Sent = RequestInit & { readonly duplex?: 'half' };

afterEach(() => {
  vi.unstubAllGlobals();
});

/** The request that `sendOnce` passes to `fetch`. */
async function initSentFor(init: RequestInit): Promise<Sent> {
  let passedInit: Sent = {};
  const fetch = (_url: unknown, given?: Sent) => {
    passedInit = given ?? {};
    return Promise.resolve(new Response());
  };
  await sendOnce(fetch, 'https://a.test', init);
  return passedInit;
}

describe('Deno, which repeats requests by itself', () => {
  it.each(['POST', 'PATCH', 'PUT', 'DELETE'])(
    'gets the body of a %s as a stream',
    async (method) => {
      vi.stubGlobal('Deno', {});
      const text = await initSentFor({ ...request, method, body: 'text' });
      expect(text).toMatchObject({ headers: { a: 'b' }, duplex: 'half' });
      expect(text.body).toBeInstanceOf(ReadableStream);
      await expect(new Response(text.body ?? null).text()).resolves.toBe('text');
      const nothing = await initSentFor({ ...request, method });
      expect(nothing.body).toBeInstanceOf(ReadableStream);
      await expect(new Response(nothing.body ?? null).text()).resolves.toBe('');
    },
  );
});

it.each(['POST', 'PATCH', 'PUT', 'DELETE'])(
  'on Bun, which repeats requests by itself, a %s gets a separate connection',
  async (method) => {
    vi.stubGlobal('Bun', {});
    await expect(initSentFor({ ...request, method })).resolves.toMatchObject({ keepalive: false });
  },
);

const calls: readonly [string, (fetch: typeof globalThis.fetch) => PromiseLike<unknown>][] = [
  ['a mail', (fetch) => messagingOver(fetch).send(mail)],
  ['a tracked event', (fetch) => messagingOver(fetch).track({ event: 'seen', email: mail.to })],
  ['an update', (fetch) => messagingOver(fetch).contacts.update('con_1', { data: { plan: 'a' } })],
  ['a delete', (fetch) => messagingOver(fetch).contacts.delete('con_1')],
  [
    'an upload',
    (fetch) => messagingOver(fetch).contacts.import({ data: 'email\nann@example.com\n' }),
  ],
  ['a call without a method', (fetch) => messagingOver(fetch).request('POST', '/new', {})],
  ['a paid call', (fetch) => mediaOver(fetch).generate.audio({ content: 'Hello', voiceId: 'v' })],
  [
    "an event through the tracker's proxy",
    (fetch) =>
      createTrackProxy({ apiKey: 'pk_test', baseUrl: 'https://a.test', fetch })(
        new Request('https://shop.test/collect/v1/track', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ id: '1', event: 'seen', email: 'ann@example.com' }),
        }),
      ),
  ],
];

/** The `init` of every request that the call passes to `fetch`. */
async function initsOf(send: (fetch: typeof globalThis.fetch) => PromiseLike<unknown>) {
  const inits: (RequestInit | undefined)[] = [];
  await send((_url, init) => {
    inits.push(init);
    return Promise.resolve(Response.json({ success: true, data: { fileId: 'f' }, jobId: 'j' }));
  });
  return inits;
}

// Each of these calls once bypassed `sendOnce`.
it.each(calls)(
  'on Bun, which repeats requests by itself, %s gets a separate connection',
  async (_, send) => {
    vi.stubGlobal('Bun', {});
    expect(await initsOf(send)).toEqual([expect.objectContaining({ keepalive: false })]);
  },
);

// Next.js would answer an equal POST from its cache with "ok", without sending it.
it.each([
  ...calls,
  ['a read', (fetch: typeof globalThis.fetch) => messagingOver(fetch).contacts.get('con_1')],
] as typeof calls)('%s is never answered from a cache', async (_, send) => {
  expect(await initsOf(send)).toEqual([expect.objectContaining({ cache: 'no-store' })]);
});

it('a worker that does not know the `cache` option does not get it', async () => {
  const Known = Request;
  vi.stubGlobal(
    'Request',
    class extends Known {
      constructor(input: string | URL | Request, init?: RequestInit) {
        super(input, init);
        if (init?.cache !== undefined) {
          throw new Error("The 'cache' field on 'RequestInitializerDict' is not implemented.");
        }
      }
    },
  );
  const [init] = await initsOf((fetch) => messagingOver(fetch).send(mail));
  expect(init).not.toHaveProperty('cache');
});

it('every other request is passed to `fetch` unchanged', async () => {
  const post = { ...request, body: 'text' };
  expect(await initSentFor(post)).toEqual({ ...post, cache: 'no-store' });
  const get = { ...request, method: 'GET' };
  for (const runtime of ['Bun', 'Deno']) {
    vi.stubGlobal(runtime, {});
    expect(await initSentFor(get)).toEqual({ ...get, cache: 'no-store' });
  }
});
