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
  // It never listened, or has heard already.
}
