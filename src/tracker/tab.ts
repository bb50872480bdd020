import type { Transact } from './queue/database.js';
import type { Emit } from './emitter.js';
import type { Tracker, TrackerOptions } from './options.js';
import type { EventRecord } from './queue/record.js';
import { bury, save } from './queue/store.js';
import type { DropReason, Outcome } from './types.js';

/** What the parts of one tracker share: its options, the events of this tab and its state. */
export interface Tab extends Omit<TrackerOptions, 'email' | 'consent'> {
  readonly emit: Emit;
  readonly on: Tracker['on'];
  /** Whose events these are: the name of this tab's lock. */
  readonly owner: string;
  /** The events of this tab, in order. */
  records: EventRecord[];
  /** Resolves the promise of each event's end. */
  readonly ends: WeakMap<EventRecord, (outcome: Outcome) => void>;
  email?: string | undefined;
  consent?: TrackerOptions['consent'];
  /** localStorage once it is open; until then, and where it is forbidden, memory. */
  local: Record<string, string | undefined>;
  /** IndexedDB once it is open. */
  transact?: Transact;
  /** Gives up the lock of this tab. */
  release?: () => void;
  /** This tab may send: it has read its stores. False once the page was left. */
  isOwner?: boolean | undefined;
  /** Set by `pause()` and by a 401 or 403. */
  isPaused?: boolean;
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

/** Notes whether an event is handed over; true when it belongs to another tab by now. */
export const mark = (tab: Tab, record: EventRecord, state: 0 | 1): Promise<boolean | undefined> => {
  record.state = state;
  record.version++;
  return save(tab, record);
};

/** Lets go of an event. */
export const forget = (tab: Tab, gone: { id: string }): void => {
  tab.records = tab.records.filter((record) => record.id !== gone.id);
};

/** Ends an event: delivered, or dropped for a reason. */
export const end = (tab: Tab, record: EventRecord, reason?: DropReason): void => {
  const status = reason ? 'dropped' : 'delivered';
  bury(tab, record);
  forget(tab, record);
  tab.ends.get(record)?.({ status, reason });
  tab.emit(status, { ...record, reason });
};
