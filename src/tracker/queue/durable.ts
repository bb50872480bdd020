// What a page can start without, loaded once it has started: IndexedDB, and the events of other tabs.
export { openDatabase } from './database.js';
export { adoptOrphans } from './orphans.js';
