import type { OutgoingRequest } from './http.js';

/** A request whose body may be a stream. */
export interface StreamedRequest extends Omit<OutgoingRequest, 'body'> {
  readonly body?: string | FormData | ReadableStream<Uint8Array>;
  readonly duplex?: 'half';
}

/**
 * Keeps Deno from sending a POST a second time on its own. It does so when a connection that was
 * used before ends without an answer (denoland/deno#32566), and the service may have acted by then:
 * a second mail, a second paid video. It cannot repeat a body that streams.
 */
export function sentOnce(request: OutgoingRequest): StreamedRequest {
  if (request.method !== 'POST' || !('Deno' in globalThis)) {
    return request;
  }
  const { body, headers } = new Response(request.body ?? '');
  // A form's content type names its boundary.
  const type = request.body instanceof FormData ? headers.get('content-type') : null;
  return {
    ...request,
    headers: { ...request.headers, ...(type !== null && { 'content-type': type }) },
    // Passed on, or Deno sees the text behind the stream.
    ...(body && { body: body.pipeThrough(new TransformStream()), duplex: 'half' }),
  };
}
