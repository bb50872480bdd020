import { Notifier } from '../../async/notifier.js';
import { estimatedMinutes, type MediaJob } from '../generate/media-job.js';
import { SourceReader } from '../queue/input/source.js';
import type { JobSource } from '../queue/options.js';

/** A job of the pool's input. */
export interface AssignedJob {
  readonly index: number;
  readonly job: MediaJob;
  /** What it is called in a named queue, whichever key gets it. */
  readonly name: string | undefined;
}

/** What dealing needs to know of a named queue. */
export interface Naming {
  nameOf(job: MediaJob): string | undefined;
  /** Which of the keys got a job of that name in an earlier run. */
  earlierOwners(names: readonly string[]): Promise<ReadonlyMap<string, number | undefined>>;
  /** The key that has the job of an earlier run is not there. */
  onOwnerMissing(assigned: AssignedJob): void;
  /** Which of them got it in this run. */
  ownerOf(name: string): number | undefined;
  /** A key gets the job of that name. */
  give(name: string, key: number): void;
}

// Enough to find the long jobs early: what is left for the end is short, so all keys end together.
const lookAhead = { list: 400, stream: 1, other: 100 };

/** Deals the jobs of one input to several keys, one at a time to the key that asks, longest first. */
export class JobDistributor {
  readonly #reader: SourceReader;
  readonly #naming: Naming;
  /** Jobs without a key yet, longest first. */
  readonly #waiting: AssignedJob[] = [];
  /** Jobs of keys that were set aside, and those that belong to one key. */
  readonly #returned: AssignedJob[] = [];
  readonly #owned = new Map<number, AssignedJob[]>();
  readonly #wakeups: Notifier[];
  #last: Promise<unknown> = Promise.resolve();
  #index = 0;
  #open = 0;
  #isOver = false;

  constructor(jobs: JobSource, keys: number, naming: Naming) {
    this.#reader = new SourceReader(jobs);
    this.#naming = naming;
    this.#wakeups = Array.from({ length: keys }, () => new Notifier());
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
  async next(key: number, isWanted: () => boolean): Promise<AssignedJob | undefined> {
    while (!this.isOver && isWanted()) {
      const assigned = await this.#inTurn(() => this.#assign(key));
      if (assigned) {
        return assigned;
      }
      if (this.#isDry(key)) {
        await this.#wakeups[key]?.wait(); // a job may come back from a key that is refused
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
  requeue(assigned: AssignedJob): void {
    this.#returned.push(assigned);
    this.wake();
  }

  /** The jobs that wait for a key. */
  takeReturned(): AssignedJob | undefined {
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
    this.#wakeups.forEach((wakeup) => wakeup.notify());
  }

  #isDry(key: number): boolean {
    const owned = this.#owned.get(key) ?? [];
    const left = this.#returned.length + this.#waiting.length + owned.length;
    return this.#reader.isExhausted && left === 0;
  }

  async #assign(key: number): Promise<AssignedJob | undefined> {
    await this.#readAhead();
    if (this.isOver) {
      return undefined;
    }
    const owned = this.#owned.get(key)?.shift() ?? this.#returned.shift();
    if (owned) {
      return this.#give(owned, key);
    }
    for (let assigned = this.#waiting.shift(); assigned; assigned = this.#waiting.shift()) {
      const owner = assigned.name === undefined ? undefined : this.#naming.ownerOf(assigned.name);
      if (owner === undefined || owner === key) {
        return this.#give(assigned, key);
      }
      this.#keepFor(owner, assigned); // a name that comes twice: its key refuses it
    }
    return undefined;
  }

  /** Reads on until enough jobs wait. */
  async #readAhead(): Promise<void> {
    const { size, isStream, isExhausted } = this.#reader;
    const ahead = isStream
      ? lookAhead.stream
      : size === undefined
        ? lookAhead.other
        : lookAhead.list;
    const most = ahead - this.#waiting.length;
    if (isExhausted || this.#isOver || most <= 0) {
      return;
    }
    const jobs = isStream ? await this.#reader.readStream() : this.#reader.readList(most);
    this.#open += jobs.length;
    await this.#sort(
      jobs.map((job) => ({ index: this.#index++, job, name: this.#naming.nameOf(job) })),
    );
    if (this.#reader.isExhausted) {
      this.wake();
    }
  }

  async #sort(read: readonly AssignedJob[]): Promise<void> {
    const names = read.flatMap(({ name }) => name ?? []);
    const owners = names.length > 0 ? await this.#naming.earlierOwners(names) : undefined;
    for (const assigned of read) {
      const name = assigned.name ?? '';
      const owner = owners?.get(name);
      if (owner !== undefined) {
        this.#keepFor(owner, assigned);
      } else if (owners?.has(name)) {
        this.end();
        this.#naming.onOwnerMissing(assigned);
      } else {
        this.#waiting.push(assigned);
      }
    }
    this.#waiting.sort(
      (one, other) =>
        estimatedMinutes(other.job) - estimatedMinutes(one.job) || one.index - other.index,
    );
  }

  #keepFor(owner: number, assigned: AssignedJob): void {
    const kept = this.#owned.get(owner) ?? [];
    kept.push(assigned);
    this.#owned.set(owner, kept);
    this.#wakeups[owner]?.notify();
  }

  #give(assigned: AssignedJob, key: number): AssignedJob {
    if (assigned.name !== undefined) {
      this.#naming.give(assigned.name, key);
    }
    return assigned;
  }

  // One reads at a time: a generator must not be asked twice at once.
  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(task);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
