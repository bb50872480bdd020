import type { OpenInput, Timestamp } from '../../core/values.js';

/** Which part of a list to get. Other fields are sent as they are. */
export interface ListQuery extends OpenInput {
  /**
   * Items per page, 1 to 100.
   * @default 20 when awaited, 100 when iterated
   */
  limit?: number | undefined;
  /** Where to continue: the `cursor` of a page or an iterator. */
  cursor?: string | undefined;
}

/** A period. The service does not document these names. */
export interface PeriodQuery extends OpenInput {
  startDate?: Timestamp | undefined;
  endDate?: Timestamp | undefined;
}
