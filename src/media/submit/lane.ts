/**
 * The jobs of one queue on their way through a submitter: how many may be in progress at one time, and
 * whether more of them may leave at all.
 */
export class Lane {
  readonly #limit: number;
  /** How many more jobs may be submitted at all. */
  left: number;
  readonly #onUnknown: (calls: number) => void;
  /** Jobs that have left and are not over. */
  inProgress = 0;
  isHeld = false;
  /** Do more jobs come soon? A call that can carry more waits a moment for them. */
  isFilling = false;
  /** Has a call of it been answered? Before, a typing error is as likely as an outage. */
  hasConnected = false;
  /** The folder of its videos, once there is one. */
  folderId: string | undefined;
  #unknownCalls = 0;

  /** `onUnknown` hears how many calls in a row were not answered. */
  constructor(limit: number, left: number, onUnknown: (calls: number) => void) {
    this.#limit = limit;
    this.left = left;
    this.#onUnknown = onUnknown;
  }

  /** How many more of its jobs may leave now. */
  get room(): number {
    return this.isHeld ? 0 : Math.max(0, Math.min(this.left, this.#limit - this.inProgress));
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
    this.#onUnknown(++this.#unknownCalls);
  }

  /** Lost answers so far are forgiven. */
  forgive(): void {
    this.#unknownCalls = 0;
  }
}
