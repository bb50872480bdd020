import { NAME, openDatabase } from './database.js';
import { LONGEST_WAIT } from '../send/delay.js';
import { locks } from './locks.js';
import { PREFIX, type StoredRecord, isExpired } from './record.js';
import type { Tab } from '../tab.js';

// Both stores as one. localStorage survives the end of a page, IndexedDB a killed browser; each
// event has a key of its own, so that tabs cannot overwrite each other.

/** Finds the stores and moves in what was held back until consent. */
export const open = async (tab: Tab): Promise<void> => {
  if (tab.storage === 'memory') {
    return;
  }
  try {
    // On a server the look at `document` throws, whatever else it has. localStorage is `null` in
    // some web views: `Object` makes it memory.
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- for the throw alone
    tab.local = Object(document && localStorage) as Tab['local'];
    // Held for life: whoever asks for the names of all locks knows which tabs are gone. Nobody
    // takes the lock of another tab, so it never has to be waited for.
    void locks()?.request(
      tab.owner,
      () =>
        new Promise<void>((release) => {
          tab.release = release;
        }),
    );
    for (const record of tab.records) {
      void save(tab, record);
    }
    tab.transact ??= await openDatabase();
  } catch {
    // Forbidden: memory it is.
  }
};

/** Writes to localStorage; false when there is no room. */
const write = ({ local }: Tab, key: string, text: string): boolean => {
  try {
    local[key] = text;
    return true;
  } catch {
    return false;
  }
};

/**
 * Writes an event, to localStorage at once; true when it belongs to another tab by now. What
 * localStorage has no room for is not written at all: at the end of the page nothing could note
 * that it was handed over.
 */
export const save = async (tab: Tab, record: StoredRecord): Promise<boolean | undefined> =>
  write(tab, record.id, JSON.stringify(record)) && putNewer(tab, record);

/**
 * Stores a record unless a copy as new is there: one transaction, so that of two tabs that want
 * the same event exactly one gets it. True when another one was first.
 */
const putNewer = ({ transact }: Tab, { ...copy }: StoredRecord) =>
  transact?.<boolean>((events, resolve) => {
    // Only this function fills the database.
    const request = events.get(copy.id) as IDBRequest<StoredRecord | undefined>;
    request.onsuccess = () => {
      if (copy.version > (request.result?.version ?? 0)) {
        events.put(copy, copy.id);
      } else {
        resolve(true);
      }
    };
  });

/** Removes an event for good: its tombstone wins over copies that a crash brings back. */
export const bury = (tab: Tab, { id, at }: StoredRecord): void => {
  // A page that was left may die before the tombstone is written: then the mark must stay.
  if (tab.isOwner !== false) {
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- keys are properties here
    delete tab.local[id];
  }
  void putNewer(tab, { id, at, version: Infinity });
};

/** What localStorage holds, of all tabs. */
export const textsOf = ({ local }: Tab): string[] =>
  Object.entries(local).flatMap(([key, text]) => (key.startsWith(PREFIX) && text) || []);

/** The newest copies of all events that are not this tab's, tombstones included. */
export const readForeign = async (tab: Tab): Promise<StoredRecord[]> => {
  const newest: Record<string, StoredRecord> = {};
  await tab.transact?.<unknown>((events, resolve) => {
    const request = events.getAll() as IDBRequest<StoredRecord[]>;
    request.onsuccess = () => {
      for (const record of request.result) {
        newest[record.id] = record;
        // A tombstone that nobody needs any more.
        if (!record.event && isExpired(tab, record)) {
          events.delete(record.id);
        }
      }
      resolve(0);
    };
  });
  try {
    for (const text of textsOf(tab).sort()) {
      // What `save` wrote, the id first; anything else must not stop the queue.
      const record = JSON.parse(text) as StoredRecord;
      const known = newest[record.id];
      if (!known || known.version < record.version) {
        newest[record.id] = record;
      } else if (!known.event) {
        bury(tab, record);
      }
    }
  } catch {
    // Not ours.
  }
  return Object.values(newest).filter((record) => record.owner !== tab.owner);
};

/** True while every tab must wait. A clock set back since then ends the wait. */
export const isHeld = ({ local }: Tab): boolean => {
  // eslint-disable-next-line @typescript-eslint/no-non-null-assertion -- absent: NaN, no wait
  const waitMs = +local[NAME]! - Date.now();
  return waitMs > 0 && waitMs <= LONGEST_WAIT;
};

/** Makes every tab wait; false when there is no room to note it. */
export const hold = (tab: Tab, delayMs: number): boolean =>
  write(tab, NAME, `${Date.now() + delayMs}`);
