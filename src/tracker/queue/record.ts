import type { Tab } from '../tab.js';
import type { EventData } from '../types.js';

/** An event as it is stored. Of a finished one only a tombstone stays, which has no `event`. */
export interface StoredRecord {
  /** Also its key in both stores. */
  readonly id: string;
  /** When it was taken in, by the wall clock of that moment. */
  readonly at: number;
  /** Grows with each change: of two copies, the higher one is true. */
  version: number;
  /** The tab that may send it. */
  owner?: string;
  /** 0: waits. 1: handed over, as far as storage knows. 2: on its way now, in memory alone. */
  state?: 0 | 1 | 2;
  event?: string;
  email?: string | undefined;
  data?: EventData | undefined;
}

/** An event with its content. */
export type EventRecord = StoredRecord & { event: string; owner: string };

/** Milliseconds in the units of `maxAge`. */
const UNITS: Record<string, number> = { h: 36e5, d: 864e5 };

/** True once an event is too old; a clock that was never set cannot make it so. */
export const isExpired = ({ maxAge = '24h' }: Tab, { at }: StoredRecord): boolean =>
  at > 17e11 && Date.now() - at > parseFloat(`${maxAge}`) * (UNITS[`${maxAge}`.slice(-1)] ?? 1);

/** What every key of ours begins with, locks included. */
export const PREFIX = 'postreel:';

let count = 1e6;

/** Ids sort in the order of tracking, and need no secure context. */
export const newId = (): string => `${PREFIX}${count++}${Math.random()}`;
