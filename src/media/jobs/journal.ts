import { ConfigurationError } from '../../errors/index.js';
import { JournalState } from './journal-state.js';
import type { JobJournal, JournalEntry, LoggedJournal } from './journal-types.js';

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
export function memoryJournal(): LoggedJournal {
  const entries: JournalEntry[] = [];
  const state = new JournalState();
  const write = (entry: JournalEntry) => {
    entries.push(entry);
    state.apply(entry);
  };
  return {
    // eslint-disable-next-line @typescript-eslint/require-await -- one step, as the interface says
    async claim(intent) {
      const taken = state.takenBy(intent, Date.now());
      if (taken.size === 0) {
        write(intent);
      }
      return taken;
    },
    append(entry) {
      write(entry);
      return Promise.resolve();
    },
    find: (names) => Promise.resolve(state.find(names, Date.now())),
    pending: () => Promise.resolve(state.pending()),
    read: () => Promise.resolve([...entries]),
  };
}
