/** The limits of one queue. */
export interface QuotaOptions {
  /** A name that is unique to the queue. Jobs of different queues do not share a new folder. */
  readonly name: string;
  /** The most jobs of the queue that may be in progress at one time. */
  readonly maxInProgress: number;
  /** The most jobs that the queue may submit in total. */
  readonly maxJobs: number;
  /** How long a job may be retried before it fails, in milliseconds. */
  readonly deadlineMs: number;
}

/**
 * Limits how many jobs of one queue the submitter may send: how many may be in progress at one time, and
 * how many the queue may submit in total. A job is counted when it is sent:
 *
 *     event                                          inProgress   remaining
 *     countSent()     the request is sent                +n          -n
 *     countNotMade()  the service made no job            -n          +n
 *     countEnded()    the job ended, or is unknown       -n
 *     countEarlier()  the job was submitted earlier      +1
 */
export class QueueQuota {
  readonly name: string;
  readonly deadlineMs: number;
  /** How many more jobs the queue may submit in total. */
  remaining: number;
  /** The number of jobs that have been sent and have not ended. */
  inProgress = 0;
  isPaused = false;
  /**
   * Is a call of this queue in flight? The next call waits for its response: after two lost responses in a
   * row the queue sends nothing more.
   */
  isInFlight = false;
  /** Is the queue still reading its input? A call that has room waits up to a second for more jobs. */
  isFilling = false;
  /**
   * Has the service responded to a call of this queue? Before that, a connection error may come from a
   * mistyped address as well as from an outage, so it is not retried.
   */
  hasConnected = false;
  /** The folder of the queue's videos; `undefined` until a response or an earlier run names it. */
  folderId: string | undefined;
  readonly #options: QuotaOptions;

  constructor(options: QuotaOptions) {
    this.#options = options;
    this.name = options.name;
    this.deadlineMs = options.deadlineMs;
    this.remaining = options.maxJobs;
  }

  /** How many more jobs of the queue may be sent now. */
  get capacity(): number {
    const { maxInProgress } = this.#options;
    const isHeld = this.isPaused || this.isInFlight;
    return isHeld ? 0 : Math.max(0, Math.min(this.remaining, maxInProgress - this.inProgress));
  }

  /** A request with this many jobs of the queue is being sent. */
  countSent(jobs: number): void {
    this.inProgress += jobs;
    this.remaining -= jobs;
  }

  /** This many jobs have ended, or their outcome is unknown. */
  countEnded(jobs: number): void {
    this.inProgress -= jobs;
  }

  /** The service did not make this many jobs: they may be submitted again. */
  countNotMade(jobs: number): void {
    this.inProgress -= jobs;
    this.remaining += jobs;
  }

  /** Counts a job of an earlier run that is still in progress. New videos go into the folder of that job. */
  countEarlier(folderId: string | undefined): void {
    this.inProgress++;
    this.folderId ??= folderId;
  }

  /** The service responded to a call of this queue, with success or with an error. */
  noteResponse(folderId?: string): void {
    this.hasConnected = true;
    this.folderId ??= folderId;
  }
}
