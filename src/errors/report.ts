/** One row of a call that changes many, and why it is not among those that are done. */
export interface ReportedRow<Row> {
  row: Row;
  /** Where the row stood in the input, from 0. */
  index: number;
  error: unknown;
}

/** What a call that changes many did. Rows that went well are only counted: memory stays flat. */
export interface Report<Row> {
  /** How many rows took effect. */
  done: number;
  /** The rows that certainly did not take effect. */
  failed: ReportedRow<Row>[];
  /** The rows that may have taken effect: check before you hand them in again. */
  unknown: ReportedRow<Row>[];
  /** The service's jobs, in calls that have them, as the service returned them. */
  jobs?: Record<string, unknown>[];
}

/**
 * What a call that changes many did before it ended early. `done`, `failed`, `unknown` and
 * `notReached` together are the whole input.
 */
export interface PartialReport<Row> extends Report<Row> {
  /** How many rows were left, always the last ones; `undefined` if the input has no known length. */
  notReached: number | undefined;
  /** The first row that was not reached, from 0: hand it back as `{ from }` to go on. */
  resumeFrom: number;
}
