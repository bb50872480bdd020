import {
  isPostreelError,
  PostreelError,
  type Outcome,
  reasonOf,
  WaitTimeoutError,
} from '../../../core/errors.js';
import type { GenerationJob } from '../../jobs/job.js';
import { isPendingLimitError } from '../../jobs/full.js';
import { madeNothing, mayHaveBeenMade } from '../../jobs/refused-calls.js';
import { durationText } from '../../status/intervals.js';
import type { JobEnd } from '../steps/commands.js';
import type { Refusal, RefusalKind } from '../steps/events.js';

const waitingCodes = new Set(['QUEUE_TIMEOUT', 'RATE_LIMITED']);

/** What a failed call means for the jobs that it carried. */
export function refusalOf(failure: unknown, outcome: Outcome | undefined, jobs: number): Refusal {
  const error = isPostreelError(failure) ? failure : undefined;
  const mayBeHalfWay = isNo(error) && !madeNothing(error, jobs);
  return {
    error: mayBeHalfWay ? mayHaveBeenMade(error, jobs) : failure,
    kind: kindOf(error, isNo(error) ? 'rejected' : outcome),
    mayBeHalfWay,
    answer: answerOf(error),
    retryAfterMs: error?.retryAfterMs,
  };
}

function isNo(error: PostreelError | undefined): error is PostreelError {
  const status = error?.status ?? 0;
  return status >= 400 && status < 500 && status !== 408;
}

function kindOf(error: PostreelError | undefined, outcome: Outcome | undefined): RefusalKind {
  if (outcome === 'unknown') {
    return 'unknown';
  }
  if (error?.status === 429 || isPendingLimitError(error)) {
    return 'limit';
  }
  if (isAboutKey(error)) {
    return 'rejected-client';
  }
  if (error && (outcome === 'rejected' || error.code === 'INVALID_REQUEST')) {
    // "Brand kit not found or deleted.": all jobs of a call have the same kit.
    return /brand kit/i.test(error.message) ? 'rejected-call' : 'rejected';
  }
  return error && waitingCodes.has(error.code) ? 'limit' : 'not-sent';
}

// Numbers and the id of the request differ from answer to answer.
function answerOf(error: PostreelError | undefined): string {
  const words = error?.message.replace(/ Request id \S+$/, '').replace(/\d+/g, '#');
  return `${error?.status} ${error?.code} ${words}`;
}

/** The error of a job of which it is unknown whether it was submitted. */
export function mayHaveBeenSubmitted(): PostreelError {
  return new PostreelError(
    'This job may have been submitted when an earlier run ended. Look for it in the workspace before you submit it again.',
    { code: 'OUTCOME_UNKNOWN', outcome: 'unknown' },
  );
}

/** Why a queue makes no more calls. */
export function callsHeld(ms: number): string {
  return `The answers to two calls in a row were lost: their jobs may exist, and each further call may be lost too. Nothing more is submitted until \`queue.resume()\`; without it the queue ends after ${durationText(ms)}.`;
}

/** The error of a queue that held its calls back for too long. */
export function answersLost(): PostreelError {
  return new PostreelError(
    'The answers to two calls in a row were lost, and `queue.resume()` was not called. Look for the jobs with the outcome `unknown` in the workspace, and submit the rest again.',
    { code: 'UNKNOWN_OUTCOMES' },
  );
}

/**
 * The error of a job that a queue gave up before it was submitted. The reason may be the answer to the
 * call of other jobs, whose outcome is not that of this one.
 */
export function givenUp(reason: unknown): unknown {
  if (isAboutKey(reason) || (isPostreelError(reason) && reason.outcome === 'not-sent')) {
    return reason;
  }
  return new PostreelError(
    `The queue gave up before this job was submitted; submit it again once the cause is gone: ${reasonOf(reason)}`,
    { code: 'QUEUE_ENDED', outcome: 'not-sent', cause: reason },
  );
}

/** The error of a job that ended without a result. */
export function errorOf(
  end: Exclude<JobEnd, { type: 'file' | 'error' | 'given-up' }>,
  job: GenerationJob | undefined,
  last: { readonly status: string | undefined; readonly checks: number },
): PostreelError {
  if (end.job === undefined) {
    return notSubmitted(end.type);
  }
  const { fileId } = end.job;
  const message = `The file ${fileId} ${texts[end.type]} ${durationText(end.ms)}. The job may go on; call \`resume({ timeout })\`, in milliseconds, to wait on.`;
  return new WaitTimeoutError(message, {
    id: fileId,
    lastStatus: last.status,
    elapsedMs: end.ms,
    polls: last.checks,
    resume: (options?: object) =>
      job?.waitForFile(options) ?? Promise.reject(new TypeError('a followed job has a handle')),
  });
}

const texts = {
  stalled: 'showed no change of status or progress for',
  timeout: 'was not finished within',
  lost: 'could not be checked for',
  unsaved: 'is finished, but was not saved within',
} as const;

/** Has a call failed because its key is refused, or the client is not set up, whatever it asked for? */
export function isAboutKey(error: unknown): boolean {
  return isPostreelError(error) && (error.status === 401 || error.name === 'ConfigurationError');
}

/** Why a job was not submitted. */
export function notSubmitted(type: 'claimed' | 'claimed-late' | 'capped' | 'late'): PostreelError {
  if (type === 'claimed') {
    return mayHaveBeenSubmitted();
  }
  if (type === 'claimed-late') {
    return new PostreelError(
      'The deadline of the queue passed while another run had this job, which may have been submitted. Run the queue again to follow it.',
      { code: 'DEADLINE_EXCEEDED', outcome: 'unknown' },
    );
  }
  if (type === 'capped') {
    return new PostreelError('This job would exceed `maxJobs` or `maxMinutes` of the queue.', {
      code: 'SPENDING_CAP',
      outcome: 'not-sent',
    });
  }
  return new PostreelError('The deadline of the queue passed before this job was submitted.', {
    code: 'DEADLINE_EXCEEDED',
    outcome: 'not-sent',
  });
}
