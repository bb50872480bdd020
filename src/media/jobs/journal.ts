import { fingerprint } from '../../contract/fingerprint.js';
import type { MediaJob } from '../generate/media-job.js';
import { ConfigurationError } from '../../errors/index.js';
import type { JobRecord } from './job.js';

/** What is written down about a job, before and after it is handed in. */
export type JournalEntry =
  | JournalIntent
  /** The service took the jobs: their ids, in the order of the intent. */
  | { readonly type: 'accepted'; readonly id: string; readonly jobs: readonly JobRecord[] }
  /** The call certainly did nothing. */
  | { readonly type: 'refused'; readonly id: string }
  /** A file has come to its end. */
  | { readonly type: 'settled'; readonly fileId: string; readonly status: string };

/** Jobs that are about to be handed in. Without a later entry nobody knows whether they were. */
export interface JournalIntent {
  readonly type: 'intent';
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  readonly jobs: readonly MediaJob[];
  /** The name of each job in a named queue, to know it again after a restart. */
  readonly names?: readonly string[];
}

/** Where a media client writes down its jobs, so that a crash loses none. */
export interface JobJournal {
  /** Resolves when the entry is safe. */
  append(entry: JournalEntry): Promise<void>;
  /** All entries, oldest first. */
  read(): Promise<readonly JournalEntry[]>;
}

/** What a journal says about jobs that are not finished. */
export interface PendingJobs {
  /** Jobs that the service took and that have not come to their end. */
  readonly jobs: readonly JobRecord[];
  /** Intents without ids: their jobs may have been handed in. They are never sent again. */
  readonly unknown: readonly JournalIntent[];
}

/** The journal of a client, for what cannot work without one. */
export function journalOf({ journal }: { journal?: JobJournal | undefined }): JobJournal {
  if (journal) {
    return journal;
  }
  throw new ConfigurationError(
    'This client has no journal. Create it with `new MediaClient({ journal })`.',
    { code: 'JOURNAL_MISSING' },
  );
}

/** A journal in memory: for tests, and for processes that never crash. */
export function memoryJournal(): JobJournal {
  const entries: JournalEntry[] = [];
  return {
    append: (entry) => Promise.resolve(void entries.push(entry)),
    read: () => Promise.resolve([...entries]),
  };
}

/** Reads out of a journal what is not finished. */
export function pendingIn(entries: readonly JournalEntry[]): PendingJobs {
  const intents = new Map<string, JournalIntent>();
  const jobs = new Map<string, JobRecord>();
  for (const entry of entries) {
    if (entry.type === 'intent') {
      intents.set(entry.id, entry);
    } else if (entry.type === 'settled') {
      jobs.delete(entry.fileId);
    } else if (entry.type === 'refused') {
      intents.delete(entry.id);
    } else {
      const rest = withoutIds(intents.get(entry.id), entry.jobs.length);
      if (rest) {
        intents.set(entry.id, rest);
      } else {
        intents.delete(entry.id);
      }
      for (const job of entry.jobs) {
        jobs.set(job.fileId, job);
      }
    }
  }
  return { jobs: [...jobs.values()], unknown: [...intents.values()] };
}

// An answer may have had too few ids: the fate of the jobs without one is unknown.
function withoutIds(intent: JournalIntent | undefined, ids: number): JournalIntent | undefined {
  if (!intent || intent.jobs.length <= ids) {
    return undefined;
  }
  const { jobs, names, ...rest } = intent;
  return { ...rest, jobs: jobs.slice(ids), ...(names && { names: names.slice(ids) }) };
}

/** What an earlier run of a named queue did with its jobs, by their names. */
export function earlierRun(
  entries: readonly JournalEntry[],
): ReadonlyMap<string, JobRecord | 'unknown'> {
  const names = new Map<string, readonly string[]>();
  const run = new Map<string, JobRecord | 'unknown'>();
  for (const entry of entries) {
    if (entry.type === 'settled') {
      continue;
    }
    const known = names.get(entry.id) ?? [];
    if (entry.type === 'intent') {
      names.set(entry.id, entry.names ?? []);
      for (const name of entry.names ?? []) {
        run.set(name, 'unknown');
      }
    } else if (entry.type === 'accepted') {
      entry.jobs.forEach((job, index) => {
        const name = known[index];
        if (name !== undefined) {
          run.set(name, job);
        }
      });
    } else {
      for (const name of known) {
        run.delete(name);
      }
    }
  }
  return run;
}

/** Names the jobs of a queue by what they are, so that they are known again in any order. */
export function jobNamer(queue: string): (job: MediaJob) => string {
  const seen = new Map<string, number>();
  return (job) => {
    const content = fingerprint(JSON.stringify([job]));
    const count = seen.get(content) ?? 0;
    seen.set(content, count + 1);
    return `${queue}/${content}/${count}`;
  };
}
