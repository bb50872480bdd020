import { onAbort } from '../../../core/async.js';

/** The same answer, but the connection breaks after half of its bytes. */
export function truncate(response: Response): Response {
  return halve(response, (controller) => controller.error(new TypeError('terminated')));
}

/** The same answer, but nothing comes after half of its bytes, and the connection stays open. */
export function stall(
  response: Response,
  hold: (until: Promise<void>) => Promise<void>,
  signal: AbortSignal,
): Response {
  const aborted = () => new Promise<void>((resolve) => onAbort(signal, resolve));
  return halve(response, () => hold(aborted()));
}

type Controller = ReadableStreamDefaultController<Uint8Array>;

function halve(
  response: Response,
  end: (controller: Controller) => void | Promise<void>,
): Response {
  const reader = response.body?.getReader();
  if (reader === undefined) {
    return response;
  }
  let left = Math.floor(Number(response.headers.get('content-length') ?? 0) / 2);
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      if (left === 0) {
        await end(controller);
        return;
      }
      const { value } = await reader.read();
      const part = value?.subarray(0, left) ?? new Uint8Array();
      left = value === undefined ? 0 : left - part.length;
      if (part.length > 0) {
        controller.enqueue(part);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  };
  // No chunk ahead: an error would throw away what was not read yet.
  const body = new ReadableStream(source, { highWaterMark: 0 });
  return new Response(body, { status: response.status, headers: response.headers });
}
