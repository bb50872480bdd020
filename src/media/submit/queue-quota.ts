/** What a queue says of its jobs. */
export interface LaneOptions {
  /** Tells the queue from others: their jobs do not share a folder. */
  readonly name: string;
  /** How many of its jobs may be in progress at one time. */
  readonly maxInProgress: number;
  /** How many jobs it may submit at all. */
  readonly maxJobs: number;
  /** How long a job may wait for its turn, in milliseconds. */
  readonly deadlineMs: number;
}

/**
 * The jobs of one queue on their way through a submitter: how many may be in progress at one time, and
 * whether more of them may leave at all.
 */
export class QueueQuota {
  readonly name: string;
  readonly deadlineMs: number;
  /** How many more jobs may be submitted at all. */
  left: number;
  /** Jobs that have left and are not over. */
  inProgress = 0;
  isPaused = false;
  /** Is a call of it on its way? The next one waits for the answer: it may be the second that is lost. */
  isUnderWay = false;
  /** Do more jobs come soon? A call that can carry more waits a moment for them. */
  isFilling = false;
  /** Has a call of it been answered? Before, a typing error is as likely as an outage. */
  hasConnected = false;
  /** The folder of its videos, once there is one. */
  folderId: string | undefined;
  readonly #options: LaneOptions;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.name = options.name;
    this.deadlineMs = options.deadlineMs;
    this.left = options.maxJobs;
  }

  /** How many more of its jobs may leave now. */
  get capacity(): number {
    const { maxInProgress } = this.#options;
    const isHeld = this.isPaused || this.isUnderWay;
    return isHeld ? 0 : Math.max(0, Math.min(this.left, maxInProgress - this.inProgress));
  }

  /** So many jobs leave. */
  leave(jobs: number): void {
    this.inProgress += jobs;
    this.left -= jobs;
  }

  /** So many jobs are over, or nobody knows whether they exist. */
  end(jobs: number): void {
    this.inProgress -= jobs;
  }

  /** So many jobs were not made. */
  comeBack(jobs: number): void {
    this.inProgress -= jobs;
    this.left += jobs;
  }

  /** A job that was submitted before is in progress; the rest goes where its file is. */
  follow(folderId: string | undefined): void {
    this.inProgress++;
    this.folderId ??= folderId;
  }

  /** A call was answered, with yes or no. */
  answered(folderId?: string): void {
    this.hasConnected = true;
    this.folderId ??= folderId;
  }
}
