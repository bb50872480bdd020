import { branded } from './brand.js';
import { PostreelError, type ErrorDetails } from './base-error.js';

/** An import or bulk job ended in failure. */
export class JobFailedError extends PostreelError {
  readonly jobId: string;
  /** The job's last record, as the service sent it. */
  readonly job: unknown;

  constructor(message: string, details: ErrorDetails & { jobId: string; job: unknown }) {
    super(message, { code: 'JOB_FAILED', ...details });
    this.jobId = details.jobId;
    this.job = details.job;
  }
}
branded(JobFailedError, 'JobFailedError', PostreelError);
