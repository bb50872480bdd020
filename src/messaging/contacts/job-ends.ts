import { PostreelError, type JobFailedError } from '../../core/errors.js';
import { isRecord } from '../../core/values.js';
import { emailKey } from '../shared/values.js';

/** The keys by which the service names the rows of a batch. */
export interface RowKeys {
  /** The id or the email of each row. */
  readonly keys: readonly string[];
  readonly namedBy: 'contactId' | 'email';
}

/** The rows of a batch that failed or are unknown, by their index in the batch. All other rows are done. */
interface JobResults {
  readonly failed: (index: number) => PostreelError | undefined;
  readonly unknown: (index: number) => PostreelError | undefined;
}

interface JobContext {
  readonly jobId: string;
  /** Whether an earlier attempt of the same call may have deleted the contacts that the job does not find. */
  readonly isRepeatedDelete: boolean;
  /** The error of a job that failed as a whole. */
  readonly failure?: JobFailedError;
}

/**
 * Reads the result of each row from the record of a job.
 *
 * | row                                                                        | result  |
 * | -------------------------------------------------------------------------- | ------- |
 * | every row, if the job failed as a whole and its counts show no done row    | failed  |
 * | named in `errors`                                                          | failed  |
 * | named as not found, if an earlier attempt may have deleted the contact     | done    |
 * | one of several rows with the same email, only some of which failed         | unknown |
 * | another row, if the counts fit the batch and `errors`, or are missing      | done    |
 * | another row, if the job failed as a whole                                  | unknown |
 * | another row, if the job counts other failures than it names in `errors`    | unknown |
 * | another row, if the only counts have names that this package does not know | unknown |
 */
export function resultsOf(
  job: Record<string, unknown>,
  batch: RowKeys,
  context: JobContext,
): JobResults {
  const { jobId, failure } = context;
  const result = isRecord(job['result']) ? job['result'] : job;
  const named = readNamedRows(result, batch, context);
  const counts = countsOf(result, batch);
  if (failure && counts.isNothingDone) {
    const error = nothingDoneError(jobId, failure);
    return { failed: (index) => named.failed.get(index) ?? error, unknown: () => undefined };
  }
  const isComplete = !failure && counts.isUnderstood && (counts.failures ?? 0) === named.count;
  const doubt = isComplete ? undefined : incompleteError(jobId, counts, named, failure);
  return {
    failed: (index) => named.failed.get(index),
    unknown: (index) => named.ambiguous.get(index) ?? (named.done.has(index) ? undefined : doubt),
  };
}

interface JobCounts {
  readonly failures: number | undefined;
  /** Whether the counts add up to the size of the batch. True if the job has no counts. */
  readonly isUnderstood: boolean;
  readonly isNothingDone: boolean;
}

function countsOf(result: Record<string, unknown>, { keys, namedBy }: RowKeys): JobCounts {
  // An id that is listed twice counts as one contact; an email that is listed twice counts as two rows.
  const size = namedBy === 'contactId' ? new Set(keys).size : keys.length;
  const count = (name: string) =>
    Number.isSafeInteger(result[name]) ? Number(result[name]) : undefined;
  const errors: unknown = result['errors'];
  const failures = count('failureCount') ?? (Array.isArray(errors) ? errors.length : undefined);
  const total = count('totalRequested') ?? count('total') ?? size;
  const [created, updated] = [count('createdCount'), count('updatedCount')];
  const written =
    created === undefined && updated === undefined ? undefined : (created ?? 0) + (updated ?? 0);
  const done = count('successCount') ?? written;
  const unchanged = count('unchangedCount') ?? 0;
  // The service does not document whether the successes include the unchanged rows: accept both sums.
  const addsUp =
    done === undefined
      ? !hasOtherCounts(result) && (failures ?? 0) <= size
      : [done, done + unchanged].includes(size - (failures ?? 0));
  return {
    failures,
    isUnderstood: addsUp && total === size,
    isNothingDone: done === undefined ? failures === size : done + unchanged === 0,
  };
}

const known = new Set([
  'failureCount',
  'errors',
  'totalRequested',
  'total',
  'progress',
  'id',
  'jobId',
]);

/** Whether a record has a count or a list under a name that this package does not know. */
function hasOtherCounts(record: Record<string, unknown>): boolean {
  return Object.entries(record).some(([name, value]) => {
    if (known.has(name)) {
      return false;
    }
    const isCount = typeof value === 'string' ? /^\d+$/.test(value) : typeof value === 'number';
    return isCount || Array.isArray(value) || (isRecord(value) && hasOtherCounts(value));
  });
}

/** The failures of a job that could be assigned to rows of the batch. */
interface NamedRows {
  readonly failed: Map<number, PostreelError>;
  /** Rows with the same email, some of which failed: the job does not say which. */
  readonly ambiguous: Map<number, PostreelError>;
  /** Rows that the job did not find because an earlier attempt deleted them. */
  readonly done: Set<number>;
  count: number;
}

type RowResult = Readonly<Record<string, unknown>>;

function readNamedRows(
  result: RowResult,
  batch: RowKeys,
  { jobId, isRepeatedDelete }: JobContext,
): NamedRows {
  const named: NamedRows = { failed: new Map(), ambiguous: new Map(), done: new Set(), count: 0 };
  const errors: unknown = result['errors'];
  const entries: RowResult[] = Array.isArray(errors) ? errors.filter(isRecord) : [];
  if (entries.length === 0) {
    return named;
  }
  const places = groupByKey(batch.keys.map((key, index) => [key, index]));
  const errorOf = (entry: RowResult) => rowFailedError(jobId, entry);
  for (const [key, ofKey] of groupByKey(entries.map((entry) => [keyOf(entry, batch), entry]))) {
    const rows = places.get(key) ?? [];
    const [first] = ofKey;
    if (rows.length === 0 || !first) {
      continue; // the entry names no row of this batch
    }
    if (batch.namedBy === 'contactId') {
      const isGone = isRepeatedDelete && ofKey.every(isNotFound);
      rows.forEach((index) =>
        isGone ? named.done.add(index) : named.failed.set(index, errorOf(first)),
      );
      named.count += 1;
    } else {
      assignByEmail(rows, ofKey, named, errorOf);
    }
  }
  return named;
}

/**
 * Assigns the entries of one email to its rows. If several rows have the email, an entry is assigned by its row
 * number, as long as the number fits exactly one of them.
 */
function assignByEmail(
  rows: readonly number[],
  entries: readonly RowResult[],
  named: NamedRows,
  errorOf: (entry: RowResult) => PostreelError,
): void {
  const open = new Set(rows);
  const unplaced: RowResult[] = [];
  for (const entry of entries) {
    // The number may count the rows from 1, or the lines of the file including its header.
    const agreeing = [...open].filter((index) =>
      [index + 1, index + 2].includes(Number(entry['row'])),
    );
    const [only = NaN] = agreeing.length === 1 ? agreeing : [];
    if (open.delete(only)) {
      named.failed.set(only, errorOf(entry));
    } else {
      unplaced.push(entry);
    }
  }
  const isCertain = unplaced.length >= open.size;
  for (const [at, index] of [...open].entries()) {
    const entry = unplaced[at] ?? unplaced[0];
    if (entry) {
      (isCertain ? named.failed : named.ambiguous).set(index, errorOf(entry));
    }
  }
  named.count += Math.min(rows.length, entries.length);
}

function groupByKey<Value>(pairs: readonly (readonly [string, Value])[]): Map<string, Value[]> {
  const groups = new Map<string, Value[]>();
  for (const [key, value] of pairs) {
    const group = groups.get(key);
    if (group) {
      group.push(value);
    } else {
      groups.set(key, [value]);
    }
  }
  return groups;
}

function keyOf(entry: RowResult, { namedBy }: RowKeys): string {
  const key = entry[namedBy];
  const text = typeof key === 'string' ? key : '';
  return namedBy === 'email' ? emailKey(text) : text;
}

function isNotFound({ error }: RowResult): boolean {
  return typeof error === 'string' && /not[\s_-]*found/i.test(error);
}

function rowFailedError(jobId: string, entry: RowResult): PostreelError {
  const { error } = entry;
  const why = typeof error === 'string' && error !== '' ? error : 'the service gave no reason';
  return new PostreelError(`Job ${jobId} rejected this row: ${why}`, {
    code: 'ROW_FAILED',
    outcome: 'rejected',
    details: entry,
  });
}

function nothingDoneError(jobId: string, cause: JobFailedError): PostreelError {
  return new PostreelError(`Nothing of job ${jobId} took effect. ${cause.message}`, {
    code: 'JOB_FAILED',
    outcome: 'rejected',
    cause,
  });
}

function incompleteError(
  jobId: string,
  { failures }: JobCounts,
  named: NamedRows,
  cause?: JobFailedError,
) {
  const counted =
    failures === undefined
      ? 'does not count all of its rows as done'
      : `counts ${failures} of its rows as failed, and names ${named.count} of these`;
  const why = cause ? ` ${cause.message}` : '';
  return new PostreelError(
    `Job ${jobId} ${counted}: the result of this row is unknown. \`jobs\` of the report has its record.${why}`,
    { code: 'JOB_INCOMPLETE', outcome: 'unknown', cause },
  );
}
