import { InvalidRequestError } from '../../../core/errors.js';
import {
  brandOf,
  durationOf,
  estimatedMinutes,
  isVideo,
  needsOf,
  type MediaJob,
} from '../../generate/media-job.js';
import { isRecord, fingerprint } from '../../../core/values.js';
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

/**
 * Turns jobs of the input into entries of the queue, with what an earlier run did about them. Several keys
 * may have journals, or names of a project, of their own.
 */
export class Intake {
  /** The jobs by their place in the input. */
  readonly inputs = new Map<number, QueueInput>();
  readonly #keys: readonly IntakeParts[];
  readonly #naming: Naming;
  readonly #retriesFailed: boolean;
  readonly #names = new Set<string>();
  /** What jobs are called in the queue, by their place in the input. */
  readonly #nameAt = new Map<number, string>();
  #index = 0;

  constructor(keys: readonly IntakeParts[], naming: Naming, retriesFailed: boolean) {
    this.#keys = keys;
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
    const sound = entries.filter(({ problem }) => problem === undefined);
    const known = new Map<number, KnownJob>();
    for (const key of this.#keys) {
      const own = sound.map(({ entry }) => this.entryFor(entry, key));
      const found = await key.find(
        own.flatMap(({ name }) => name ?? []),
        this.#retriesFailed,
      );
      for (const { index, name } of own) {
        const job = found.get(name ?? '');
        if (job && known.get(index)?.state !== 'accepted') {
          known.set(index, job);
        }
      }
    }
    return entries.map((read) => {
      const job = known.get(read.entry.index);
      return { ...read, known: job, problem: read.problem ?? nameTaken(read.entry, job) };
    });
  }

  /** The same job as this key's journal calls it. */
  entryFor(entry: Entry, key: Pick<IntakeParts, 'nameOf'>): Entry {
    const name = this.#nameAt.get(entry.index);
    const { queue } = this.#naming;
    return name === undefined || queue === undefined
      ? entry
      : { ...entry, name: key.nameOf(queue, name) };
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
    const [key] = this.#keys;
    const broken = key?.problem(job);
    if (queue === undefined) {
      return { entry: base, problem: broken };
    }
    try {
      const name = jobOf(given);
      const entry = {
        ...base,
        name: key?.nameOf(queue, name),
        print: fingerprint(contentOf(job)),
      };
      const problem = broken ?? this.#duplicate(name);
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
