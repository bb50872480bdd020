import { vi } from 'vitest';

/** Runs work on a clock that jumps from timer to timer: hours take seconds. */
export async function onFastClock<T>(work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  try {
    const state = { isDone: false };
    const result = work().finally(() => {
      state.isDone = true;
    });
    result.catch(() => undefined); // awaited below
    while (!state.isDone) {
      await vi.advanceTimersToNextTimerAsync();
    }
    return await result;
  } finally {
    vi.useRealTimers();
  }
}
