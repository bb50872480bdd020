import { vi } from 'vitest';
import { answersArrive } from '../msw.js';

/** How a promise ended. */
export type End<T> = { readonly value: T } | { readonly error: unknown };

const maxMs = 24 * 3_600_000;
// Bytes are read by other threads, on no clock of a test.
const idleNs = 2_000_000_000n;

/** Moves time from timer to timer until a promise has settled; a day without an end is a hang. */
export async function ended<T>(promise: PromiseLike<T>): Promise<End<T>> {
  let end: End<T> | undefined;
  Promise.resolve(promise).then(
    (value) => {
      end = { value };
    },
    (error: unknown) => {
      end = { error };
    },
  );
  const startedAt = performance.now();
  let idleSince = process.hrtime.bigint(); // a clock that no test turns
  while (end === undefined && performance.now() - startedAt < maxMs) {
    await answersArrive();
    if (vi.getTimerCount() > 0) {
      idleSince = process.hrtime.bigint();
      await vi.advanceTimersToNextTimerAsync();
    } else if (process.hrtime.bigint() - idleSince > idleNs) {
      break;
    }
  }
  if (end === undefined) {
    throw new Error('it never ends');
  }
  return end;
}

/** What an abort may give for its reason; the last one is an abort without any. */
export const reasons: readonly (readonly [name: string, abort: (of: AbortController) => void])[] = [
  ['an error', (controller) => controller.abort(new Error('enough'))],
  ['a text', (controller) => controller.abort('enough')],
  ['null', (controller) => controller.abort(null)],
  ['no reason', (controller) => controller.abort()],
];
