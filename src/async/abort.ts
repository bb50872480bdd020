// One listener per signal, however many calls share it: Node warns at eleven.
const watched = new WeakMap<AbortSignal, { listeners: Set<() => void>; run: () => void }>();

/** Calls back once when the signal aborts, at once if it has; returns a way to stop listening. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (!signal) {
    return nothingToStop;
  }
  if (signal.aborted) {
    listener();
    return nothingToStop;
  }
  const { listeners, run } = watched.get(signal) ?? watch(signal);
  // A function of its own: the same listener may be there twice.
  const own = () => listener();
  listeners.add(own);
  return () => {
    if (!listeners.delete(own) || listeners.size > 0) {
      return;
    }
    signal.removeEventListener('abort', run);
    watched.delete(signal);
  };
}

/** The same promise, but an abort rejects at once with the signal's reason. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) {
    return promise;
  }
  return new Promise<T>((resolve, reject) => {
    const stopListening = onAbort(signal, () => {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the caller's reason
      reject(signal.reason);
    });
    void promise.then(resolve, reject).finally(stopListening);
  });
}

/** Is this failure the caller's abort? Its reason may be any value, an error of ours included. */
export function isAbortOf(signal: AbortSignal | undefined, failure: unknown): boolean {
  return signal !== undefined && signal.aborted && failure === signal.reason;
}

function watch(signal: AbortSignal) {
  const listeners = new Set<() => void>();
  const run = () => {
    watched.delete(signal);
    for (const listener of [...listeners]) {
      listener();
    }
  };
  const entry = { listeners, run };
  watched.set(signal, entry);
  signal.addEventListener('abort', run, { once: true });
  return entry;
}

function nothingToStop(): void {
  // Never added, or already removed.
}
