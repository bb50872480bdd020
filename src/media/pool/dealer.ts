import { Notifier } from '../../async/notifier.js';
import type { MediaJob } from '../generate/media-job.js';
import { SourceReader } from '../queue/input/source.js';
import type { JobSource } from '../queue/options.js';

/** A job of the pool's input. */
export interface DealtJob {
  readonly index: number;
  readonly job: MediaJob;
  /** What it is called in a named queue, whichever key gets it. */
  readonly name: string | undefined;
}

/** What dealing needs to know of a named queue. */
export interface Naming {
  nameOf(job: MediaJob): string | undefined;
  /** Which of the keys has a job of that name already. */
  ownerOf(name: string): Promise<number | undefined>;
  /** A key gets the job of that name. */
  give(name: string, key: number): void;
}

/** Deals the jobs of one input to several keys, one at a time to whoever asks. */
export class Dealer {
  readonly #reader: SourceReader;
  readonly #naming: Naming;
  /** Jobs of keys that were set aside, and those that belong to one key. */
  readonly #returned: DealtJob[] = [];
  readonly #owned = new Map<number, DealtJob[]>();
  readonly #news: Notifier[];
  #last: Promise<unknown> = Promise.resolve();
  #index = 0;
  #open = 0;
  #isOver = false;

  constructor(jobs: JobSource, keys: number, naming: Naming) {
    this.#reader = new SourceReader(jobs);
    this.#naming = naming;
    this.#news = Array.from({ length: keys }, () => new Notifier());
  }

  /** Why the input ended before its time. */
  get failure(): { readonly reason: unknown } | undefined {
    return this.#reader.failure;
  }

  /** Are all jobs of the input over? */
  get isOver(): boolean {
    return this.#isOver || (this.#reader.isExhausted && this.#open === 0);
  }

  /** The next job for a key; `undefined` when it gets no more. */
  async next(key: number, isWanted: () => boolean): Promise<DealtJob | undefined> {
    while (!this.isOver && isWanted()) {
      const dealt = await this.#inTurn(() => this.#dealTo(key));
      if (dealt) {
        return dealt;
      }
      if (this.#isDry(key)) {
        await this.#news[key]?.wait(); // a job may come back from a key that is refused
      }
    }
    return undefined;
  }

  /** A job is over. */
  end(): void {
    this.#open--;
    this.wake();
  }

  /** A key did not submit this job: another one gets it. */
  giveBack(dealt: DealtJob): void {
    this.#returned.push(dealt);
    this.wake();
  }

  /** The jobs that wait for a key. */
  takeReturned(): DealtJob | undefined {
    return this.#returned.shift();
  }

  /** Deals nothing more. */
  stop(): void {
    this.#isOver = true;
    this.#reader.close();
    this.wake();
  }

  /** Lets every key ask again. */
  wake(): void {
    this.#news.forEach((news) => news.notify());
  }

  #isDry(key: number): boolean {
    const owned = this.#owned.get(key) ?? [];
    return this.#reader.isExhausted && this.#returned.length + owned.length === 0;
  }

  async #dealTo(key: number): Promise<DealtJob | undefined> {
    const waiting = this.#owned.get(key)?.shift() ?? this.#returned.shift();
    if (waiting || this.isOver || this.#reader.isExhausted) {
      return waiting && this.#give(waiting, key);
    }
    const jobs = this.#reader.isStream ? await this.#reader.readStream() : this.#reader.readList(1);
    const [job] = jobs;
    if (job === undefined) {
      this.wake(); // the input has ended
      return undefined;
    }
    this.#open++;
    const name = this.#naming.nameOf(job);
    const dealt = { index: this.#index++, job, name };
    const owner = name === undefined ? undefined : await this.#naming.ownerOf(name);
    if (owner === undefined || owner === key) {
      return this.#give(dealt, key);
    }
    this.#owned.set(owner, [...(this.#owned.get(owner) ?? []), dealt]);
    this.#news[owner]?.notify();
    return undefined;
  }

  #give(dealt: DealtJob, key: number): DealtJob {
    if (dealt.name !== undefined) {
      this.#naming.give(dealt.name, key);
    }
    return dealt;
  }

  // One reads at a time: a generator must not be asked twice at once.
  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(task);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
