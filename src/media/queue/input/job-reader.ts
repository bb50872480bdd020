import type { Clock } from '../../../core/async.js';
import type { ReadEntry } from '../steps/events.js';
import type { QueueRules } from '../steps/state.js';
import type { Intake } from './intake.js';
import type { SourceReader } from './source.js';

// Enough to find long jobs early, few enough to read a long input step by step. A list is there
// anyway: jobs that take equally long are found together, and end together.
const lookAhead = { list: 400, other: 100, sharedStream: 1 };
// A journal that cannot be read is asked again: for so long at first, when its address may be wrong,
// and as long as any outage once it was read.
const readAgainMs = [1_000, 5_000, 15_000];
const readLaterMs = 60_000;

/** What a reader needs of its queue. */
export interface ReaderParts {
  readonly source: SourceReader;
  readonly intake: Intake;
  readonly clock: Clock;
  /** Do several keys share the jobs? */
  readonly isShared: boolean;
  readonly rules: Pick<QueueRules, 'outageMs' | 'deadlineAt'>;
  readonly isStopped: () => boolean;
  /** A stream is about to be waited for. */
  readonly onReading: () => void;
  readonly onRead: (entries: readonly ReadEntry[]) => void;
  /** The journal cannot be read. */
  readonly onUnread: (error: unknown) => void;
  readonly onFailure: (failure: { readonly reason: unknown }) => void;
}

/** Reads the jobs of a queue ahead of it, with what the journal knows of them. */
export class JobReader {
  readonly #parts: ReaderParts;
  #isReading = false;

  constructor(parts: ReaderParts) {
    this.#parts = parts;
  }

  /** Reads on unless enough jobs wait. */
  read(waiting: number): void {
    const { source, intake, onRead } = this.#parts;
    const most = this.#ahead - waiting;
    if (this.#isReading || source.isExhausted || most <= 0) {
      return;
    }
    this.#isReading = true;
    if (source.isStream || intake.isNamed) {
      void this.#readLater(most);
      return;
    }
    const entries = intake.entries(source.readList(most));
    this.#isReading = false;
    onRead(entries);
  }

  /** What the journal knows of jobs that were read. */
  async known(entries: readonly ReadEntry[]): Promise<readonly ReadEntry[]> {
    const { intake, clock, rules, isStopped, onUnread } = this.#parts;
    if (!intake.isNamed) {
      return entries;
    }
    const isLater = intake.count > entries.length;
    const until = isLater ? Math.min(clock.now() + rules.outageMs, rules.deadlineAt) : 0;
    for (let failures = 0; ; failures++) {
      try {
        return await intake.known(entries);
      } catch (error) {
        const isFinal = failures >= readAgainMs.length && clock.now() >= until;
        if (isFinal || isStopped()) {
          throw error;
        }
        if (until > 0) {
          onUnread(error);
        }
        const delayMs = readAgainMs[failures] ?? readLaterMs;
        await new Promise<void>((resolve) => clock.at(clock.now() + delayMs, resolve));
      }
    }
  }

  get #ahead(): number {
    const { source, isShared } = this.#parts;
    if (source.size !== undefined) {
      return lookAhead.list;
    }
    return source.isStream && isShared ? lookAhead.sharedStream : lookAhead.other;
  }

  async #readLater(most: number): Promise<void> {
    const { source, intake, onReading, onRead, onFailure } = this.#parts;
    if (source.isStream) {
      onReading();
    }
    try {
      const jobs = source.isStream ? await source.readStream() : source.readList(most);
      const entries = await this.known(intake.entries(jobs));
      this.#isReading = false;
      onRead(entries);
    } catch (reason) {
      onFailure({ reason });
    }
  }
}
