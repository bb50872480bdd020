import { InvalidRequestError } from '../../../errors/index.js';
import {
  brandOf,
  estimatedMinutes,
  formatOf,
  isVideo,
  type MediaJob,
} from '../../generate/media-job.js';
import { jobNamer, type JobName } from '../../jobs/job-names.js';
import type { NamedJob } from '../../jobs/journal-types.js';
import type { QueueOptions } from '../options.js';
import type { ReadEntry } from '../steps/events.js';
import type { Entry } from '../steps/jobs.js';

/** What the reading of a queue's input needs. */
export interface IntakeParts {
  /** What breaks a rule of the document in one job. */
  problem(job: MediaJob): unknown;
  /** What the journal knows of named jobs. */
  find(names: readonly string[]): Promise<ReadonlyMap<string, NamedJob>>;
}

/** A job that was read, with its names. */
interface Named extends ReadEntry {
  readonly formerName: string | undefined;
}

/** Turns jobs of the input into entries of the queue, with what an earlier run did about them. */
export class Intake {
  /** The jobs as they were given, by their place in the input. */
  readonly inputs = new Map<number, MediaJob>();
  readonly #parts: IntakeParts;
  readonly #nameOf: ((job: MediaJob) => JobName) | undefined;
  readonly #retriesFailed: boolean;
  readonly #names = new Set<string>();
  /** May a key come again once its job has ended, as when a job engine tries again? */
  readonly #mayRecur: boolean;
  #index = 0;

  constructor(parts: IntakeParts, { name, key, retryFailed }: QueueOptions, mayRecur = false) {
    this.#parts = parts;
    this.#mayRecur = mayRecur;
    this.#nameOf = name === undefined ? undefined : jobNamer(name, key);
    this.#retriesFailed = retryFailed ?? false;
  }

  /** How many jobs were read. */
  get count(): number {
    return this.#index;
  }

  /** Do the jobs of this queue have names that the journal may know? */
  get isNamed(): boolean {
    return this.#nameOf !== undefined;
  }

  entries(jobs: readonly MediaJob[]): Named[] {
    return jobs.map((job) => this.#entry(job));
  }

  /** The same with what the journal knows. */
  async known(entries: readonly Named[]): Promise<ReadEntry[]> {
    const names = entries.flatMap(({ entry, formerName }) => [entry.name, formerName]);
    const found = await this.#parts.find(names.filter((name) => name !== undefined));
    return entries.map((read) => {
      const { entry, formerName } = read;
      const known = found.get(entry.name ?? '') ?? found.get(formerName ?? '');
      const isAgain = this.#retriesFailed && known?.state === 'accepted' && isFailure(known.status);
      return { ...read, known: isAgain ? undefined : known };
    });
  }

  /** A job has ended. */
  forget(index: number): void {
    const job = this.inputs.get(index);
    this.inputs.delete(index);
    if (job !== undefined && this.#mayRecur) {
      this.#names.delete(this.#nameOf?.(job).name ?? '');
    }
  }

  #entry(job: MediaJob): Named {
    const index = this.#index++;
    this.inputs.set(index, job);
    const kind = isVideo(job) ? 'video' : 'audio';
    const base: Entry = {
      index,
      kind,
      minutes: estimatedMinutes(job),
      format: formatOf(job),
      brand: brandOf(job),
      name: undefined,
    };
    try {
      const names = this.#nameOf?.(job);
      const problem = this.#parts.problem(job) ?? this.#duplicate(names?.name);
      const entry = { ...base, name: names?.name };
      return { entry, formerName: names?.formerName, problem };
    } catch (error) {
      return { entry: base, formerName: undefined, problem: error }; // the caller's key() threw
    }
  }

  #duplicate(name: string | undefined): InvalidRequestError | undefined {
    if (name === undefined) {
      return undefined;
    }
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

function isFailure(status: string | undefined): boolean {
  return status === 'error' || status === 'canceled';
}
