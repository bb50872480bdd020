import type { Emit } from '../emitter.js';
import type { DropReason, Outcome } from '../types.js';
import type { EventRecord, StoredRecord } from './record.js';

/** Where an event of this tab is. */
export enum Phase {
  Waiting,
  /** Being noted as handed over. */
  Marking,
  /** Its request is made. */
  Sent,
}

/** Where a page is. */
export enum Life {
  /** Not before consent and activation. */
  Held,
  /** Until the stores are open. */
  Starting,
  Open,
  /** Left, perhaps for a while. */
  Left,
}

/** An event of this tab, as the tab knows it. */
export interface Entry {
  record: EventRecord;
  phase: Phase;
  /** Written to the stores, where other tabs may take it over or erase it. */
  isStored?: boolean;
  /** IndexedDB has failed to note that it is handed over. */
  isDoubtful?: boolean;
  /** Its request belongs to a page that was left: no failure of it proves anything. */
  isExit?: boolean;
  /** Not sent again before this time, in milliseconds. */
  until: number;
  /** Bytes of its request. */
  size: number;
  /** Ends its request. */
  exchange?: AbortController;
  /** Resolves the promise that `track` returned. */
  resolve?: (outcome: Outcome) => void;
}

/** A change to an event that waits for IndexedDB's consent. */
export interface Claim {
  readonly entry: Entry;
  readonly record: EventRecord;
}

/** Hears whether IndexedDB wrote a change; unknown where it cannot tell. */
export type Told = (queue: Queue, claim: Claim, isWon?: boolean) => void;

/** What a queue asks of the world. Nothing here calls back before the step has ended. */
export interface Ports {
  readonly emit: Emit;
  readonly now: () => number;
  readonly isOnline: () => boolean;
  /** The pace of this tab allows one more request. */
  readonly hasSlot: () => boolean;
  /** The copy in localStorage of an event, or, of the prefix, the last erasure that a tab noted. */
  readonly copyOf: (id: string) => StoredRecord | undefined;
  /** Until when a 429 holds all tabs. */
  readonly heldUntil: () => number;
  readonly sizeOf: (record: EventRecord) => number;
  /** Writes an event to localStorage, at once. */
  readonly note: (entry: Entry) => void;
  /** Writes noted events to IndexedDB, committed at once. */
  readonly put: (entries: readonly Entry[]) => unknown;
  /**
   * Writes an event to IndexedDB unless another copy than `seen` is there. `claimed` is told, or
   * `told` when the event is taken over from another tab.
   */
  readonly claim: (entry: Entry, seen: StoredRecord, told?: Told) => unknown;
  /** Makes the requests; `answered` is told of each event. */
  readonly send: (batch: readonly Entry[]) => unknown;
  /** Replaces the copies of an event by a tombstone. */
  readonly bury: (record: StoredRecord) => unknown;
  /** Makes all tabs wait. */
  readonly hold: (until: number) => unknown;
  /** Ends an event for the page: delivered, or dropped for a reason. Aborts its request. */
  readonly settle: (entry: Entry, reason?: DropReason) => void;
}

/** The events of one tab, and what the tab knows about sending. Times are in milliseconds. */
export interface Queue extends Ports {
  /** What the keys of this project begin with, locks included; itself that of erasures. */
  readonly prefix: string;
  /** The name of this tab and of its lock. */
  readonly owner: string;
  readonly maxAgeMs: number;
  readonly delivery?: 'no-duplicates' | 'no-loss';
  readonly retryAmbiguous?: boolean;
  entries: Entry[];
  email?: string | undefined;
  consent?: 'granted' | 'pending' | 'denied' | undefined;
  life: Life;
  /** Since when events may be stored and sent; 0: they may not. */
  grantedAt: number;
  /** Set by `pause()` and by answers that no retry can change. */
  isPaused?: boolean;
  /** Nothing is sent before: after a failure. */
  until: number;
  /** Failures in a row, and those without any answer. */
  failures: number;
  misses: number;
  /** Bytes left for requests that outlive the page. */
  room: number;
  /** Events taken in until then were erased. */
  erasedAt: number;
}
