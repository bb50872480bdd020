/** A one-slot signal: it wakes the waiter, or the next one if none is waiting. */
export class Notifier {
  #isNotified = false;
  #wake: () => void = () => undefined;

  notify(): void {
    this.#isNotified = true;
    this.#wake();
  }

  /** Resolves after `notify()`, after `maxMs`, or when `other` has settled. */
  async wait(maxMs = Number.POSITIVE_INFINITY, other?: Promise<unknown>): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    if (!this.#isNotified) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (Number.isFinite(maxMs)) {
          timer = setTimeout(resolve, Math.max(1, maxMs));
        }
        void other?.then(() => resolve());
      });
    }
    clearTimeout(timer);
    this.#isNotified = false;
  }
}

/** Calls a callback of the caller: what it throws, or rejects with later, goes to `onError` only. */
export function callSafely(
  callback: () => unknown,
  onError: (error: unknown) => void = () => undefined,
): void {
  try {
    const result = callback();
    if (isThenable(result)) {
      result.then(undefined, onError); // an async function fails later
    }
  } catch (error) {
    onError(error);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value;
}
