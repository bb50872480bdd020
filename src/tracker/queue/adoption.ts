import { end, isAlive } from './protocol.js';
import type { StoredRecord } from './record.js';
import { type Claim, type Entry, Phase, type Queue } from './state.js';

// How a tab takes over the events of tabs that are gone: as pure as the protocol.

/**
 * Where no locks can tell, the owner is gone when it has not changed an event for so long. More than
 * a request may take: what is on its way is not sent by two tabs.
 */
const ORPHAN_AGE = 9e4;

/** What a page knows when it looks for the events of others. */
export interface Found {
  readonly records: readonly StoredRecord[];
  /** The names of the tabs that live; without locks it is missing, and age has to tell. */
  readonly living?: string | undefined;
}

/** Takes over the events of tabs that are gone. */
export const adopt = (queue: Queue, { records, living }: Found): void => {
  for (const seen of records) {
    const isOwnerGone = living
      ? !living.includes(`${seen.owner}`)
      : Math.abs(queue.now() - seen.version) > ORPHAN_AGE;
    const isKnown = queue.entries.some(({ record }) => record.id === seen.id);
    // The look took a while, in which this tab may have ended the event.
    const isOld = (queue.copyOf(seen.id)?.version ?? 0) > seen.version;
    if (isKnown || isOld || !isAlive(queue, seen)) {
      continue;
    }
    // What is ours without our knowing: IndexedDB answered too late.
    if (seen.owner !== queue.owner && !isOwnerGone) {
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

/** IndexedDB has the new owner of an event, or another tab was first. */
const adopted = (queue: Queue, { entry, record }: Claim, isWon: boolean | undefined): void => {
  if (!isWon || !isAlive(queue, record)) {
    return;
  }
  queue.entries.push(entry);
  queue.note(entry);
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

/** Whether a store lets a tab change an event that it last saw as `seen`. */
export const mayClaim = (
  seen: StoredRecord,
  copy?: StoredRecord,
  erasure?: StoredRecord,
): boolean => {
  const version = copy?.version ?? 0;
  const isSeen = version < seen.version || (version === seen.version && copy?.owner === seen.owner);
  return isSeen && !(seen.at <= (erasure?.at ?? 0));
};
