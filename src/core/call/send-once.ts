/**
 * Passes a request to `fetch` so that it is really sent, and so that no runtime sends it a second time by
 * itself. Every request of this package uses this function.
 *
 * Next.js answers an equal request from its cache, even a POST, unless it has `cache: 'no-store'`: there
 * would be no second email, but an "ok".
 *
 * A connection that was used before may end without a response, after the service has acted. A repetition
 * would send a second email, or pay for a second video. Deno repeats requests whose body is not streamed
 * (denoland/deno#32566), and Bun repeats requests over a connection that was kept open.
 */
export function sendOnce(
  own: typeof globalThis.fetch | undefined,
  url: string,
  init: RequestInit,
): Promise<Response> {
  const fetch = own ?? globalThis.fetch;
  const fresh: RequestInit = isCacheKnown() ? { ...init, cache: 'no-store' } : init;
  return fetch(url, init.method === 'GET' ? fresh : preventRepeat(fresh));
}

let tried: { readonly Request: unknown; readonly isKnown: boolean } | undefined;

/**
 * Does the runtime know the field `cache`? Workers with an older compatibility date throw if it is present.
 */
function isCacheKnown(): boolean {
  const { Request } = globalThis;
  if (tried?.Request !== Request) {
    tried = { Request, isKnown: canCreateRequest(Request) };
  }
  return tried.isKnown;
}

function canCreateRequest(Request: typeof globalThis.Request): boolean {
  try {
    return Boolean(new Request('http://localhost', { cache: 'no-store' }));
  } catch {
    return false;
  }
}

function preventRepeat(init: RequestInit): RequestInit {
  if ('Bun' in globalThis) {
    return { ...init, keepalive: false };
  }
  return 'Deno' in globalThis ? streamBody(init) : init;
}

function streamBody(init: RequestInit): RequestInit & { readonly duplex: 'half' } {
  const { body } = new Response(init.body ?? '');
  return {
    ...init,
    // Without the pipe, Deno recognizes that the stream has a text behind it, and repeats the request.
    ...(body && { body: body.pipeThrough(new TransformStream()) }),
    duplex: 'half',
  };
}
