import { PostreelError } from './base-error.js';
import { branded } from './brand.js';
import { isPostreelError } from './guards.js';
import type { PartialReport } from './report.js';

/**
 * A call that changes many ended early: by an abort, a refused key, or a source of rows that threw.
 * `result` has what was done, and `cause` is the error, or the reason of the abort, that ended it.
 */
export class PartialError<Row = unknown> extends PostreelError {
  /** @internal */
  static override readonly brands = branded(this, 'PartialError');

  /** What was done so far. Not enumerable: no log writes a million rows, or addresses, by accident. */
  declare readonly result: PartialReport<Row>;

  /** `call` is the name of the call, e.g. `contacts.deleteAll()`. */
  constructor(call: string, result: PartialReport<Row>, cause: unknown) {
    super(sentence(call, result, cause), { code: 'PARTIAL_RESULT', cause });
    Object.defineProperty(this, 'result', { value: result });
  }

  /** Counts instead of rows: rows hold personal data. */
  override toJSON(): Record<string, unknown> {
    const { done, failed, unknown, notReached, resumeFrom } = this.result;
    const counts = { done, failed: failed.length, unknown: unknown.length };
    return { ...super.toJSON(), ...counts, notReached, resumeFrom };
  }
}

function sentence<Row>(call: string, result: PartialReport<Row>, cause: unknown): string {
  const { done, failed, unknown, resumeFrom } = result;
  const counts = `${done} done, ${failed.length} failed, ${unknown.length} unknown`;
  const why = isPostreelError(cause) ? ` ${cause.message}` : '';
  return `\`${call}\` ended before row ${resumeFrom}: ${counts}. Go on with \`{ from: ${resumeFrom} }\`.${why}`;
}
