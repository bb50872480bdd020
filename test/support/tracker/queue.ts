import { type Decisions, UNDECIDED } from '../../../src/tracker/queue/decisions.js';
import type { EventRecord, StoredRecord } from '../../../src/tracker/queue/record.js';
import {
  type Claim,
  type Entry,
  Life,
  Phase,
  type Queue,
  type OnClaimed,
} from '../../../src/tracker/queue/state.js';

/** The time of these queues when they are made. */
export const NOW = 1_800_000_000_000;
export const DAY = 86_400_000;
export const PREFIX = 'postreel:unit:';
export const OWN = 'this tab';

/** A call of a port: its name and what tells the calls of it apart. */
type Call = readonly [port: string, ...details: unknown[]];

/** A queue whose ports note what they are asked for, beside a localStorage that is a map. */
export interface UnitQueue extends Queue {
  readonly calls: Call[];
  readonly local: Map<string, StoredRecord>;
  /** What localStorage holds of decisions, the last one. */
  readonly stored: Decisions[];
  /** The claims that wait for an answer of IndexedDB. */
  readonly claims: (Claim & {
    readonly seen: StoredRecord;
    readonly onClaimed: OnClaimed | undefined;
  })[];
  /** The calls of one port. */
  readonly of: (port: string) => unknown[][];
}

/** Open, with consent, and nothing in it. */
export function unitQueue(changes: Partial<Queue> = {}): UnitQueue {
  const calls: Call[] = [];
  const claims: UnitQueue['claims'] = [];
  const local = new Map<string, StoredRecord>();
  const stored: Decisions[] = [];
  const idsOf = (entries: readonly Entry[]) => entries.map(({ record }) => record.id);
  return {
    calls,
    claims,
    local,
    stored,
    of: (port) => calls.filter(([name]) => name === port).map(([, ...details]) => details),
    emit: (notice, detail) => calls.push(['emit', notice, detail]),
    now: () => NOW,
    isOnline: () => true,
    hasSlot: () => true,
    copyOf: (id) => local.get(id),
    pausedUntil: () => 0,
    sizeOf: () => 1000,
    saveLocal: (entry) => {
      local.set(entry.record.id, entry.record);
      entry.isStored = true;
      calls.push(['saveLocal', entry.record.id, entry.record.state]);
    },
    saveDurable: (entries) => calls.push(['saveDurable', ...idsOf(entries)]),
    claim: (entry, seen, onClaimed) => {
      claims.push({ entry, record: entry.record, seen, onClaimed });
      calls.push(['claim', entry.record.id]);
    },
    send: (batch) => calls.push(['send', ...idsOf(batch)]),
    deleteRecord: ({ id }) => {
      local.delete(id);
      calls.push(['deleteRecord', id]);
    },
    removeRecord: (id) => {
      local.delete(id);
      calls.push(['removeRecord', id]);
    },
    storedDecisions: () => stored.at(-1) ?? UNDECIDED,
    saveDecisions: (decisions) => {
      stored.push(decisions);
      calls.push(['saveDecisions', decisions]);
    },
    pauseAllTabs: (until) => calls.push(['pauseAllTabs', until]),
    finish: ({ record }, reason) => calls.push(['finish', record.id, reason]),
    prefix: PREFIX,
    owner: OWN,
    maxAgeMs: DAY,
    entries: [],
    maxBatch: 1,
    isDurable: true,
    isLasting: true,
    life: Life.Open,
    isStarted: true,
    isConsentKnown: true,
    isWithinSite: false,
    decisions: UNDECIDED,
    identifiedAt: 0,
    until: 0,
    failures: 0,
    unanswered: 0,
    room: 60_000,
    ...changes,
  };
}

export const recordOf = (id: string, changes: Partial<EventRecord> = {}): EventRecord => ({
  id,
  at: NOW - 1000,
  version: 100,
  owner: OWN,
  state: 0,
  tries: 0,
  event: 'clicked',
  email: 'ann@example.com',
  ...changes,
});

/** An event in a queue, in memory alone. */
export function addEntry(
  queue: Queue,
  id: string,
  changes: Partial<Entry> = {},
  ofRecord: Partial<EventRecord> = {},
): Entry {
  const entry: Entry = {
    record: recordOf(id, ofRecord),
    phase: Phase.Waiting,
    until: 0,
    size: 0,
    ...changes,
  };
  queue.entries.push(entry);
  return entry;
}

/** An event in a queue and in localStorage. */
export function addStored(
  queue: UnitQueue,
  id: string,
  changes: Partial<Entry> = {},
  ofRecord: Partial<EventRecord> = {},
): Entry {
  const entry = addEntry(queue, id, { isStored: true, ...changes }, ofRecord);
  queue.local.set(id, entry.record);
  return entry;
}

/** The ids of what is in a queue. */
export const idsIn = ({ entries }: Queue): string[] => entries.map(({ record }) => record.id);
