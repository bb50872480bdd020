import { vi } from 'vitest';

/** Lets everything happen that needs turns of the event loop, but no time: on a busy machine too. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** How long a call takes to settle, in milliseconds, and how it settles. */
export async function settled<T>(call: () => PromiseLike<T>) {
  const startedAt = performance.now(); // before the call: on a busy machine, beginning takes its time
  const result = await Promise.resolve(call()).then(
    (value) => ({ value, error: undefined }),
    (error: unknown) => ({ value: undefined, error }),
  );
  return { ...result, tookMs: performance.now() - startedAt };
}

/** The same on a fake clock, which it moves from timer to timer until the call has settled. */
export async function settledInTime<T>(call: () => PromiseLike<T>) {
  const run = { isOver: false };
  const result = settled(call).finally(() => {
    run.isOver = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  while (!run.isOver) {
    await vi.advanceTimersToNextTimerAsync();
  }
  return result;
}
