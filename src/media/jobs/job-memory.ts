import { monotonicMs } from '../../async/timers.js';
import type { FileKind } from '../status/intervals.js';

const manyJobs = 10_000;

/** Remembers the jobs that this client made, so that a wait knows what it waits for. */
export class JobMemory {
  readonly #jobs = new Map<string, { kind: FileKind; madeAt: number }>();

  add(fileId: string, kind: FileKind): void {
    this.#jobs.set(fileId, { kind, madeAt: monotonicMs() });
    if (this.#jobs.size <= manyJobs) {
      return;
    }
    const [oldest] = this.#jobs.keys();
    if (oldest !== undefined) {
      this.#jobs.delete(oldest);
    }
  }

  /** The kind and age of a job, as far as they are known. */
  recall(fileId: string): { kind: FileKind | undefined; ageMs: number | undefined } {
    const job = this.#jobs.get(fileId);
    return { kind: job?.kind, ageMs: job && monotonicMs() - job.madeAt };
  }
}
