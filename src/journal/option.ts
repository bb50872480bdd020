import { withMethods } from '../core/options.js';
import type { JournalStore } from './store.js';

/** A journal among the options of a client, known by its methods. */
export const journalKind = withMethods<JournalStore>(
  'a journal, such as `fileJournal(path)` of postreel/node',
  ...(['swap', 'get', 'list'] as const),
);
