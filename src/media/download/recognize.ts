import { abortable } from '../../core/async.js';

// `text/html`, `application/json`, `application/problem+json`, `image/svg+xml` and the like.
const textTypes = /^\s*(text\/|application\/(json|xml|javascript)\b|[^;]*\+(json|xml)\b)/i;
const maxCheckedBytes = 64;
const textStart = /^\uFEFF?\s*[<{[]/;

/** Says why a response is not a media file, judging by its headers; `undefined` when it may be one. */
export function problemInHeaders({ headers }: Response): string | undefined {
  const type = headers.get('content-type') ?? '';
  if (textTypes.test(type)) {
    return `it is ${type.split(';', 1)[0]?.trim().slice(0, 60)}`;
  }
  return headers.get('content-length') === '0' ? 'it is empty' : undefined;
}

/** Reads the first bytes. Resolves to an equal response, or to the reason why it is not a media file. */
export async function recognizeMedia(
  response: Response,
  signal: AbortSignal | undefined,
): Promise<{ readonly response: Response } | { readonly problem: string }> {
  // The body of a node-fetch response is not a web stream: it is returned unchecked.
  const reader = (response.body as Partial<ReadableStream<Uint8Array>> | null)?.getReader?.();
  if (response.body && !reader) {
    return { response };
  }
  const first = await firstChunk(reader, signal);
  if (first === undefined) {
    return { problem: 'it is empty' };
  }
  if (isText(first)) {
    reader?.cancel().catch(() => undefined);
    return { problem: 'it is text' };
  }
  let isFirst = true;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = isFirst ? first : (await reader?.read())?.value;
      isFirst = false;
      if (chunk) {
        controller.enqueue(chunk);
      } else {
        controller.close();
      }
    },
    cancel: (reason) => reader?.cancel(reason),
  });
  const { status, statusText, headers, url } = response;
  const whole = new Response(body, { status, statusText, headers });
  Object.defineProperty(whole, 'url', { value: url });
  return { response: whole };
}

async function firstChunk(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  for (;;) {
    const { value } = (await (reader && abortable(reader.read(), signal))) ?? {};
    if (value === undefined || value.length > 0) {
      return value;
    }
  }
}

// Is this an HTML, XML or JSON text? The first bytes of a media file contain control characters.
function isText(bytes: Uint8Array): boolean {
  const start = bytes.subarray(0, maxCheckedBytes);
  const isPrintable = start.every((byte) => byte > 0x1f || byte === 0x09 || isLineBreak(byte));
  return isPrintable && textStart.test(new TextDecoder().decode(start));
}

function isLineBreak(byte: number): boolean {
  return byte === 0x0a || byte === 0x0d;
}
