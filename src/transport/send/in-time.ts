import { TimeoutError } from '../../errors/index.js';
import type { Journey } from './attempt.js';
import { monotonicMs } from '../../async/clock.js';
import { abortable } from '../../async/abort.js';
import { startTimer } from '../../async/timers.js';

/** Waits for something that is ours to prepare, no longer than the call may take. */
export async function inTime<T>(promise: Promise<T>, journey: Journey): Promise<T> {
  const { deadlineAt, signal } = journey;
  if (!Number.isFinite(deadlineAt)) {
    return abortable(promise, signal);
  }
  const timer = startTimer(Math.max(0, deadlineAt - monotonicMs()), signal);
  try {
    return await Promise.race([promise, timer.aborted]);
  } catch (failure) {
    throw timer.timedOut ? notInTime(journey) : failure;
  } finally {
    timer.stop();
  }
}

/** The error of a call whose deadline passed before it could leave. */
export function notInTime({ route, path }: Journey): TimeoutError {
  return new TimeoutError(`${route.method} ${path} was not sent: its \`deadline\` passed before.`, {
    code: 'DEADLINE_EXCEEDED',
    outcome: 'not-sent',
    method: route.method,
    path,
  });
}
