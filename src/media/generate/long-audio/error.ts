import {
  InvalidRequestError,
  PostreelError,
  isPostreelError,
  markClass,
} from '../../../core/errors.js';
import type { GenerationJob } from '../../jobs/job.js';

/**
 * A long text was submitted only in part. `jobs` are the parts that were accepted and will be
 * charged; `cause` is the error, or the reason of the abort, that ended the call.
 */
export class LongAudioError extends PostreelError {
  /** @internal */
  static override readonly brands = markClass(this, 'LongAudioError');

  /** The accepted parts, in the order of the text. `job.part` is the range of each. */
  readonly jobs: readonly GenerationJob[];

  constructor(jobs: readonly GenerationJob[], partCount: number, cause: unknown) {
    const why = isPostreelError(cause) ? ` ${cause.message}` : '';
    super(
      `${jobs.length} of ${partCount} parts of the text were submitted, and are in \`jobs\`.${why}`,
      {
        code: 'LONG_AUDIO_INCOMPLETE',
        // The outcome of the part that failed. An abort comes before a part is sent.
        outcome: isPostreelError(cause) ? cause.outcome : 'not-sent',
        cause,
      },
    );
    this.jobs = jobs;
  }
}

/** Creates the error of parts that cannot be joined. */
export function notJoinableError(why: string): InvalidRequestError {
  return new InvalidRequestError(`The parts cannot be joined: ${why}.`, {
    code: 'AUDIO_NOT_JOINABLE',
    outcome: 'not-sent',
  });
}
