import { isPostreelError } from '../../core/errors.js';

const wordsForFull = [
  /too many (pending|queued|active|concurrent|running)/i,
  /(pending|queued|concurrent)[ _-]?(jobs?|files?|videos?)?[ _-]?(limit|cap)/i,
  /queue is full/i,
  // "At most 20 jobs may be queued or processing at one time" (Limits)
  /\b(jobs|files|videos) (may|can) be (pending|queued|processing)/i,
];

/**
 * Was a call refused because all pending slots are taken? The document gives no status for that, so
 * the words decide, but only how long to wait: after a 408 or a 5xx the outcome is unknown, whatever
 * the words are.
 */
export function isPendingLimitError(failure: unknown): boolean {
  if (!isPostreelError(failure) || failure.outcome !== 'rejected') {
    return false;
  }
  const text = `${failure.code} ${failure.message}`;
  return wordsForFull.some((words) => words.test(text));
}
