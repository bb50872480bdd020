import { type Decisions, isDenied, merge } from './decisions.js';
import { end, isAlive, isAllowed } from './protocol.js';
import { NOBODY, type StoredRecord } from './record.js';
import { type Claim, type Entry, Phase, type Queue } from './state.js';

// How a tab takes over the events of tabs that are gone: as pure as the protocol.

/**
 * Where tabs cannot ask each other, the owner is gone when it has not changed an event for so long.
 * More than a request may take: what is on its way is not sent by two tabs.
 */
const ORPHAN_AGE = 9e4;

/** What a page knows when it looks for the events of others. */
export interface Found {
  readonly records: readonly StoredRecord[];
  /** The tabs that were asked and did not answer; missing where tabs cannot be asked. */
  readonly silent?: ReadonlySet<string> | undefined;
}

/** Takes over the events of pages that were left and of tabs that are gone. */
export const adopt = (queue: Queue, { records, silent }: Found): void => {
  if (!isAllowed(queue)) {
    return;
  }
  for (const seen of records) {
    if (isOutdated(queue, seen) || !isAlive(queue, seen) || !isOrphan(queue, seen, silent)) {
      continue;
    }
    const { owner, email } = queue;
    const record = {
      ...seen,
      owner,
      email: seen.email ?? email,
      version: Math.max(queue.now(), seen.version + 1),
    };
    const entry: Entry = { record, phase: Phase.Waiting, isStored: true, until: 0, size: 0 };
    queue.claim(entry, seen, adopted);
  }
};

/** Reading and claiming take a while, in which this tab may have taken the event over or ended it. */
const isOutdated = (queue: Queue, { id, version }: StoredRecord): boolean =>
  queue.entries.some(({ record }) => record.id === id) ||
  (queue.copyOf(id)?.version ?? 0) > version;

const isOrphan = (
  queue: Queue,
  { owner = '?', version }: StoredRecord,
  silent: ReadonlySet<string> | undefined,
): boolean => {
  // What is this tab's own without its knowing: IndexedDB answered too late.
  if (owner === NOBODY || owner === queue.owner) {
    return true;
  }
  return silent ? silent.has(owner) : Math.abs(queue.now() - version) > ORPHAN_AGE;
};

/** IndexedDB has the new owner of an event, or another tab was first. */
const adopted = (queue: Queue, { entry, record }: Claim, isWon: boolean | undefined): void => {
  if (!isWon || !isAlive(queue, record) || isOutdated(queue, record)) {
    return;
  }
  queue.entries.push(entry);
  queue.saveLocal(entry);
  if (record.state && queue.delivery !== 'no-loss') {
    end(queue, entry, 'unconfirmed');
  }
};

/** Of the copies of each event, the newest, in the order of tracking; of two equal, the first. */
export const newest = (copies: readonly StoredRecord[]): StoredRecord[] => {
  const byId = new Map<string, StoredRecord>();
  for (const copy of copies) {
    if (copy.version > (byId.get(copy.id)?.version ?? 0)) {
      byId.set(copy.id, copy);
    }
  }
  return [...byId.values()].sort((one, other) => one.at - other.at || (one.id > other.id ? 1 : -1));
};

/** What IndexedDB has when a tab wants to change an event. */
export interface InDatabase {
  readonly copy: StoredRecord | undefined;
  readonly decisions: Decisions;
}

/** Whether IndexedDB lets a tab change an event that it last saw as `seen`. */
export const mayClaim = (
  queue: Pick<Queue, 'decisions'>,
  seen: StoredRecord,
  { copy, decisions }: InDatabase,
): boolean => {
  const version = copy?.version ?? 0;
  const isSeen = version < seen.version || (version === seen.version && copy?.owner === seen.owner);
  // A grant in another tab reaches localStorage at once, and the database a little later.
  const known = merge(queue.decisions, decisions);
  return isSeen && seen.at > known.erasedAt && !isDenied(known);
};
