import { createCallJournal, type CallJournal } from '../../core/once/call-journal.js';
import type { KeyScope } from '../../core/once/key-scope.js';
import { invalidRequest } from '../../core/errors.js';
import { requireList } from '../status/wait-options.js';
import { ledgerOf, type JobLedger, type PendingJobs } from './ledger.js';

/** Reads and changes a client's journal. */
export interface JobRecords extends CallJournal {
  /** Reads what is not settled: jobs in progress, finished files that are not saved, unknown calls. */
  pending(): Promise<PendingJobs>;
  /** Marks a file as saved: `pending()` no longer lists it. */
  acknowledge(fileId: string): Promise<void>;
  /**
   * Removes a file, or the call with this id, from the `pending()` list. The keys of a dismissed call are
   * free: its jobs may be submitted again.
   */
  dismiss(id: string): Promise<void>;
  /**
   * Records which files the jobs of an unknown call became, in the order of its jobs; `null` for a job
   * that stays unknown.
   */
  resolve(callId: string, fileIds: readonly (string | null)[]): Promise<void>;
}

/** Creates the `journal` of a client. Without a journal each of its calls rejects. */
export function jobRecords(ledger: JobLedger | undefined, keys: KeyScope | undefined): JobRecords {
  return {
    ...createCallJournal(keys),
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

/** Rejects a value that cannot be an id of the media service, whose ids are strings. */
export function requireTextId(field: string, value: unknown): asserts value is string {
  if (typeof value !== 'string' || value === '') {
    throw invalidRequest([{ field, message: 'must be an id, as a string' }]);
  }
}
