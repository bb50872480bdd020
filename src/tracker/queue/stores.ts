import type { Tab } from '../tab.js';
import type { DropReason } from '../types.js';
import { openDatabase } from './database.js';
import { erase, isAlive, mayClaim, newest, noteErasure } from './protocol.js';
import { type StoredRecord, isExpired, tombstoneOf } from './record.js';

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

/** Changes IndexedDB. Committed at once, so that the end of the page does not undo it. */
const commit = async (tab: Tab, work: (events: IDBObjectStore) => unknown) =>
  tab.transact?.<boolean>((events, resolve, transaction) => {
    transaction.oncomplete = () => resolve(true);
    work(events);
    // Absent in old browsers, whatever the types say.
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- see above
    transaction.commit?.();
  });

/** Writes records to IndexedDB; true when it has them. */
export const put = (tab: Tab, records: readonly StoredRecord[]) =>
  commit(tab, (events) => {
    for (const record of records) {
      events.put(record, record.id);
    }
  });

/**
 * Writes a record unless another copy than `seen` is there or it was erased: one transaction, so
 * that of two tabs that want the same event exactly one gets it. False when another one was first.
 */
export const putIfSeen = async (tab: Tab, record: StoredRecord, seen: StoredRecord) =>
  tab.transact?.<boolean>((events, resolve, transaction) => {
    // Only this module fills the database.
    const erasure = events.get(tab.prefix) as IDBRequest<StoredRecord | undefined>;
    const request = events.get(record.id) as IDBRequest<StoredRecord | undefined>;
    request.onsuccess = () => {
      const isWon = mayClaim(seen, request.result, erasure.result);
      if (isWon) {
        events.put(record, record.id);
      }
      transaction.oncomplete = () => resolve(isWon);
    };
  });

/** Replaces an event by its tombstone, which wins over copies that a crash brings back. */
export const bury = async (tab: Tab, record: StoredRecord): Promise<void> => {
  const tombstone = tombstoneOf(record);
  write(tab, record.id, tombstone);
  // Not before IndexedDB has it: an older copy may be there.
  if (await put(tab, [tombstone])) {
    remove(tab, record.id);
  }
};

/** Erases all events of all tabs from both stores; localStorage at once. */
export const eraseAll = async (tab: Tab, reason: DropReason, isAsked?: boolean): Promise<void> => {
  openLocal(tab);
  const keys = keysOf(tab);
  const erasure = erase(tab, reason, readLocal(tab));
  for (const key of keys) {
    remove(tab, key);
  }
  // Without consent nothing is written where nothing was.
  if (isAsked || keys[0]) {
    write(tab, erasure.id, erasure);
  }
  // At once where it is open: the page may end.
  if (!tab.transact) {
    await openDatabase(tab);
  }
  await commit(tab, (events) => {
    events.clear();
    events.put(erasure, erasure.id);
  });
};

const readLocal = (tab: Tab) => keysOf(tab).flatMap((key) => read(tab, key) ?? []);

/** The newest copies of all records, tombstones included, after noting what was erased. */
export const readAll = async (tab: Tab): Promise<StoredRecord[]> => {
  const stored = await tab.transact?.<StoredRecord[]>((events, resolve) => {
    const request = events.getAll() as IDBRequest<StoredRecord[]>;
    request.onsuccess = () => resolve(request.result);
  });
  const found = newest([...(stored ?? []), ...readLocal(tab)]);
  const erasure = found.find(({ id }) => id === tab.prefix);
  noteErasure(tab, erasure);
  return found;
};

/** Removes what is finished from the stores; its tombstone stays until it is too old. */
export const cleanUp = (tab: Tab, found: readonly StoredRecord[]): void => {
  for (const record of found) {
    const { id, at } = record;
    if (isAlive(tab, record) || id === tab.prefix) {
      continue;
    }
    if (at <= tab.erasedAt || isExpired(record, tab.maxAgeMs, Date.now())) {
      remove(tab, id);
      void commit(tab, (events) => events.delete(id));
    } else if (tab.local[id]) {
      void bury(tab, record);
    }
  }
};

const remove = ({ local }: Tab, key: string): void => {
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- keys are properties here
  delete local[key];
};
