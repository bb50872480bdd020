import { requireTextId } from '../../core/values.js';
import { requireList } from '../lazy-queue.js';
import { journalOf, type MediaJournal } from './journal.js';
import type { PendingJobs } from './journal-types.js';

/** What a client's journal knows, and what the caller may say to it. */
export interface JobRecords {
  /** What is not settled: jobs in progress, finished files that are not saved, unknown calls. */
  pending(): Promise<PendingJobs>;
  /** The file is saved: it is listed no more. */
  acknowledge(fileId: string): Promise<void>;
  /**
   * Lists a file, or the call with this id, no more. The names of a dismissed call are free: a named
   * queue submits its jobs again.
   */
  dismiss(id: string): Promise<void>;
  /**
   * Says which files the jobs of an unknown call became, in the order of its jobs; `null` for a job
   * that stays unknown.
   */
  resolve(callId: string, fileIds: readonly (string | null)[]): Promise<void>;
}

/** Reads and changes the journal of a client; each call refuses when there is none. */
export function jobRecords(client: { readonly journal: MediaJournal | undefined }): JobRecords {
  return {
    pending: async () => journalOf(client).pending(),
    acknowledge: async (fileId) => {
      requireTextId('fileId', fileId);
      const journal = journalOf(client);
      await journal.settle(fileId, 'saved');
      await journal.flush();
    },
    dismiss: async (id) => {
      requireTextId('id', id);
      const journal = journalOf(client);
      await journal.dismiss(id);
      await journal.flush();
    },
    resolve: async (callId, fileIds) => {
      requireList('fileIds', fileIds);
      for (const fileId of fileIds.filter((one) => one !== null)) {
        requireTextId('fileIds', fileId);
      }
      await journalOf(client).resolve(callId, fileIds);
    },
  };
}
