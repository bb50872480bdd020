import type { Tracker, TrackerOptions } from './options.js';
import type { Decisions } from './queue/decisions.js';
import type { StoredRecord } from './queue/record.js';
import type { Queue } from './queue/state.js';
import type { DropReason, TrackerStats } from './types.js';

/** IndexedDB. Each change is one transaction; `undefined`: it failed, or took too long. */
export interface Database {
  readonly put: (records: readonly StoredRecord[]) => Promise<true | undefined>;
  /**
   * Writes a record unless another copy than `seen` is there, it was erased or consent was denied;
   * false when another tab was first.
   */
  readonly claim: (record: StoredRecord, seen: StoredRecord) => Promise<boolean | undefined>;
  /** Removes every event, and writes decisions where there are any. */
  readonly clear: (decisions: Decisions) => Promise<unknown>;
  readonly readDecisions: () => Promise<Decisions | undefined>;
  /** Adds decisions to those that are there. */
  readonly saveDecisions: (decisions: Decisions) => Promise<unknown>;
  readonly readAll: () => Promise<StoredRecord[] | undefined>;
  readonly remove: (id: string) => Promise<unknown>;
  /** The page ends: what waits for an answer must not stand before what is committed now. */
  readonly abort: () => void;
  readonly close: () => void;
}

/** The other tabs of the origin. */
export interface Channel {
  readonly open: () => void;
  /** Closed while the page is left: a message would drop it from the back/forward cache. */
  readonly close: () => void;
  readonly tell: (decisions: Decisions) => void;
  /** Resolves to those of the owners that do not answer; `undefined` where tabs cannot be asked. */
  readonly findSilent: (owners: ReadonlySet<string>) => Promise<ReadonlySet<string> | undefined>;
}

/** A storage as an object whose properties are what is stored. */
export type LocalStore = Record<string, string | undefined>;

/** What the parts of one tracker share: its options, the queue of this tab and its stores. */
export interface Tab extends Omit<TrackerOptions, keyof Queue | 'consent'>, Queue {
  /** What this page was given: by its options, then by `grant()`. */
  consent?: TrackerOptions['consent'];
  readonly on: Tracker['on'];
  /** Absent on a server, where nothing is taken in. */
  readonly document: object | undefined;
  /** localStorage, whatever `storage` asks for: decisions are read and erased there. */
  origin: LocalStore;
  /** Where events are stored: localStorage, or memory. */
  local: LocalStore;
  /** Characters of this project in `local`: its own, and of other tabs those that it last saw. */
  storedLength: number;
  /** IndexedDB once it is open. */
  database?: Database | undefined;
  readonly channel: Channel;
  readonly counts: TrackerStats;
  /** What was warned of: once is enough. */
  readonly warnings: Set<string>;
  /** No other tab takes events over now, so that no database has to decide. */
  isAlone?: boolean | undefined;
  /** Of the next time that the queue is looked at. */
  timer?: ReturnType<typeof setTimeout>;
}

/** Tells of what failed and is gone on without. */
export const warn = ({ warnings, emit }: Tab, message: string): void => {
  if (!warnings.has(message)) {
    warnings.add(message);
    emit('warning', { message });
  }
};

/** Why nothing may be taken in at all. */
export const refusalOf = ({ honorGpc = true, consent, document }: Tab): DropReason | undefined => {
  if (!document) {
    return 'server';
  }
  // Not in the types of the DOM yet.
  if (honorGpc && (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl) {
    return 'gpc';
  }
  return consent === 'denied' ? consent : undefined;
};
