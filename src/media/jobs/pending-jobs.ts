import { systemClock } from '../../core/async.js';
import { Journal } from '../../journal/journal.js';
import type { JournalStore } from '../../journal/store.js';
import { isJobKey, mediaPrefix, Pending } from './journal.js';
import type { PendingJobs } from './journal-types.js';

/** What is not settled in a journal, of all projects that share it, without a client. */
export async function pendingJobs(store: JournalStore): Promise<PendingJobs> {
  const parts = { store, prefix: mediaPrefix, clock: systemClock, onTrouble: () => undefined };
  const pending = new Pending();
  for await (const attempt of new Journal(parts).attempts()) {
    if (isJobKey(attempt.name)) {
      pending.add(attempt);
    }
  }
  return pending.result;
}
