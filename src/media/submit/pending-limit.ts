import { isPostreelError } from '../../core/errors.js';

const wordsForFull = [
  /too many (pending|queued|active|concurrent|running)/i,
  /(pending|queued|concurrent)[ _-]?(jobs?|files?|videos?)?[ _-]?(limit|cap)/i,
  /queue is full/i,
  // "At most 20 jobs may be queued or processing at one time" (Limits)
  /\b(jobs|files|videos) (may|can) be (pending|queued|processing)/i,
];

/**
 * Did the service refuse a call because all pending slots are taken? The document names no status for this
 * error, so its code and message decide. They decide only how long to wait: after a 408 or a 5xx the
 * outcome is unknown, whatever the message says.
 */
export function isPendingLimitError(failure: unknown): boolean {
  if (!isPostreelError(failure) || failure.outcome !== 'rejected') {
    return false;
  }
  const text = `${failure.code} ${failure.message}`;
  return wordsForFull.some((words) => words.test(text));
}
