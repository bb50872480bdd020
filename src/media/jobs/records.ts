import { callJournal, type CallJournal, type KeyScope } from '../../core/once.js';
import { requireTextId } from '../../core/values.js';
import { requireList } from '../status/wait-options.js';
import { ledgerOf, type JobLedger, type PendingJobs } from './ledger.js';

/** What a client's journal knows, and what the caller may say to it. */
export interface JobRecords extends CallJournal {
  /** What is not settled: jobs in progress, finished files that are not saved, unknown calls. */
  pending(): Promise<PendingJobs>;
  /** The file is saved: it is listed no more. */
  acknowledge(fileId: string): Promise<void>;
  /**
   * Lists a file, or the call with this id, no more. The keys of a dismissed call are free: its jobs may
   * be submitted again.
   */
  dismiss(id: string): Promise<void>;
  /**
   * Says which files the jobs of an unknown call became, in the order of its jobs; `null` for a job
   * that stays unknown.
   */
  resolve(callId: string, fileIds: readonly (string | null)[]): Promise<void>;
}

/** Reads and changes the journal of a client; each call refuses when there is none. */
export function jobRecords(ledger: JobLedger | undefined, keys: KeyScope | undefined): JobRecords {
  return {
    ...callJournal(keys),
    pending: async () => ledgerOf(ledger).pending(),
    acknowledge: async (fileId) => {
      requireTextId('fileId', fileId);
      await ledgerOf(ledger).settle(fileId, 'saved');
      await ledgerOf(ledger).flush();
    },
    dismiss: async (id) => {
      requireTextId('id', id);
      await ledgerOf(ledger).dismiss(id);
    },
    resolve: async (callId, fileIds) => {
      requireList('fileIds', fileIds);
      for (const fileId of fileIds.filter((one) => one !== null)) {
        requireTextId('fileIds', fileId);
      }
      await ledgerOf(ledger).resolve(callId, fileIds);
    },
  };
}
