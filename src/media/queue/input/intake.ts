import { InvalidRequestError } from '../../../errors/index.js';
import {
  brandOf,
  durationOf,
  estimatedMinutes,
  isVideo,
  needsOf,
  type MediaJob,
} from '../../generate/media-job.js';
import { isRecord } from '../../../contract/records.js';
import { fingerprint } from '../../../contract/fingerprint.js';
import { contentOf } from '../../jobs/job-names.js';
import type { KnownJob } from '../../jobs/journal-types.js';
import { nameTaken } from '../names.js';
import type { ReadEntry } from '../steps/events.js';
import type { Entry } from '../steps/jobs.js';

/** What the reading of a queue's input needs. */
export interface IntakeParts {
  /** What breaks a rule of the document in one job. */
  problem(job: MediaJob): unknown;
  /** The name of a job in the journal. */
  nameOf(queue: string, job: string): string;
  /** What the journal knows of named jobs. */
  find(names: readonly string[], retriesFailed: boolean): Promise<ReadonlyMap<string, KnownJob>>;
}

/** A job as the caller gave it, for the result, and a copy for the service, which later changes do not reach. */
export interface QueueInput {
  readonly given: MediaJob;
  readonly job: MediaJob;
}

/** How the jobs of one queue are told apart. */
export interface Naming {
  /** The name of the queue; `undefined` where nothing is remembered. */
  readonly queue: string | undefined;
  /** The name of a job in it. */
  readonly jobOf: (job: MediaJob) => string;
  /** May a name come again once its job has ended, as when a job engine tries again? */
  readonly mayRecur: boolean;
}

/** Turns jobs of the input into entries of the queue, with what an earlier run did about them. */
export class Intake {
  /** The jobs by their place in the input. */
  readonly inputs = new Map<number, QueueInput>();
  readonly #parts: IntakeParts;
  readonly #naming: Naming;
  readonly #retriesFailed: boolean;
  readonly #names = new Set<string>();
  readonly #nameAt = new Map<number, string>();
  #index = 0;

  constructor(parts: IntakeParts, naming: Naming, retriesFailed: boolean) {
    this.#parts = parts;
    this.#naming = naming;
    this.#retriesFailed = retriesFailed;
  }

  /** How many jobs were read. */
  get count(): number {
    return this.#index;
  }

  /** Do the jobs of this queue have names that the journal may know? */
  get isNamed(): boolean {
    return this.#naming.queue !== undefined;
  }

  entries(jobs: readonly MediaJob[]): ReadEntry[] {
    return jobs.map((job) => this.#entry(job));
  }

  /** The same with what the journal knows. A name that stands for other content is refused. */
  async known(entries: readonly ReadEntry[]): Promise<ReadEntry[]> {
    const names = entries.flatMap(({ entry, problem }) =>
      problem === undefined ? (entry.name ?? []) : [],
    );
    const found = await this.#parts.find(names, this.#retriesFailed);
    return entries.map((read) => {
      const { entry, problem } = read;
      const known = problem === undefined ? found.get(entry.name ?? '') : undefined;
      return { ...read, known, problem: problem ?? nameTaken(entry, known) };
    });
  }

  /** A job has ended. */
  forget(index: number): void {
    this.inputs.delete(index);
    const name = this.#nameAt.get(index);
    this.#nameAt.delete(index);
    if (name !== undefined && this.#naming.mayRecur) {
      this.#names.delete(name);
    }
  }

  #entry(given: MediaJob): ReadEntry {
    const index = this.#index++;
    const job = copyOf(given);
    this.inputs.set(index, { given, job });
    const kind = isVideo(job) ? 'video' : 'audio';
    const base: Entry = {
      index,
      kind,
      minutes: estimatedMinutes(job),
      brand: brandOf(job),
      needs: needsOf(job),
      duration: durationOf(job),
      name: undefined,
      print: undefined,
    };
    const { queue, jobOf } = this.#naming;
    if (queue === undefined) {
      return { entry: base, problem: this.#parts.problem(job) };
    }
    try {
      const name = this.#parts.nameOf(queue, jobOf(given));
      const entry = { ...base, name, print: fingerprint(contentOf(job)) };
      const problem = this.#parts.problem(job) ?? this.#duplicate(name);
      if (problem === undefined) {
        this.#nameAt.set(index, name);
      }
      return { entry, problem };
    } catch (error) {
      return { entry: base, problem: error }; // the caller's key() threw
    }
  }

  #duplicate(name: string): InvalidRequestError | undefined {
    const isKnown = this.#names.has(name);
    this.#names.add(name);
    return isKnown
      ? new InvalidRequestError('Another job of this queue has the same `key`.', {
          code: 'DUPLICATE_KEY',
          outcome: 'not-sent',
        })
      : undefined;
  }
}

// What the caller changes later must not change what is submitted.
function copyOf(job: MediaJob): MediaJob {
  const hasOwnForm =
    isRecord(job) && typeof (job as Record<string, unknown>)['toJSON'] === 'function';
  try {
    return hasOwnForm ? (JSON.parse(JSON.stringify(job)) as MediaJob) : structuredClone(job); // as it is sent
  } catch {
    return job; // what cannot be copied cannot be sent either
  }
}
