import type { OpenRecord, Timestamp } from '../../contract/records.js';

/** Which part of a list to get. Other fields are sent along as they are. */
export interface ListQuery extends OpenRecord {
  /**
   * How many items a page holds, 1 to 100.
   * @default 20 when awaited, 100 when iterated
   */
  limit?: number | undefined;
  /** Where to go on: the `cursor` of a page or an iterator. */
  cursor?: string | undefined;
}

/** A span of time. The names are not given by the service's document. */
export interface PeriodQuery extends OpenRecord {
  startDate?: Timestamp | undefined;
  endDate?: Timestamp | undefined;
}
