import type { Emit } from '../emitter.js';
import type { DropReason, Outcome } from '../types.js';
import type { Decisions } from './decisions.js';
import type { EventRecord, StoredRecord } from './record.js';

/** Where an event of this tab is. */
export enum Phase {
  Waiting,
  /** Being marked as handed over. */
  Marking,
  /** Marked; sent once the rest of its batch is. */
  Marked,
  /** Its request is made. */
  Sent,
}

/** Where a page is. */
export enum Life {
  /** Not before consent and activation. */
  Pending,
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
  /** IndexedDB has failed to mark it as handed over. */
  isDoubtful?: boolean;
  /** Its request belongs to a page that was left: no failure of it proves anything. */
  isExit?: boolean;
  /** Answers in this page that did not end it, other than a 429. */
  failures?: number;
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

/** Is called when IndexedDB wrote a change, or did not; unknown where it cannot tell. */
export type OnClaimed = (queue: Queue, claim: Claim, isWon?: boolean) => void;

/** What a queue asks of the world. Nothing here calls back before the step has ended. */
export interface Ports {
  readonly emit: Emit;
  readonly now: () => number;
  readonly isOnline: () => boolean;
  /** The pace of this tab allows one more request. */
  readonly hasSlot: () => boolean;
  /** The copy in localStorage of an event. */
  readonly copyOf: (id: string) => StoredRecord | undefined;
  /** The decisions in localStorage, read anew each time. */
  readonly storedDecisions: () => Decisions;
  /** Writes decisions to both stores; to localStorage at once. */
  readonly saveDecisions: (decisions: Decisions) => unknown;
  /** Until when a 429 makes all tabs wait. */
  readonly pausedUntil: () => number;
  readonly sizeOf: (record: EventRecord) => number;
  /** Writes an event to localStorage, at once. */
  readonly saveLocal: (entry: Entry) => void;
  /** Writes stored events to IndexedDB, committed at once. */
  readonly saveDurable: (entries: readonly Entry[]) => unknown;
  /**
   * Writes an event to IndexedDB unless another copy than `seen` is there. Then `claimed` is called,
   * or `onClaimed` when the event is taken over from another tab.
   */
  readonly claim: (entry: Entry, seen: StoredRecord, onClaimed?: OnClaimed) => unknown;
  /** Makes the requests; `answered` is called for each event. */
  readonly send: (batch: readonly Entry[]) => unknown;
  /** Replaces the copies of an event by a tombstone. */
  readonly deleteRecord: (record: StoredRecord) => unknown;
  /** Removes the copies of an event, without a tombstone. */
  readonly removeRecord: (id: string) => unknown;
  /** Makes all tabs wait. */
  readonly pauseAllTabs: (until: number) => unknown;
  /** Ends an event for the page: delivered, or dropped for a reason. Aborts its request. */
  readonly finish: (entry: Entry, reason?: DropReason) => void;
}

/** The events of one tab, and what the tab knows about sending. Times are in milliseconds. */
export interface Queue extends Ports {
  /** What the keys of this project begin with. */
  readonly prefix: string;
  /** The name of this tab. */
  readonly owner: string;
  readonly maxAgeMs: number;
  /** Events in one request: 1, or more for a proxy. */
  readonly maxBatch: number;
  /** False where events are in memory alone: then decisions are written with a denial only. */
  readonly isDurable: boolean;
  /** The next page of the site finds what is stored: not where memory stands in for localStorage. */
  isLasting: boolean;
  readonly delivery?: 'no-duplicates' | 'no-loss';
  readonly retryAmbiguous?: boolean;
  entries: Entry[];
  email?: string | undefined;
  /** When the contact was set: an erasure since then forgets it. */
  identifiedAt: number;
  life: Life;
  /** Consent is given by this page, and the page is shown. A denial may stand against it. */
  isStarted: boolean;
  /** The stores have been asked for decisions since the page was shown. */
  isConsentKnown: boolean;
  /** What the visitor decided, in any tab, as far as this one knows. */
  decisions: Decisions;
  /** The page is about to be replaced by another one of the same origin. */
  isWithinSite: boolean;
  /** Set by `pause()` and by answers that no retry can change. */
  isPaused?: boolean;
  /** Nothing is sent before: after a failure. */
  until: number;
  /** Failures in a row, and those without any answer. */
  failures: number;
  unanswered: number;
  /** Bytes left for requests that outlive the page. */
  room: number;
}
