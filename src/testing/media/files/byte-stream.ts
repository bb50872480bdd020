import type { Bytes } from './bytes.js';

const chunkBytes = 65_536;

/** Sends a span of bytes in chunks, made when they are read; ends with the caller's abort. */
export function streamBytes(
  { from, to }: { readonly from: number; readonly to: number },
  signal: AbortSignal,
  read: (from: number, to: number) => Bytes,
): ReadableStream<Bytes> {
  let sent = from;
  return new ReadableStream({
    start(controller) {
      signal.addEventListener('abort', () => controller.error(signal.reason), { once: true });
    },
    pull(controller) {
      const next = Math.min(to, sent + chunkBytes);
      if (next > sent) {
        controller.enqueue(read(sent, next));
      }
      sent = next;
      if (sent === to) {
        controller.close();
      }
    },
  });
}
