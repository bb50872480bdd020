import type { Tracker, TrackerOptions } from './options.js';
import type { Queue } from './queue/state.js';
import type { DropReason } from './types.js';

/** What one transaction does; it resolves its answer. */
export type Work<Answer> = (
  records: IDBObjectStore,
  resolve: (answer: Answer) => void,
  transaction: IDBTransaction,
) => void;

/** Runs one transaction; `undefined` when it fails, or when there is no database. */
export type Transact = <Answer>(work: Work<Answer>) => Promise<Answer | undefined>;

/** What the parts of one tracker share: its options, the queue of this tab and its stores. */
export interface Tab extends Omit<TrackerOptions, keyof Queue>, Queue {
  readonly on: Tracker['on'];
  /** localStorage once it is open; until then, and where it is forbidden, memory. */
  local: Record<string, string | undefined>;
  /** IndexedDB once it is open. */
  transact?: Transact;
  /** Transactions that have not told their answer yet. */
  readonly unfinished: Set<IDBTransaction>;
  /** Gives up the lock of this tab. */
  release?: () => void;
  /** No other tab takes events over now, so that no database has to decide. */
  isAlone?: boolean | undefined;
  /** Of the next look at the queue. */
  timer?: ReturnType<typeof setTimeout>;
}

/** Why nothing may be taken in at all. */
export const refusalOf = ({ honorGpc = true, consent }: Tab): DropReason | undefined => {
  if (typeof document === 'undefined') {
    return 'server';
  }
  // Not in the types of the DOM yet.
  if (honorGpc && (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl) {
    return 'gpc';
  }
  return consent === 'denied' ? consent : undefined;
};
