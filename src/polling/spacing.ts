import pThrottle from 'p-throttle';

/** Runs looks at a service evenly spaced, never in bursts. */
export type Spacing = <T>(look: () => Promise<T>, signal: AbortSignal | undefined) => Promise<T>;

// Ten looks a second are plenty for jobs that take seconds to minutes.
const looks = 1;
const everyMs = 100;

/** One spacing for all the looks of a client. */
export function createSpacing(): Spacing {
  const inTurn = pThrottle({ limit: looks, interval: everyMs })(() => Promise.resolve());
  return async (look, signal) => {
    await untilAborted(inTurn(), signal);
    return look();
  };
}

// p-throttle knows one signal for everybody; a look has its own.
function untilAborted(turn: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return turn;
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the caller's reason
      reject(signal.reason);
    };
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    void turn.then(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
  });
}
