import type { Tab } from '../tab.js';
import type { DropReason } from '../types.js';
import { openDatabase } from './database.js';
import { erase } from './protocol.js';
import { type StoredRecord, tombstoneOf } from './record.js';

// localStorage survives the end of a page, IndexedDB a killed browser; each event has a key of its
// own in both, so that tabs cannot overwrite each other.

/** Finds localStorage; where it is forbidden, memory stays. */
export const openLocal = (tab: Tab): void => {
  try {
    // `null` in some web views: `Object` makes it memory.
    if (tab.storage !== 'memory') {
      tab.local = Object(localStorage) as Tab['local'];
    }
  } catch {
    // Forbidden.
  }
};

/** Writes to localStorage; false when there is no room. */
export const write = ({ local }: Tab, key: string, value: unknown): boolean => {
  try {
    local[key] = JSON.stringify(value);
    return true;
  } catch {
    return false;
  }
};

/** What a key of localStorage holds, if it is a record of ours. */
export const read = ({ local }: Tab, key: string): StoredRecord | undefined => {
  try {
    const record = JSON.parse(`${local[key]}`) as StoredRecord;
    // Others may have left anything under our prefix.
    if (record.id === key) {
      return record;
    }
  } catch {
    // Not ours.
  }
  return undefined;
};

/** The keys of localStorage that are ours, of all tabs. */
export const keysOf = ({ local, prefix }: Tab): string[] =>
  Object.keys(local).filter((key) => key.startsWith(prefix));

/** Replaces an event by its tombstone, which wins over copies that a crash brings back. */
export const bury = async (tab: Tab, record: StoredRecord): Promise<void> => {
  const tombstone = tombstoneOf(record);
  write(tab, record.id, tombstone);
  // Not before IndexedDB has it: an older copy may be there.
  if (await tab.database?.put([tombstone])) {
    remove(tab, record.id);
  }
};

/** Erases all events of all tabs from both stores; localStorage at once. */
export const eraseAll = async (tab: Tab, reason: DropReason, isAsked?: boolean): Promise<void> => {
  openLocal(tab);
  const keys = keysOf(tab);
  const copies = keys.flatMap((key) => read(tab, key) ?? []);
  const erasure = erase(tab, reason, copies);
  keys.forEach((key) => remove(tab, key));
  // Without consent nothing is written where nothing was.
  if (isAsked || keys[0]) {
    write(tab, erasure.id, erasure);
  }
  // At once where it is open: the page may end.
  if (!tab.database) {
    await openDurable(tab);
  }
  await tab.database?.clear(erasure);
};

/** Opens IndexedDB; where it cannot be opened, localStorage has to do. */
export const openDurable = async (tab: Tab): Promise<void> => {
  if (tab.storage !== 'memory') {
    tab.database ??= await openDatabase(tab);
  }
};

const remove = ({ local }: Tab, key: string): void => {
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- keys are properties here
  delete local[key];
};
