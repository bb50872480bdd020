import { type Tab, warn } from '../tab.js';
import { openDatabase } from './database.js';
import { type Decisions, decisionsOf, isAhead, isDenied, merge } from './decisions.js';
import { decide, noteDecisions, sweep } from './protocol.js';
import { type StoredRecord, tombstoneOf } from './record.js';

// localStorage survives the end of a page, IndexedDB a killed browser; each event has a key of its
// own in both, so that tabs cannot overwrite each other. What the visitor decided has one key more.

const STORAGE_FAILED =
  'The storage failed. What is not delivered when the page ends may be lost, and a decision on consent forgotten.';

export const decisionsKeyOf = ({ prefix }: Pick<Tab, 'prefix'>): string => `${prefix}consent`;
/** Until when a 429 makes all tabs wait. */
export const holdKeyOf = ({ prefix }: Pick<Tab, 'prefix'>): string => `${prefix}wait`;

/** Finds localStorage; where it is forbidden, memory stays. */
export const openLocal = (tab: Tab): void => {
  try {
    // `null` in some web views: `Object` makes it memory.
    tab.origin = Object(localStorage) as Tab['origin'];
    if (tab.isDurable) {
      tab.local = tab.origin;
      tab.isLasting = tab.origin === (localStorage as unknown);
    }
    measure(tab);
  } catch {
    // Forbidden.
  }
};

/** Counts the characters of this project, of all tabs. */
export const measure = (tab: Tab): void => {
  const texts = keysOf(tab).map((key) => tab.local[key]);
  tab.storedLength = texts.join('').length;
};

/** Writes to where events are stored; false when there is no room. */
export const write = (tab: Tab, key: string, value: unknown): boolean => {
  try {
    const before = lengthOf(tab, key);
    const text = JSON.stringify(value);
    tab.local[key] = text;
    tab.storedLength += text.length - before;
  } catch {
    warn(tab, STORAGE_FAILED);
    return false;
  }
  if (tab.isDurable && !tab.isLasting) {
    warn(tab, STORAGE_FAILED); // forbidden: it was written to memory
  }
  return true;
};

/** What a key holds, if it is a record of ours. */
export const read = ({ local }: Pick<Tab, 'local'>, key: string): StoredRecord | undefined => {
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

/** The keys of the events of this project, of all tabs; a wait and decisions outlive every erasure. */
export const keysOf = ({ local, prefix }: Pick<Tab, 'local' | 'prefix'>): string[] =>
  Object.keys(local).filter(
    (key) =>
      key.startsWith(prefix) && ![decisionsKeyOf({ prefix }), holdKeyOf({ prefix })].includes(key),
  );

export const remove = (tab: Tab, key: string): void => {
  tab.storedLength -= lengthOf(tab, key);
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- keys are properties here
  delete tab.local[key];
};

const lengthOf = ({ local }: Tab, key: string): number => local[key]?.length ?? 0;

/** Replaces an event by its tombstone, which wins over copies that a crash brings back. */
export const deleteRecord = async (tab: Tab, record: StoredRecord): Promise<void> => {
  const tombstone = tombstoneOf(record);
  write(tab, record.id, tombstone);
  // Not before IndexedDB has it: an older copy may be there.
  if (await tab.database?.put([tombstone])) {
    remove(tab, record.id);
  }
};

/** What localStorage knows of the visitor's decisions. */
export const storedDecisions = (tab: Pick<Tab, 'origin' | 'prefix'>): Decisions => {
  try {
    return decisionsOf(JSON.parse(`${tab.origin[decisionsKeyOf(tab)]}`));
  } catch {
    return decisionsOf(undefined);
  }
};

/** Adds decisions to those of both stores; to localStorage at once. */
export const saveDecisions = (tab: Tab, decisions: Decisions): void => {
  try {
    const all = merge(storedDecisions(tab), decisions);
    tab.origin[decisionsKeyOf(tab)] = JSON.stringify(all);
  } catch {
    // Full or forbidden: IndexedDB and the open tabs have them.
    warn(tab, STORAGE_FAILED);
  }
  void tab.database?.saveDecisions(decisions);
};

/**
 * Erases the events of all tabs from both stores, whatever this tab stores itself; localStorage at
 * once. Resolves once IndexedDB has it.
 */
export const eraseAll = async (tab: Tab, decision: 'erased' | 'denied'): Promise<void> => {
  const hadEvents = eraseLocal(tab, decision);
  const isKept = decision === 'denied' || tab.isDurable || hadEvents;
  if (isKept) {
    saveDecisions(tab, tab.decisions);
  }
  tab.channel.tell(tab.decisions);
  await eraseDurable(tab, isKept);
};

/**
 * The page has no consent to begin with: what is stored is erased and the other tabs are told, but
 * nothing is written.
 */
export const eraseStored = async (tab: Tab): Promise<void> => {
  const before = tab.decisions;
  eraseLocal(tab, 'erased');
  tab.channel.tell(tab.decisions);
  tab.decisions = before;
  const database = await openDatabase(tab, true);
  await database?.clear(before);
  database?.close();
};

/** Removes the events from localStorage and forgets those of this tab; were there any? */
const eraseLocal = (tab: Tab, decision: 'erased' | 'denied'): boolean => {
  const { origin, prefix } = tab;
  const everywhere = { ...tab, local: origin };
  const keys = keysOf(everywhere);
  const copies = keys.flatMap((key) => read(everywhere, key) ?? []);
  decide(tab, decision, copies);
  for (const key of keys) {
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- keys are properties here
    delete origin[key];
  }
  keysOf({ local: tab.local, prefix }).forEach((key) => remove(tab, key));
  tab.storedLength = 0;
  return copies.length > 0;
};

const eraseDurable = async (tab: Tab, mayCreate: boolean): Promise<void> => {
  // At once where it is open: the page may end.
  if (tab.database) {
    await tab.database.clear(tab.decisions);
    return;
  }
  const database = await openDatabase(tab, !mayCreate);
  await database?.clear(tab.decisions);
  database?.close();
};

/** Opens IndexedDB and asks it for decisions; where it cannot be opened, localStorage has to do. */
export const openDurable = async (tab: Tab): Promise<void> => {
  if (tab.isDurable) {
    tab.database ??= await openDatabase(tab);
    await exchangeDecisions(tab);
    return;
  }
  // Earlier visits may have left a denial: nothing is created to look for it.
  const database = await openDatabase(tab, true);
  noteDecisions(tab, decisionsOf(await database?.readDecisions()));
  database?.close();
  sweep(tab);
};

const exchangeDecisions = async (tab: Tab): Promise<void> => {
  reconcile(tab, decisionsOf(await tab.database?.readDecisions()));
  sweep(tab);
  if (isDenied(tab.decisions)) {
    // What was stored before the denial was known.
    keysOf(tab).forEach((key) => remove(tab, key));
  }
};

/** Each of the two, this tab and IndexedDB, learns what the other knows. */
export const reconcile = (tab: Tab, inDatabase: Decisions): void => {
  noteDecisions(tab, inDatabase);
  // A page that ended too soon has told localStorage or other tabs alone.
  if (isAhead(tab.decisions, inDatabase)) {
    void tab.database?.saveDecisions(tab.decisions);
  }
};
