/**
 * Hands a request to `fetch` so that it is sent, and so that no runtime sends it a second time on its own.
 * Every request of this package goes through here.
 *
 * Next.js answers an equal request from its cache, a POST too, unless it has `cache: 'no-store'`: no second
 * email, and "ok".
 *
 * A connection that was used before may end without an answer, and the service may have acted by then: a
 * second email, a second paid video. Deno then repeats what has no streamed body (denoland/deno#32566),
 * and Bun what went over a connection that was kept open.
 */
export function sendOnce(
  own: typeof globalThis.fetch | undefined,
  url: string,
  init: RequestInit,
): Promise<Response> {
  const fetch = own ?? globalThis.fetch;
  const fresh: RequestInit = isCacheKnown() ? { ...init, cache: 'no-store' } : init;
  return fetch(url, init.method === 'GET' ? fresh : unrepeatable(fresh));
}

let tried: { readonly Request: unknown; readonly isKnown: boolean } | undefined;

/** Does the runtime know the field `cache`? Workers of an older compatibility date throw where they see it. */
function isCacheKnown(): boolean {
  const { Request } = globalThis;
  if (tried?.Request !== Request) {
    tried = { Request, isKnown: canMake(Request) };
  }
  return tried.isKnown;
}

function canMake(Request: typeof globalThis.Request): boolean {
  try {
    return Boolean(new Request('http://localhost', { cache: 'no-store' }));
  } catch {
    return false;
  }
}

function unrepeatable(init: RequestInit): RequestInit {
  if ('Bun' in globalThis) {
    return { ...init, keepalive: false };
  }
  return 'Deno' in globalThis ? streamed(init) : init;
}

function streamed(init: RequestInit): RequestInit & { readonly duplex: 'half' } {
  const { body } = new Response(init.body ?? '');
  return {
    ...init,
    // Passed on, or Deno sees the text behind the stream.
    ...(body && { body: body.pipeThrough(new TransformStream()) }),
    duplex: 'half',
  };
}
