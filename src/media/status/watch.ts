import { callSafely, Notifier, onAbort } from '../../core/async.js';
import { GenerationCanceledError, GenerationFailedError } from '../../core/errors.js';
import { readWaitOptions, type FileUpdate, type WaitOptions } from './wait-options.js';

/**
 * Yields the updates of a wait one by one. Ends after the update with the final status, also when that is a
 * failure. When the wait ends without a final status, e.g. in a timeout, its error is thrown.
 */
export async function* watch(
  wait: (options: WaitOptions) => Promise<unknown>,
  given: WaitOptions | undefined,
): AsyncGenerator<FileUpdate, void, undefined> {
  const options = readWaitOptions(given);
  const stopped = new AbortController();
  const stopListening = onAbort(options.signal, () => stopped.abort(options.signal?.reason));
  const updates: FileUpdate[] = [];
  const changes = new Notifier();
  const onUpdate = (update: FileUpdate) => {
    updates.push(update);
    changes.notify();
    callSafely(() => options.onUpdate?.(update));
  };
  const end: { isOver: boolean; failure?: { reason: unknown } } = { isOver: false };
  const close = () => {
    end.isOver = true;
    changes.notify();
  };
  void wait({ ...options, signal: stopped.signal, onUpdate }).then(close, (reason: unknown) => {
    end.failure = { reason };
    close();
  });
  try {
    for (;;) {
      const update = updates.shift();
      if (update) {
        yield update;
      } else if (!end.isOver) {
        await changes.wait();
      } else if (end.failure && !isReported(end.failure.reason)) {
        throw end.failure.reason;
      } else {
        return;
      }
    }
  } finally {
    stopListening();
    stopped.abort();
  }
}

// Was the failure already yielded? The last update contains it, and the error would only repeat it.
function isReported(reason: unknown): boolean {
  return reason instanceof GenerationFailedError || reason instanceof GenerationCanceledError;
}
