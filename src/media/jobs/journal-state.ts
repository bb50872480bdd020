import type { JobRecord } from './job.js';
import type {
  JournalAnswer,
  JournalEntry,
  JournalIntent,
  NamedJob,
  PendingJobs,
} from './journal-types.js';

/** What the entries of a journal come to: the one reading of them, whoever stores them. */
export class JournalState {
  /** Intents that are not answered, with the jobs and names that are left of them. */
  readonly #open = new Map<string, JournalIntent>();
  readonly #jobs = new Map<string, JobRecord>();
  readonly #named = new Map<string, JobRecord>();
  /** The last status of each file that came to its end. */
  readonly #ends = new Map<string, string>();

  constructor(entries: Iterable<JournalEntry> = []) {
    for (const entry of entries) {
      this.apply(entry);
    }
  }

  apply(entry: JournalEntry): void {
    switch (entry.type) {
      case 'intent':
        this.#open.set(entry.id, entry);
        return;
      case 'accepted': {
        this.#accept(entry);
        return;
      }
      case 'refused':
        this.#open.delete(entry.id);
        return;
      case 'finished': {
        this.#finish(entry.fileId, entry.status, isFailure(entry.status));
        return;
      }
      case 'settled': {
        this.#finish(entry.fileId, entry.status, true);
        return;
      }
    }
  }

  /** What is known of the names that an intent may not take. */
  takenBy({ names = [], retriesFailed }: JournalIntent, now: number): Map<string, NamedJob> {
    const taken = this.find(names, now);
    for (const [name, job] of taken) {
      if (retriesFailed && job.state === 'accepted' && isFailure(job.status)) {
        taken.delete(name);
      }
    }
    return taken;
  }

  find(names: readonly string[], now: number): Map<string, NamedJob> {
    const claims = new Map<string, JournalIntent>();
    for (const intent of this.#open.values()) {
      for (const name of intent.names ?? []) {
        claims.set(name, intent);
      }
    }
    const found = new Map<string, NamedJob>();
    for (const name of names) {
      const known = this.#known(name, claims.get(name), now);
      if (known) {
        found.set(name, known);
      }
    }
    return found;
  }

  pending(): PendingJobs {
    const jobs = [...this.#jobs.values()];
    const finished = jobs.filter(({ fileId }) => this.#ends.has(fileId));
    return { jobs, finished, unknown: [...this.#open.values()].filter(hasJobs) };
  }

  /** The same in as few entries as possible. */
  compact(newId: () => string): JournalEntry[] {
    const { jobs, finished } = this.pending();
    const entries: JournalEntry[] = [];
    if (this.#named.size > 0) {
      const id = newId();
      const at = new Date(0).toISOString();
      entries.push({ type: 'intent', id, at, jobs: [], names: [...this.#named.keys()] });
      entries.push({ type: 'accepted', id, jobs: [...this.#named.values()] });
    }
    for (const { fileId } of this.#named.values()) {
      entries.push({ type: 'settled', fileId, status: this.#ends.get(fileId) ?? 'noted' });
    }
    if (jobs.length > 0) {
      entries.push({ type: 'accepted', id: newId(), jobs });
    }
    for (const { fileId } of finished) {
      entries.push({ type: 'finished', fileId, status: this.#ends.get(fileId) ?? 'success' });
    }
    return [...entries, ...this.#open.values()];
  }

  #accept({ id, jobs, unassigned = [] }: JournalAnswer): void {
    const intent = this.#open.get(id);
    for (const job of [...jobs, ...unassigned]) {
      if (job) {
        this.#jobs.set(job.fileId, job);
        this.#ends.delete(job.fileId);
      }
    }
    for (const [index, name] of (intent?.names ?? []).entries()) {
      const job = jobs[index];
      if (job) {
        this.#named.set(name, job);
      }
    }
    const rest = intent && withoutIds(intent, jobs);
    if (rest) {
      this.#open.set(id, rest);
    } else {
      this.#open.delete(id);
    }
  }

  #finish(fileId: string, status: string, isOver: boolean): void {
    if (!isFailure(this.#ends.get(fileId))) {
      this.#ends.set(fileId, status);
    }
    if (isOver) {
      this.#jobs.delete(fileId);
    }
  }

  // A job that is submitted again after its failure is what its new intent says.
  #known(name: string, claim: JournalIntent | undefined, now: number): NamedJob | undefined {
    const job = this.#named.get(name);
    if (job && !claim?.retriesFailed) {
      return { state: 'accepted', job, status: this.#ends.get(job.fileId) };
    }
    return claim && { state: 'claimed', id: claim.id, ageMs: now - Date.parse(claim.at) };
  }
}

/** Did a file with this status end without a result? */
function isFailure(status: string | undefined): boolean {
  return status === 'error' || status === 'canceled';
}

function hasJobs({ jobs }: JournalIntent): boolean {
  return jobs.length > 0;
}

/** What is left of an intent whose answer lacks ids: nobody knows about the jobs without one. */
function withoutIds(
  intent: JournalIntent,
  ids: readonly (JobRecord | null)[],
): JournalIntent | undefined {
  const jobs = intent.jobs.filter((_, index) => !ids[index]);
  const names = intent.names?.filter((_, index) => !ids[index]);
  if (jobs.length + (names?.length ?? 0) === 0) {
    return undefined;
  }
  return names ? { ...intent, jobs, names } : { ...intent, jobs };
}
