import { AttemptTimer, monotonicMs } from '../async/timers.js';
import { abortable } from '../async/abort.js';
import { TimeoutError } from '../errors/index.js';
import { methodAndPath, lineOf, type CallContext } from './context.js';

/** Waits for something of ours, such as a key, no longer than the call may take. */
export async function withinDeadline<T>(
  promise: Promise<T>,
  call: Pick<CallContext, 'route' | 'path' | 'deadlineAt' | 'signal'>,
): Promise<T> {
  const { deadlineAt, signal } = call;
  if (!Number.isFinite(deadlineAt)) {
    return abortable(promise, signal);
  }
  const timer = new AttemptTimer(Math.max(0, deadlineAt - monotonicMs()), signal);
  try {
    return await timer.within(promise);
  } catch (failure) {
    throw timer.timedOut ? notSentInTime(call) : failure;
  } finally {
    timer.stop();
  }
}

/** The error of a call whose deadline passed before it could leave. */
export function notSentInTime(call: Pick<CallContext, 'route' | 'path'>): TimeoutError {
  return new TimeoutError(`${lineOf(call)} was not sent: its \`deadline\` passed before.`, {
    ...methodAndPath(call),
    code: 'DEADLINE_EXCEEDED',
    outcome: 'not-sent',
  });
}
