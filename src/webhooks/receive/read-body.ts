import { systemClock, Timer } from '../../core/async.js';
import { ConfigurationError, WebhookVerificationError } from '../../core/errors.js';

// The maximum size of a body. A callback has a few hundred bytes, sent at once.
const maxBytes = 64 * 1024;
const maxMs = 4_000;

/** The chunks of a body, one after the other. */
interface Source {
  next(): Promise<{ readonly done?: boolean | undefined; readonly value?: unknown }>;
  /** Stops reading; the rest is discarded. */
  stop(): unknown;
}

/**
 * Reads a body of at most 64 KB within 4 s. Streams, strings and bytes become a string; a value that a parser
 * has already made of the body is returned unchanged.
 */
export function readBody(body: unknown): unknown {
  if (body === null || body === undefined) {
    return '';
  }
  if (typeof body === 'string' || bytesOf(body)) {
    return new BodyText().add(body).end();
  }
  const source = typeof body === 'object' ? sourceOf(body) : undefined;
  return source ? readSource(source) : body;
}

// Detects a stream by its methods: parsed JSON may have fields of these names, but never functions.
function sourceOf(body: object): Source | undefined {
  if ('getReader' in body && typeof body.getReader === 'function') {
    return webSource(body as ReadableStream); // as: only web streams have this method
  }
  if ('iterator' in body && typeof body.iterator === 'function') {
    // A Node stream: ending the loop early must not close the connection before the response.
    const open = body.iterator as (options: object) => AsyncIterator<unknown>; // as: Readable's method
    return iteratorSource(open.call(body, { destroyOnReturn: false }));
  }
  if (Symbol.asyncIterator in body && typeof body[Symbol.asyncIterator] === 'function') {
    return iteratorSource((body as AsyncIterable<unknown>)[Symbol.asyncIterator]()); // as: checked above
  }
  return undefined;
}

// Not every runtime can iterate a web stream.
function webSource(stream: ReadableStream<unknown>): Source {
  if (stream.locked) {
    throw new ConfigurationError(
      "The callback's body was read before it was verified. Verify first, or pass `{ url, body }`.",
      { code: 'BODY_USED' },
    );
  }
  const reader = stream.getReader();
  return { next: () => reader.read(), stop: () => reader.cancel() };
}

function iteratorSource(iterator: AsyncIterator<unknown>): Source {
  return { next: () => iterator.next(), stop: () => iterator.return?.() };
}

async function readSource(source: Source): Promise<string> {
  const timer = new Timer(maxMs, undefined, systemClock);
  const text = new BodyText();
  try {
    for (;;) {
      const { done, value } = await timer.within(source.next());
      if (done) {
        return text.end();
      }
      text.add(value);
    }
  } catch (error) {
    throw timer.timedOut ? invalidBody(`it did not arrive within ${maxMs} ms`) : error;
  } finally {
    timer.stop();
    Promise.resolve(source.stop()).catch(() => undefined); // it may have ended in an error
  }
}

/** The text of a body, put together from chunks of UTF-8. */
class BodyText {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #text = '';
  #length = 0;

  add(chunk: unknown): this {
    const bytes = bytesOf(chunk) ?? new TextEncoder().encode(String(chunk));
    this.#length += bytes.length;
    if (this.#length > maxBytes) {
      throw new WebhookVerificationError(
        'BODY_TOO_LARGE',
        `The callback's body is longer than ${maxBytes} bytes.`,
      );
    }
    this.#text += this.#decode(bytes);
    return this;
  }

  end(): string {
    return this.#text + this.#decode();
  }

  #decode(bytes?: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes, { stream: bytes !== undefined });
    } catch (cause) {
      throw invalidBody('it is not UTF-8', cause);
    }
  }
}

// Checks by brand, not by `instanceof`: in test runners bytes often come from another realm.
function bytesOf(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  const isBuffer = Object.prototype.toString.call(value) === '[object ArrayBuffer]';
  return isBuffer ? new Uint8Array(value as ArrayBuffer) : undefined; // as: checked above
}

/** The error for a body that does not have the documented form. */
export function invalidBody(reason: string, cause?: unknown): WebhookVerificationError {
  const message = `The callback's body cannot be read: ${reason}.`;
  return new WebhookVerificationError('BODY_INVALID', message, cause);
}
