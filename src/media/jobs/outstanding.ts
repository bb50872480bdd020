import { monotonicMs } from '../../core/async.js';

/** A job that was submitted beside a queue and whose end was not seen yet. */
export interface OutstandingJob {
  readonly fileId: string;
  /** When it was submitted, on the clock that only goes forward. */
  readonly since: number;
}

// The oldest of so many have come to their end by all likelihood.
const maxJobs = 1_000;

/** The jobs of one project that take slots beside its queues. */
export class OutstandingJobs {
  readonly #jobs = new Map<string, OutstandingJob>();
  readonly #listeners = new Set<() => void>();

  get size(): number {
    return this.#jobs.size;
  }

  [Symbol.iterator](): Iterator<OutstandingJob> {
    return this.#jobs.values();
  }

  add(fileId: string): void {
    this.#jobs.set(fileId, { fileId, since: monotonicMs() });
    const [oldest] = this.#jobs.keys();
    if (this.#jobs.size > maxJobs && oldest !== undefined) {
      this.#jobs.delete(oldest);
    }
    this.#tell();
  }

  /** The job has come to its end, or is taken for ended. */
  end(fileId: string): void {
    if (this.#jobs.delete(fileId)) {
      this.#tell();
    }
  }

  /** Calls back with every change; returns a way to stop listening. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(): void {
    for (const listener of this.#listeners) {
      listener();
    }
  }
}

const projects = new Map<string, OutstandingJobs>();

/** The outstanding jobs of a project, shared by all clients of the process. */
export function outstandingJobs(project: string): OutstandingJobs {
  const known = projects.get(project) ?? new OutstandingJobs();
  projects.set(project, known);
  return known;
}
