/**
 * Hands a request to `fetch` so that no runtime sends it a second time on its own. Every request of this
 * package that changes something goes through here.
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
  return fetch(url, init.method === 'GET' ? init : unrepeatable(init));
}

function unrepeatable(init: RequestInit): RequestInit {
  if ('Bun' in globalThis) {
    return { ...init, keepalive: false };
  }
  return 'Deno' in globalThis ? streamed(init) : init;
}

function streamed(init: RequestInit): RequestInit & { readonly duplex: 'half' } {
  const { body, headers } = new Response(init.body ?? '');
  // A form's content type names its boundary.
  const type = init.body instanceof FormData ? headers.get('content-type') : null;
  return {
    ...init,
    headers: { ...(init.headers as object), ...(type !== null && { 'content-type': type }) }, // ours are plain
    // Passed on, or Deno sees the text behind the stream.
    ...(body && { body: body.pipeThrough(new TransformStream()) }),
    duplex: 'half',
  };
}
