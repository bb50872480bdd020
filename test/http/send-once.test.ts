import { afterEach, describe, expect, it, vi } from 'vitest';
import { createTrackProxy } from 'postreel/tracker/proxy';
import { sendOnce } from '../../src/core/send-once.js';
import { mediaOver, messagingOver } from '../support/clients.js';

const request = { method: 'POST', headers: { a: 'b' } };
type Sent = RequestInit & { readonly duplex?: 'half' };

afterEach(() => {
  vi.unstubAllGlobals();
});

/** What `fetch` gets. */
async function sent(init: RequestInit): Promise<Sent> {
  let seen: Sent = {};
  const fetch = (_url: unknown, given?: Sent) => {
    seen = given ?? {};
    return Promise.resolve(new Response());
  };
  await sendOnce(fetch, 'https://a.test', init);
  return seen;
}

describe('where Deno repeats requests on its own', () => {
  it.each(['POST', 'PATCH', 'PUT', 'DELETE'])('a %s has a body that streams', async (method) => {
    vi.stubGlobal('Deno', {});
    const text = await sent({ ...request, method, body: 'text' });
    expect(text).toMatchObject({ headers: { a: 'b' }, duplex: 'half' });
    expect(text.body).toBeInstanceOf(ReadableStream);
    await expect(new Response(text.body ?? null).text()).resolves.toBe('text');
    const nothing = await sent({ ...request, method });
    expect(nothing.body).toBeInstanceOf(ReadableStream);
    await expect(new Response(nothing.body ?? null).text()).resolves.toBe('');
  });

  it('a form keeps its type', async () => {
    vi.stubGlobal('Deno', {});
    const form = new FormData();
    form.append('file', new Blob(['x']), 'x.txt');
    const { headers } = await sent({ ...request, body: form });
    expect(headers).toMatchObject({ a: 'b' });
    expect(new Headers(headers).get('content-type')).toMatch(/^multipart\/form-data; boundary=/);
  });
});

it.each(['POST', 'PATCH', 'PUT', 'DELETE'])(
  'where Bun repeats requests on its own, a %s has a connection for itself',
  async (method) => {
    vi.stubGlobal('Bun', {});
    await expect(sent({ ...request, method })).resolves.toMatchObject({ keepalive: false });
  },
);

// Each of these was once sent past it.
it.each<[string, (fetch: typeof globalThis.fetch) => PromiseLike<unknown>]>([
  ['a call of the messaging client', (fetch) => messagingOver(fetch).contacts.delete('con_1')],
  [
    'an upload',
    (fetch) => messagingOver(fetch).contacts.import({ data: 'email\nann@example.com\n' }),
  ],
  [
    'a call of the media client',
    (fetch) => mediaOver(fetch).generate.audio({ content: 'Hello', voiceId: 'v' }),
  ],
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
])('%s goes through it', async (_, send) => {
  vi.stubGlobal('Bun', {});
  const inits: (RequestInit | undefined)[] = [];
  await send((_url, init) => {
    inits.push(init);
    return Promise.resolve(Response.json({ success: true, data: { fileId: 'f' }, jobId: 'j' }));
  });
  expect(inits).toEqual([expect.objectContaining({ keepalive: false })]);
});

it('everything else is left alone', async () => {
  const post = { ...request, body: 'text' };
  expect(await sent(post)).toBe(post);
  const get = { ...request, method: 'GET' };
  for (const runtime of ['Bun', 'Deno']) {
    vi.stubGlobal(runtime, {});
    expect(await sent(get)).toBe(get);
  }
});
