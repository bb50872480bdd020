import type { Tracker, TrackerOptions } from './options.js';
import type { StoredRecord } from './queue/record.js';
import type { Queue } from './queue/state.js';
import type { DropReason, TrackerStats } from './types.js';

/** IndexedDB. Each change is one transaction; `undefined`: it failed, or nobody knows. */
export interface Database {
  readonly put: (records: readonly StoredRecord[]) => Promise<true | undefined>;
  /**
   * Writes a record unless another copy than `seen` is there or it was erased; false when another
   * tab was first.
   */
  readonly claim: (record: StoredRecord, seen: StoredRecord) => Promise<boolean | undefined>;
  /** Replaces everything by an erasure. */
  readonly clear: (erasure: StoredRecord) => Promise<unknown>;
  readonly readAll: () => Promise<StoredRecord[] | undefined>;
  readonly remove: (id: string) => Promise<unknown>;
  /** The page ends: what waits for an answer must not stand before what is committed now. */
  readonly abort: () => void;
}

/** What the parts of one tracker share: its options, the queue of this tab and its stores. */
export interface Tab extends Omit<TrackerOptions, keyof Queue>, Queue {
  readonly on: Tracker['on'];
  /** Absent on a server, where nothing is taken in. */
  readonly document: object | undefined;
  /** localStorage once it is open; until then, and where it is forbidden, memory. */
  local: Record<string, string | undefined>;
  /** IndexedDB once it is open. */
  database?: Database | undefined;
  readonly counts: TrackerStats;
  /** No other tab takes events over now, so that no database has to decide. */
  isAlone?: boolean | undefined;
  /** Of the next look at the queue. */
  timer?: ReturnType<typeof setTimeout>;
}

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
