import { PostreelError } from '../../core/errors.js';
import { bodyOf } from './job.js';

// Answers that turn a request away before any of its jobs is looked at.
const beforeJobs = new Set([401, 405, 406, 411, 413, 414, 415, 417, 421, 426, 431]);

/**
 * Is it certain that a refused call made none of its jobs? A service may handle several one after
 * another and stop at the first that it refuses: the document does not exclude it.
 */
export function madeNothing({ status = 0, body }: PostreelError, jobs: number): boolean {
  return jobs <= 1 || beforeJobs.has(status) || listsNoFile(body);
}

function listsNoFile(answer: unknown): boolean {
  const body = bodyOf(answer);
  const lists = [body['filesCreated'], body['fileIds'], body['files']];
  return lists.some((list) => Array.isArray(list) && list.length === 0);
}

/** The error of a job whose call was refused, and may have made some of its jobs all the same. */
export function mayHaveBeenMade(refusal: PostreelError, jobs: number): PostreelError {
  const { method, path, status, requestId } = refusal;
  return new PostreelError(
    `A call with ${jobs} jobs was refused (${status ?? refusal.code}), and the service may have made this job before it came to the one at fault. Look for it in the workspace before you submit it again.`,
    {
      code: 'OUTCOME_UNKNOWN',
      outcome: 'unknown',
      method,
      path,
      status,
      requestId,
      cause: refusal,
    },
  );
}
