import { isPostreelError } from '../../errors/index.js';

const wordsForFull = [
  /too many (pending|queued|active|concurrent|running)/i,
  /(pending|queued|concurrent)[ _-]?(jobs?|files?|videos?)?[ _-]?(limit|cap)/i,
  /queue is full/i,
];

/**
 * Does the service say that it has no pending slot left? Then it has taken no job, whatever the
 * status of its answer: the document gives none.
 */
export function saysFull(failure: unknown): boolean {
  if (!isPostreelError(failure) || failure.status === undefined) {
    return false;
  }
  const text = `${failure.code} ${failure.message}`;
  return wordsForFull.some((words) => words.test(text));
}
