import type { EventData } from '../types.js';

/** An event as it is stored. Of a finished one only a tombstone stays, which has no `event`. */
export interface StoredRecord {
  /** Also its key in both stores. */
  readonly id: string;
  /** When it was taken in, by the wall clock of that moment. */
  readonly at: number;
  /** When it was changed last; it grows with each change: of two copies, the higher one is true. */
  readonly version: number;
  /** The tab that may send it; {@link NOBODY} once that tab was left. */
  readonly owner?: string | undefined;
  /** 0: waits. 1: handed over, perhaps. */
  readonly state?: 0 | 1;
  /** How often it was sent with an answer that leaves open whether the service took it. */
  readonly tries?: number;
  readonly event?: string;
  readonly email?: string | undefined;
  readonly data?: EventData | undefined;
}

/** An event with its content. */
export type EventRecord = StoredRecord & { readonly event: string; readonly owner: string };

/** The owner of an event whose page was left: the next page may take it over at once. */
export const NOBODY = '';

/** The version of tombstones: above any that changes could reach. */
const LAST_VERSION = 9e15;

/** What stays of a finished event: nothing personal, but enough to tell that it is finished. */
export const tombstoneOf = ({ id, at, owner }: StoredRecord): StoredRecord => ({
  id,
  at,
  owner,
  version: LAST_VERSION,
});
