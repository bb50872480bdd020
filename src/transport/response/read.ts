import { isRecord } from '../../contract/records.js';

/**
 * Reads a body as text, up to a number of bytes; what comes after is not read. Whatever the bytes
 * are, the result is valid text. An abort lets go of the body even where `fetch` does not.
 */
export async function readText(
  response: Response,
  maxBytes: number,
  signal: AbortSignal | undefined,
): Promise<string> {
  const chunks = isKnownSmall(response, maxBytes) ? undefined : chunksOf(response.body);
  if (!chunks) {
    return response.text();
  }
  signal?.addEventListener('abort', chunks.stop, { once: true });
  const decoder = new TextDecoder();
  let text = '';
  let left = maxBytes;
  try {
    for (;;) {
      const { done, value } = await chunks.next();
      if (done) {
        return text + decoder.decode();
      }
      const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
      text += decoder.decode(bytes.subarray(0, left), { stream: true });
      left -= bytes.length;
      if (left <= 0) {
        return text;
      }
    }
  } finally {
    chunks.stop();
  }
}

/** Lets go of an answer that is not wanted. */
export function letGo({ body }: Response): void {
  chunksOf(body)?.stop();
}

/** A body that is read piece by piece. */
interface Chunks {
  next(): Promise<IteratorResult<Uint8Array | string, unknown>>;
  /** Lets go of what has not been read. */
  readonly stop: () => void;
}

/** What a body offers. That of node-fetch is a stream of Node, not one of the web. */
type AnyBody = Partial<ReadableStream<Uint8Array>> &
  Partial<AsyncIterable<Uint8Array | string>> & { readonly destroy?: () => void };

function chunksOf(given: Response['body']): Chunks | undefined {
  const body = given as AnyBody | null | undefined; // of any `fetch`
  const reader = body?.getReader?.();
  if (reader) {
    const stop = () => void reader.cancel().catch(() => undefined); // it may be broken already
    return { next: () => reader.read(), stop };
  }
  const iterator = body?.[Symbol.asyncIterator]?.();
  return iterator && { next: () => iterator.next(), stop: () => body?.destroy?.() };
}

// A compressed body may become a thousand times as long as its `Content-Length`.
const smallBytes = 256 * 1024;

function isKnownSmall({ headers }: Response, maxBytes: number): boolean {
  const length = headers.get('content-length');
  const isSmall = length !== null && Number(length) <= Math.min(smallBytes, maxBytes);
  return isSmall && headers.get('content-encoding') === null;
}

/**
 * Takes the result out of `{ success: true, data }`, on any endpoint: the campaign answer shows
 * that the service does not keep to its own list. A contact has a `data` field of its own, so
 * both keys must be there.
 */
export function unwrap(body: unknown): unknown {
  return isEnvelope(body) ? body.data : body;
}

/** Is this the envelope of an error, whatever the HTTP status? */
export function isErrorEnvelope(body: unknown): boolean {
  return isRecord(body) && body['success'] === false;
}

function isEnvelope(body: unknown): body is { success: true; data: unknown } {
  return isRecord(body) && body['success'] === true && Object.hasOwn(body, 'data');
}
