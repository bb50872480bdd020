import type { Tab } from '../tab.js';
import { sleep, within } from '../wait.js';
import { adopt, newest } from './adoption.js';
import { decisionsOf, isDenied } from './decisions.js';
import { isAlive, isExpired, sweep } from './protocol.js';
import { NOBODY, type StoredRecord } from './record.js';
import { Life } from './state.js';
import { decisionsKeyOf, keysOf, measure, reconcile } from './stores.js';

/** Longest time for one look at what others left; each step has a limit of its own. */
const MAX_LOOK = 15_000;

/** Takes over the events of pages that are gone; true while other tabs have events. */
export const adoptOrphans = async (tab: Tab): Promise<boolean | undefined> => {
  if (tab.database) {
    return adoptNow(tab);
  }
  // Nothing else can tell that exactly one tab gets each. Absent in an insecure context and in old
  // browsers, whatever the types say.
  const locks = navigator.locks as LockManager | undefined;
  const looking = locks?.request(`${tab.prefix}adopt`, { ifAvailable: true }, async (lock) => {
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
  return looking && within(MAX_LOOK, looking);
};

const adoptNow = async (tab: Tab): Promise<boolean> => {
  let records = await readAll(tab);
  const owners = new Set(ownersOf(tab, records));
  if (owners.size) {
    // What no page owns is taken over before the others have answered.
    adoptIn(tab, records, new Set());
    const silent = await tab.channel.findSilent(owners);
    records = await readAll(tab);
    adoptIn(tab, records, silent);
  } else {
    adoptIn(tab, records, owners);
  }
  cleanUp(tab, records);
  return ownersOf(tab, records).length > 0;
};

const adoptIn = (
  tab: Tab,
  records: readonly StoredRecord[],
  silent: ReadonlySet<string> | undefined,
): void => {
  if (tab.life === Life.Open) {
    adopt(tab, { records, silent });
  }
};

/** The other tabs that have events, gone or not. */
const ownersOf = (tab: Tab, records: readonly StoredRecord[]): string[] =>
  records.flatMap((record) => {
    const isOthers = isAlive(tab, record) && ![NOBODY, tab.owner].includes(record.owner);
    return isOthers ? record.owner : [];
  });

/** The newest copies of all records, tombstones included, after obeying the decisions there. */
const readAll = async (tab: Tab): Promise<StoredRecord[]> => {
  const stored = (await tab.database?.readAll()) ?? [];
  const decisionsKey = decisionsKeyOf(tab);
  reconcile(tab, decisionsOf(stored.find(({ id }) => id === decisionsKey)));
  sweep(tab);
  measure(tab);
  const local = keysOf(tab).flatMap((key) => tab.copyOf(key) ?? []);
  return newest([...stored.filter(({ id }) => id !== decisionsKey), ...local]);
};

/** Removes what is finished from the stores; its tombstone stays until it is too old. */
const cleanUp = (tab: Tab, found: readonly StoredRecord[]): void => {
  for (const record of found) {
    const { id, at } = record;
    const isErased = isDenied(tab.decisions) || at <= tab.decisions.erasedAt;
    if (isErased || (!record.event && isExpired(tab, record))) {
      tab.removeRecord(id);
    } else if (!record.event && tab.local[id]) {
      tab.deleteRecord(record);
    }
  }
};
