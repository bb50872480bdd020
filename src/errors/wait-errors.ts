import { PostreelError, type ErrorDetails } from './base-error.js';
import { branded } from './brand.js';

/** The facts of a wait that ended without a result. */
export interface WaitDetails extends ErrorDetails {
  /** The file or job that was waited for. */
  readonly id: string;
  readonly lastStatus: string | undefined;
  readonly elapsedMs: number;
  /** How many times the status was asked for. */
  readonly polls: number;
  /** The last status record, as the service sent it. */
  readonly record?: unknown;
  /** Goes on waiting, with the options of the first wait unless given others. */
  readonly resume: (options?: object) => Promise<unknown>;
}

/** The base of the errors that end a wait. */
export class WaitError extends PostreelError {
  /** @internal */
  static override readonly brands = branded(this, 'WaitError');

  /** The media file that was waited for; for import and bulk jobs the job's id. */
  readonly fileId: string;
  readonly lastStatus: string | undefined;
  /** How long the wait took, in milliseconds. */
  readonly elapsedMs: number;
  /** How many times the status was asked for. */
  readonly polls: number;
  /**
   * The status record that ended the wait, as the service sent it; the message has its reason. Not
   * enumerable, so that no log writes it by accident.
   */
  declare readonly record: unknown;
  readonly #resume: (options?: object) => Promise<unknown>;

  constructor(message: string, details: WaitDetails) {
    super(message, details);
    Object.defineProperty(this, 'record', { value: details.record });
    this.fileId = details.id;
    this.lastStatus = details.lastStatus;
    this.elapsedMs = details.elapsedMs;
    this.polls = details.polls;
    this.#resume = details.resume;
  }

  /** Goes on waiting for the same file or job. */
  resume(options?: object): Promise<unknown> {
    return this.#resume(options);
  }

  override toJSON(): Record<string, unknown> {
    const { fileId, lastStatus, elapsedMs, polls } = this;
    return { ...super.toJSON(), fileId, lastStatus, elapsedMs, polls };
  }
}

/** The wait was longer than its `timeout`. The job itself goes on; `resume()` waits again. */
export class WaitTimeoutError extends WaitError {
  /** @internal */
  static override readonly brands = branded(this, 'WaitTimeoutError');

  constructor(message: string, details: WaitDetails) {
    super(message, { code: 'WAIT_TIMEOUT', ...details });
  }
}

/** The file's status became `error`. */
export class GenerationFailedError extends WaitError {
  /** @internal */
  static override readonly brands = branded(this, 'GenerationFailedError');

  constructor(message: string, details: WaitDetails) {
    super(message, { code: 'GENERATION_FAILED', ...details });
  }
}

/** The file's status became `canceled`. */
export class GenerationCanceledError extends WaitError {
  /** @internal */
  static override readonly brands = branded(this, 'GenerationCanceledError');

  constructor(message: string, details: WaitDetails) {
    super(message, { code: 'GENERATION_CANCELED', ...details });
  }
}

/** An import or bulk job ended in failure. */
export class JobFailedError extends PostreelError {
  /** @internal */
  static override readonly brands = branded(this, 'JobFailedError');

  readonly jobId: string;
  /** The job's last record, as the service sent it. */
  readonly job: unknown;

  constructor(message: string, details: ErrorDetails & { jobId: string; job: unknown }) {
    super(message, { code: 'JOB_FAILED', ...details });
    this.jobId = details.jobId;
    this.job = details.job;
  }
}
