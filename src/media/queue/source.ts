import { monotonicMs } from '../../async/clock.js';
import { brandOf, estimatedMinutes, isVideo, type MediaJob } from '../generate/media-job.js';
import type { JobSource } from './options.js';

/** One job of the input that waits for its turn. */
export interface Entry {
  readonly index: number;
  readonly input: MediaJob;
  readonly minutes: number;
  readonly name: string | undefined;
  /** Jobs of a refused call are handed in again in halves, to find the one at fault. */
  readonly group?: number;
}

// Enough to find long jobs early, few enough to read a long input step by step.
const lookAhead = 100;

/** Reads the input of a queue, a stretch ahead, and hands out the longest jobs first. */
export class JobInput {
  readonly #list: Iterator<MediaJob> | undefined;
  readonly #stream: AsyncIterator<MediaJob> | undefined;
  readonly #nameOf: ((job: MediaJob) => string) | undefined;
  readonly #entries: Entry[] = [];
  #reading: Promise<void> | undefined;
  #index = 0;
  #groups = 0;
  #failure: { reason: unknown } | undefined;
  /** When the last job was read. */
  lastReadAt = Number.NEGATIVE_INFINITY;
  isExhausted = false;

  constructor(source: JobSource, nameOf: ((job: MediaJob) => string) | undefined) {
    if (Symbol.asyncIterator in source) {
      this.#stream = source[Symbol.asyncIterator]();
    } else {
      this.#list = source[Symbol.iterator]();
    }
    this.#nameOf = nameOf;
  }

  get waiting(): number {
    return this.#entries.length;
  }

  /** The jobs that wait, in the order of their turn. */
  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** The job whose turn is next. */
  get next(): Entry | undefined {
    return this.#entries[0];
  }

  /** Reads on until enough jobs wait; a promise when the next job of a stream is still to come. */
  read(): Promise<void> | undefined {
    if (this.#failure) {
      throw this.#failure.reason;
    }
    if (this.isExhausted || this.#entries.length >= lookAhead) {
      return undefined;
    }
    if (this.#list) {
      this.#readList(this.#list);
      return undefined;
    }
    this.#reading ??= this.#readStream().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** The jobs for the next call: the longest videos of one brand, or one text to speak. */
  takeBatch(count: number): Entry[] {
    const [first] = this.#entries;
    if (!first || count <= 0) {
      return [];
    }
    // "applies to every video of the request" (Brand kit behaviour): others must not get it.
    const isSameCall = ({ input, group }: Entry) =>
      isVideo(input) && group === first.group && brandOf(input) === brandOf(first.input);
    const batch = isVideo(first.input) ? this.#entries.filter(isSameCall).slice(0, count) : [first];
    for (const entry of batch) {
      this.#entries.splice(this.#entries.indexOf(entry), 1);
    }
    return batch;
  }

  /** Puts jobs back that were not accepted. */
  putBack(entries: readonly Entry[]): void {
    for (const entry of entries) {
      this.#insert(entry);
    }
  }

  /** Puts the jobs of a refused call back in two halves, which go in calls of their own. */
  putBackInHalves(entries: readonly Entry[]): void {
    const middle = Math.ceil(entries.length / 2);
    for (const half of [entries.slice(0, middle), entries.slice(middle)]) {
      const group = ++this.#groups;
      this.putBack(half.map((entry) => ({ ...entry, group })));
    }
  }

  /** All jobs that still wait; none does afterwards. */
  drain(): Entry[] {
    return this.#entries.splice(0);
  }

  /** Tells the source that nothing more will be read. */
  close(): void {
    if (this.isExhausted) {
      return;
    }
    this.isExhausted = true;
    this.#list?.return?.();
    void Promise.resolve(this.#stream?.return?.()).catch(() => undefined); // it has been left
  }

  #readList(list: Iterator<MediaJob>): void {
    while (!this.isExhausted && this.#entries.length < lookAhead) {
      const step = list.next();
      if (step.done) {
        this.isExhausted = true;
      } else {
        this.#add(step.value);
      }
    }
  }

  async #readStream(): Promise<void> {
    try {
      const step = await this.#stream?.next();
      if (!step || step.done) {
        this.isExhausted = true;
      } else {
        this.#add(step.value);
      }
    } catch (reason) {
      this.isExhausted = true;
      this.#failure = { reason };
    }
  }

  #add(input: MediaJob): void {
    const name = this.#nameOf?.(input);
    this.lastReadAt = monotonicMs();
    this.#insert({ index: this.#index++, input, minutes: estimatedMinutes(input), name });
  }

  // Longest first; equals keep their order. Halves of a refused call go before all others.
  #insert(entry: Entry): void {
    const place = this.#entries.findIndex((other) => goesBefore(entry, other));
    if (place < 0) {
      this.#entries.push(entry);
    } else {
      this.#entries.splice(place, 0, entry);
    }
  }
}

function goesBefore(entry: Entry, other: Entry): boolean {
  if (entry.group !== other.group) {
    return (entry.group ?? Infinity) < (other.group ?? Infinity);
  }
  if (entry.minutes !== other.minutes) {
    return entry.minutes > other.minutes;
  }
  return entry.index < other.index;
}
