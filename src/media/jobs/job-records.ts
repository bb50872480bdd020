import { isVideo } from '../generate/media-job.js';
import { InvalidRequestError } from '../../errors/index.js';
import { journalOf } from './journal.js';
import type { JobJournal, JournalIntent, PendingJobs } from './journal-types.js';

/** What a client's journal knows, and what the caller may say to it. */
export interface JobRecords {
  /** What is not settled: jobs in progress, finished files that are not saved, unknown intents. */
  pending(): Promise<PendingJobs>;
  /** The file is saved: it is listed no more. */
  acknowledge(fileId: string): Promise<void>;
  /**
   * Lists a file, or the intent with this id, no more. The names of a dismissed intent are free: a
   * named queue submits its jobs again.
   */
  dismiss(id: string): Promise<void>;
  /**
   * Says which files the jobs of an unknown intent became, in the order of its jobs; `null` for a job
   * that stays unknown.
   */
  resolve(intentId: string, fileIds: readonly (string | null)[]): Promise<void>;
}

/** Reads and changes the journal of a client's options; each call refuses when there is none. */
export function jobRecords(options: { journal?: JobJournal | undefined }): JobRecords {
  return {
    pending: async () => journalOf(options).pending(),
    acknowledge: async (fileId) =>
      journalOf(options).append({ type: 'settled', fileId, status: 'saved' }),
    dismiss: async (id) => dismiss(journalOf(options), id),
    resolve: async (intentId, fileIds) => resolve(journalOf(options), intentId, fileIds),
  };
}

async function dismiss(journal: JobJournal, id: string): Promise<void> {
  const { unknown } = await journal.pending();
  const isIntent = unknown.some((intent) => intent.id === id);
  await journal.append(
    isIntent ? { type: 'refused', id } : { type: 'settled', fileId: id, status: 'dismissed' },
  );
}

async function resolve(
  journal: JobJournal,
  intentId: string,
  fileIds: readonly (string | null)[],
): Promise<void> {
  const { unknown } = await journal.pending();
  const intent = unknown.find(({ id }) => id === intentId);
  if (!intent) {
    throw refusal(`The journal has no unknown intent ${intentId}.`, 'INTENT_UNKNOWN');
  }
  if (fileIds.length !== intent.jobs.length) {
    const message = `The intent ${intentId} has ${intent.jobs.length} jobs, not ${fileIds.length}.`;
    throw refusal(message, 'INVALID_REQUEST');
  }
  const given = fileIds.filter((fileId) => fileId !== null);
  if (new Set(given).size < given.length) {
    throw refusal('Each job has a file of its own: a file id came twice.', 'INVALID_REQUEST');
  }
  await journal.append({ type: 'accepted', id: intentId, jobs: recordsOf(intent, fileIds) });
}

function refusal(message: string, code: string): InvalidRequestError {
  return new InvalidRequestError(message, { code, outcome: 'not-sent' });
}

function recordsOf({ jobs }: JournalIntent, fileIds: readonly (string | null)[]) {
  return jobs.map((job, index) => {
    const fileId = fileIds[index] ?? undefined;
    const kind = isVideo(job) ? ('video' as const) : ('audio' as const);
    return fileId === undefined ? null : { fileId, kind };
  });
}
