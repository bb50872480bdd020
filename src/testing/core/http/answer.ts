import type { FakeAnswer } from '../types.js';

const encoder = new TextEncoder();

/** Turns what a handler answers into a response: text as it is, everything else as JSON. */
export function toResponse({ status = 200, body, headers = {} }: FakeAnswer): Response {
  if (body === undefined) {
    return new Response(null, { status, headers });
  }
  const isText = typeof body === 'string';
  const bytes = encoder.encode(isText ? body : JSON.stringify(body));
  return new Response(bytes, {
    status,
    headers: {
      'Content-Type': isText ? 'text/plain; charset=utf-8' : 'application/json',
      'Content-Length': String(bytes.length),
      ...headers,
    },
  });
}
