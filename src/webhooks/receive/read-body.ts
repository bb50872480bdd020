import { ConfigurationError, WebhookVerificationError } from '../../errors/index.js';

// A callback has a few hundred bytes.
const longestBody = 64 * 1024;

/**
 * Reads a body of at most 64 KB: a stream of either kind, text or bytes become text, and what a
 * parser made of it stays as it is.
 */
export async function readBody(body: unknown): Promise<unknown> {
  if (body === null || body === undefined) {
    return '';
  }
  if (typeof body === 'string' || body instanceof Uint8Array) {
    return readChunks([body]);
  }
  if (typeof body !== 'object') {
    return body;
  }
  if ('getReader' in body) {
    return readChunks(chunksOf(body as ReadableStream));
  } // as: no other has it
  if (Symbol.asyncIterator in body) {
    return readChunks(body as AsyncIterable<unknown>);
  } // as: just seen
  return body;
}

async function readChunks(chunks: AsyncIterable<unknown> | Iterable<unknown>): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let [text, length] = ['', 0];
  for await (const chunk of chunks) {
    const bytes = chunk instanceof Uint8Array ? chunk : new TextEncoder().encode(String(chunk));
    checkLength((length += bytes.length));
    text += decode(() => decoder.decode(bytes, { stream: true }));
  }
  return text + decode(() => decoder.decode());
}

// Not every runtime can iterate a web stream.
async function* chunksOf(stream: ReadableStream<unknown>): AsyncGenerator {
  if (stream.locked) {
    throw new ConfigurationError(
      "The callback's body was read before it was verified. Verify first, or pass `{ url, body }`.",
      { code: 'BODY_USED' },
    );
  }
  const reader = stream.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      yield read.value;
    }
  } finally {
    reader.cancel().catch(() => undefined); // the rest is not wanted
  }
}

function checkLength(length: number): void {
  if (length <= longestBody) {
    return;
  }
  throw new WebhookVerificationError(
    'BODY_TOO_LARGE',
    `The callback's body is longer than ${longestBody} bytes.`,
  );
}

function decode(read: () => string): string {
  try {
    return read();
  } catch (cause) {
    const message = "The callback's body cannot be read: it is not UTF-8.";
    throw new WebhookVerificationError('BODY_INVALID', message, cause);
  }
}
