import { isPostreelError, PostreelError, type Outcome } from '../../errors/index.js';

/** What a failed call means for the jobs that it carried. */
export interface Verdict {
  /** Refused for now, or never left: at another time the same call may go through. */
  readonly mayPass: boolean;
  /** A key that is refused once is refused for all. */
  readonly isForAll: boolean;
  /** One of the jobs may be at fault for all of them. */
  readonly isForOne: boolean;
  /** Jobs that may be in the making. They are never handed in again. */
  readonly isUnknown: boolean;
}

/** Judges the failure of a call by its error and by whether it took effect. */
export function judgeFailure(failure: unknown, outcome: Outcome | undefined): Verdict {
  const error = isPostreelError(failure) ? failure : undefined;
  const { status } = error ?? {};
  const mayPass = status === 429 || passingCodes.has(error?.code ?? '');
  const isForAll = status === 401 || status === 403;
  const isRefusal = error !== undefined && outcome === 'rejected' && !mayPass && !isForAll;
  // "Brand kit not found or deleted.": all jobs of a call have the same kit.
  const isForOne = isRefusal && !/brand kit/i.test(error.message);
  return { mayPass, isForAll, isForOne, isUnknown: outcome === 'unknown' };
}

/** Has a wait been given up while its job may go on? Then the job still takes its place. */
export function isStillPending(error: unknown): boolean {
  return isPostreelError(error) && error.code === 'WAIT_TIMEOUT';
}

/** The error of a job that an earlier run may have handed in. */
export function mayHaveBeenHandedIn(): PostreelError {
  return new PostreelError(
    'This job may have been handed in when an earlier run ended. Look for it in the workspace before handing it in again.',
    { code: 'OUTCOME_UNKNOWN', outcome: 'unknown' },
  );
}

const passingCodes = new Set(['NOT_CONNECTED', 'QUEUE_TIMEOUT']);
