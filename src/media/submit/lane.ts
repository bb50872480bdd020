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
  /** Hears how many calls in a row were not answered. */
  readonly onUnknown: (calls: number) => void;
}

/**
 * The jobs of one queue on their way through a submitter: how many may be in progress at one time, and
 * whether more of them may leave at all.
 */
export class Lane {
  readonly name: string;
  readonly deadlineMs: number;
  /** How many more jobs may be submitted at all. */
  left: number;
  /** Jobs that have left and are not over. */
  inProgress = 0;
  isPaused = false;
  /** Do more jobs come soon? A call that can carry more waits a moment for them. */
  isFilling = false;
  /** Were the answers to two calls in a row lost? Then nothing leaves any more. */
  areAnswersLost = false;
  /** Has a call of it been answered? Before, a typing error is as likely as an outage. */
  hasConnected = false;
  /** The folder of its videos, once there is one. */
  folderId: string | undefined;
  readonly #options: LaneOptions;
  #unknownCalls = 0;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.name = options.name;
    this.deadlineMs = options.deadlineMs;
    this.left = options.maxJobs;
  }

  /** How many more of its jobs may leave now. */
  get capacity(): number {
    const { maxInProgress } = this.#options;
    return this.isPaused ? 0 : Math.max(0, Math.min(this.left, maxInProgress - this.inProgress));
  }

  /** So many jobs leave; a negative number comes back. */
  leave(jobs: number): void {
    this.inProgress += jobs;
    this.left -= jobs;
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
    this.#unknownCalls = 0;
  }

  /** The answer to a call was lost: its jobs may have been made. */
  unanswered(): void {
    this.#options.onUnknown(++this.#unknownCalls);
  }

  /** Lost answers so far are forgiven. */
  forgive(): void {
    this.#unknownCalls = 0;
  }
}
