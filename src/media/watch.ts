import { onAbort } from '../transport/on-abort.js';
import type { FileUpdate, WaitOptions } from './wait-options.js';

/**
 * The updates of a wait, one by one. Ends after the update of the last status, whatever it is; a
 * wait that ends without one, e.g. in a timeout, throws its error.
 */
export async function* watch(
  wait: (options: WaitOptions) => Promise<unknown>,
  options: WaitOptions,
): AsyncGenerator<FileUpdate, void, undefined> {
  const left = new AbortController();
  const stopListening = onAbort(options.signal, () => left.abort(options.signal?.reason));
  const updates: FileUpdate[] = [];
  const bell = createBell();
  const onUpdate = (update: FileUpdate) => {
    updates.push(update);
    bell.ring();
  };
  const end: { isOver: boolean; failure?: { reason: unknown } } = { isOver: false };
  const close = () => {
    end.isOver = true;
    bell.ring();
  };
  void wait({ ...options, signal: left.signal, onUpdate }).then(close, (reason: unknown) => {
    end.failure = { reason };
    close();
  });
  try {
    for (;;) {
      const update = updates.shift();
      if (update) {
        yield update;
        // The last status has been told; the wait's error would only say it again.
        if (update.nextPollInMs === 0) return;
      } else if (end.isOver) {
        if (end.failure) throw end.failure.reason;
        return;
      } else {
        await bell.heard();
      }
    }
  } finally {
    stopListening();
    left.abort();
  }
}

function createBell() {
  let ring: () => void = () => undefined;
  let heard: Promise<void>;
  const arm = () => {
    heard = new Promise((resolve) => (ring = resolve));
  };
  arm();
  return {
    ring: () => ring(),
    heard: () => heard.then(arm),
  };
}
