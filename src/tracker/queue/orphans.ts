import type { Tab } from '../tab.js';
import { sleep } from '../send/wait.js';
import { adopt, newest } from './adoption.js';
import { isAlive, isExpired, noteErasure } from './protocol.js';
import type { StoredRecord } from './record.js';
import { Life } from './state.js';

/** Takes over the events of tabs that are gone; true while other tabs have events. */
export const adoptOrphans = async (tab: Tab): Promise<boolean | undefined> => {
  if (tab.database) {
    return adoptNow(tab);
  }
  // Nothing else can tell that exactly one tab gets each.
  return locks()?.request(`${tab.prefix}adopt`, { ifAvailable: true }, async (lock) => {
    if (!lock) {
      return true;
    }
    tab.isAlone = true;
    const isMore = await adoptNow(tab);
    // What was taken over is written by then.
    await sleep(100);
    tab.isAlone = undefined;
    return isMore;
  });
};

const adoptNow = async (tab: Tab): Promise<boolean> => {
  const before = await livingTabs();
  // What a tab wrote while leaving may reach this process later than the end of its lock.
  await sleep(1000);
  const records = await readAll(tab);
  // A tab that has started since then asked for its lock before it wrote its first event.
  const living = before + (await livingTabs());
  if (tab.life === Life.Open) {
    adopt(tab, { records, living: locks() && living });
  }
  cleanUp(tab, records);
  return records.some((record) => isAlive(tab, record) && record.owner !== tab.owner);
};

/** Absent in an insecure context and in old browsers, whatever the types say. */
const locks = (): LockManager | undefined => navigator.locks;

/** A text with the names of all tabs that live, also of those that are just starting. */
const livingTabs = async (): Promise<string> => JSON.stringify([await locks()?.query()]);

/** The newest copies of all records, tombstones included, after noting what was erased. */
const readAll = async (tab: Tab): Promise<StoredRecord[]> => {
  const stored = await tab.database?.readAll();
  const noted = Object.keys(tab.local).flatMap((key) => {
    const copy = key.startsWith(tab.prefix) && tab.copyOf(key);
    return copy || [];
  });
  const found = newest([...(stored ?? []), ...noted]);
  noteErasure(
    tab,
    found.find(({ id }) => id === tab.prefix),
  );
  return found;
};

/** Removes what is finished from the stores; its tombstone stays until it is too old. */
const cleanUp = (tab: Tab, found: readonly StoredRecord[]): void => {
  for (const record of found) {
    const { id, at } = record;
    if (isAlive(tab, record) || id === tab.prefix) {
      continue;
    }
    if (at <= tab.erasedAt || isExpired(tab, record)) {
      // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- keys are properties here
      delete tab.local[id];
      void tab.database?.remove(id);
    } else if (tab.local[id]) {
      tab.bury(record);
    }
  }
};
