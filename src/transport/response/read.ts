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
  if (isKnownSmall(response, maxBytes)) {
    return response.text();
  }
  const reader = response.body?.getReader();
  if (!reader) {
    return response.text();
  }
  const letGo = () => void reader.cancel().catch(() => undefined); // it may be broken already
  signal?.addEventListener('abort', letGo, { once: true });
  const decoder = new TextDecoder();
  let text = '';
  let left = maxBytes;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return text + decoder.decode();
      }
      text += decoder.decode(value.subarray(0, left), { stream: true });
      left -= value.length;
      if (left <= 0) {
        return text;
      }
    }
  } finally {
    letGo();
  }
}

// A compressed body may become a thousand times as long as its length says.
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

/** Does the service say no, whatever the HTTP status says? */
export function saysNo(body: unknown): boolean {
  return isRecord(body) && body['success'] === false;
}

function isEnvelope(body: unknown): body is { success: true; data: unknown } {
  return isRecord(body) && body['success'] === true && Object.hasOwn(body, 'data');
}
