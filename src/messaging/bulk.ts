import { callSafely } from '../core/async.js';
import {
  invalidRequest,
  InvalidRequestError,
  isPostreelError,
  JobFailedError,
  PartialError,
  PostreelError,
  UnexpectedResponseError,
  type Report,
  type ReportedRow,
} from '../core/errors.js';
import type { Call, RequestOptions } from '../core/types.js';
import { isRecord, type OpenRecord } from '../core/values.js';
import { resultsOf, type RowKeys } from './contacts/job-ends.js';
import type {
  BulkAllOptions,
  BulkProgress,
  ContactLookup,
  ContactLookupResult,
  ContactSelection,
  JobReport,
  JobStarted,
} from './contacts.types.js';
import type { AddressVerification, VerifiedAddress, VerifyRequest } from './emails.js';
import { limits } from './limits.js';
import {
  isSynchronous,
  toIterable,
  lengthOf,
  untilAborted,
  type RowSource,
} from './shared/row-source.js';
import { emailProblem, idProblem, normalizeEmail } from './shared/values.js';

/**
 * Calls for any number of rows. The rows are checked and split into batches. Each batch is queued as a job, and the
 * job is awaited before the next batch is queued. Each row gets exactly one result: done, failed or unknown.
 */

/** A row with its index in the input, from 0. */
export interface PlacedRow<Row> {
  readonly row: Row;
  readonly index: number;
}

/** The rows that are sent in one call, and the rows between them that were rejected before. */
export interface Batch<Row, Body> extends RowKeys {
  readonly body: Body;
  readonly rows: readonly PlacedRow<Row>[];
  readonly refused: readonly ReportedRow<Row>[];
  /** The index of the row after the batch: a later run resumes there. */
  readonly next: number;
}

/** The parts of one `changeMany()` call. */
interface ChangeManyOptions<Row, Body, Job extends OpenRecord> {
  /** The name of the call, for its errors. */
  readonly call: string;
  readonly batches: (from: number) => AsyncIterable<Batch<Row, Body>>;
  /** `beforeSending` runs before each attempt. */
  readonly start: (body: Body, beforeSending: () => Promise<void>) => Call<JobStarted>;
  readonly wait: (jobId: string) => Promise<Job>;
  /** Whether the call deletes: then a row that the service does not find after a retry is done. */
  readonly isDelete?: boolean;
  /** The number of rows, if it is known. */
  readonly length: number | undefined;
  readonly from: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: BulkProgress) => void) | undefined;
  /** Emits a `warning`. */
  readonly warn: (message: string) => void;
}

/**
 * Changes any number of rows, one job after another. A failed batch does not stop the others. An abort, a rejected
 * API key (401 or 403) and a source that throws end the call with a `PartialError`. If the input is invalid before
 * the first row has a result, the call rejects with the `InvalidRequestError` itself.
 */
export async function changeMany<Row, Body, Job extends OpenRecord>(
  options: ChangeManyOptions<Row, Body, Job>,
): Promise<JobReport<Row, Job>> {
  const { from = 0, signal } = options;
  const report: JobReport<Row, Job> = { done: 0, failed: [], unknown: [], jobs: [] };
  let reached = from;
  try {
    signal?.throwIfAborted();
    for await (const batch of untilAborted(options.batches(from), signal)) {
      signal?.throwIfAborted();
      const results: RowResults<Row> = { done: 0, failed: [...batch.refused], unknown: [] };
      const end =
        batch.rows.length > 0 ? await runBatch(batch, options, results, report) : undefined;
      report.done += results.done;
      // Pushed one by one: `push(...rows)` fails if there are more rows than a call may have arguments.
      sortByIndex(results.failed).forEach((row) => report.failed.push(row));
      sortByIndex(results.unknown).forEach((row) => report.unknown.push(row));
      reached = batch.next;
      const { done, failed, unknown } = report;
      const counts = { done, failed: failed.length, unknown: unknown.length, from: reached };
      callSafely(() => options.onProgress?.(counts));
      if (end) {
        throw end.cause;
      }
    }
  } catch (cause) {
    throw endedEarlyError(options.call, report, { from, reached, length: options.length }, cause);
  }
  if (from > 0 && reached === from) {
    options.warn(describeBeyondRows(options.call, from, options.length));
  }
  return report;
}

/** The warning of a call whose `from` is beyond the last row, such as the place in another file. */
export function describeBeyondRows(call: string, from: number, length: number | undefined): string {
  const rows = length === undefined ? 'no row at this index' : `${length} rows`;
  return `\`${call}\` did nothing: \`from\` is ${from}, and the input has ${rows}.`;
}

/** Gives the calls the priority `bulk` by default, so that other calls of the program go first. */
export function setBulkPriority(options: RequestOptions): RequestOptions {
  return { priority: 'bulk', ...options };
}

/** Makes the error of a call that ended before its last row. */
function endedEarlyError<Row>(
  call: string,
  report: Report<Row>,
  { from, reached, length }: { from: number; reached: number; length: number | undefined },
  cause: unknown,
): Error {
  const ended = report.done + report.failed.length + report.unknown.length;
  if (ended === 0 && cause instanceof InvalidRequestError) {
    return cause;
  }
  // Counted by results, because `reached` advances only after the last file of a stretch of an import.
  const notReached = length === undefined ? undefined : Math.max(0, length - from - ended);
  return new PartialError(call, { ...report, notReached, resumeFrom: reached }, cause);
}

/** The results of the rows of one batch. */
interface RowResults<Row> {
  done: number;
  readonly failed: ReportedRow<Row>[];
  readonly unknown: ReportedRow<Row>[];
}

/** Queues one batch and gives each of its rows a result. Resolves to the cause that ends the whole call, if any. */
async function runBatch<Row, Body, Job extends OpenRecord>(
  batch: Batch<Row, Body>,
  { start, wait, signal, isDelete = false }: ChangeManyOptions<Row, Body, Job>,
  results: RowResults<Row>,
  report: { jobs: Job[] },
): Promise<{ cause: unknown } | undefined> {
  const addToAll = (list: 'failed' | 'unknown', error: unknown) =>
    batch.rows.forEach(({ row, index }) => results[list].push({ row, index, error }));
  let mayBeRepeat = false;
  const call: Call<JobStarted> = start(batch.body, () => {
    mayBeRepeat ||= call.outcome === 'unknown';
    return Promise.resolve();
  });
  let jobId: string | undefined;
  try {
    jobId = jobIdOf(await call);
  } catch (error) {
    if (signal?.aborted && call.outcome === 'not-sent') {
      throw error; // the batch was not sent, so its rows get no result
    }
    addToAll(call.outcome === 'unknown' ? 'unknown' : 'failed', error);
    return findEndCause(error, signal);
  }
  if (jobId === undefined) {
    addToAll('unknown', jobIdMissingError());
    return findEndCause(undefined, signal);
  }
  const context = { jobId, isRepeatedDelete: isDelete && mayBeRepeat };
  try {
    const job = await wait(jobId);
    report.jobs.push(job);
    assignResults(resultsOf(job, batch, context));
    return undefined;
  } catch (error) {
    if (error instanceof JobFailedError && isRecord(error.job)) {
      report.jobs.push(error.job as Job); // the record that the service returned
      assignResults(resultsOf(error.job, batch, { ...context, failure: error }));
    } else {
      addToAll('unknown', notFollowedError(jobId, error));
    }
    return findEndCause(error, signal);
  }

  function assignResults({ failed, unknown }: ReturnType<typeof resultsOf>) {
    batch.rows.forEach(({ row, index }, place) => {
      const failure = failed(place);
      const doubt = unknown(place);
      if (failure) {
        results.failed.push({ row, index, error: failure });
      } else if (doubt) {
        results.unknown.push({ row, index, error: doubt });
      } else {
        results.done += 1;
      }
    });
  }
}

/** Reads the id of a queued job from the response. The document shows the id for only one of the calls. */
function jobIdOf(answer: unknown): string | undefined {
  const id: unknown = isRecord(answer) ? answer['jobId'] : undefined;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function sortByIndex<Row>(rows: ReportedRow<Row>[]): ReportedRow<Row>[] {
  return rows.sort((one, other) => one.index - other.index);
}

// An abort and a rejected API key end the whole call: the next batch would fail with the same error.
function findEndCause(
  error: unknown,
  signal: AbortSignal | undefined,
): { cause: unknown } | undefined {
  if (signal?.aborted) {
    return { cause: signal.reason };
  }
  return isKeyRejected(error) ? { cause: error } : undefined;
}

/** Whether the service rejected the API key itself. Every further call would fail in the same way. */
function isKeyRejected(error: unknown): boolean {
  return isPostreelError(error) && (error.status === 401 || error.status === 403);
}

function jobIdMissingError(): UnexpectedResponseError {
  return new UnexpectedResponseError(
    'The rows were queued, but the response has no job id to wait for. They may have taken effect.',
    { code: 'JOB_ID_MISSING', outcome: 'unknown' },
  );
}

// If the checks of the job failed, the results of its rows are unknown.
function notFollowedError(jobId: string, cause: unknown): PostreelError {
  const why = isPostreelError(cause) ? ` ${cause.message}` : '';
  return new PostreelError(
    `The rows were queued as job ${jobId}, but their results are unknown.${why}`,
    { code: 'JOB_NOT_FOLLOWED', outcome: 'unknown', cause },
  );
}

/** Splits ids into batches of the size that one call allows, starting at the row `from`. */
export async function* splitIds(
  ids: RowSource<string>,
  from = 0,
): AsyncGenerator<Batch<string, ContactSelection>, void, undefined> {
  for await (const block of checkBlocks(ids, limits.bulkContacts, idProblem, from)) {
    const keys = block.rows.map(({ row }) => row);
    yield { ...block, body: { contactIds: [...new Set(keys)] }, keys, namedBy: 'contactId' };
  }
}

interface LookupPlan extends Pick<BulkAllOptions, 'from' | 'signal'> {
  /** Emits a `warning`. */
  readonly warn: (message: string) => void;
}

/**
 * Looks up any number of emails, with the maximum number per call, one call after another. Rows that are not email
 * addresses do not stop the others: a `PartialError` at the end lists them.
 */
export async function* lookupAll(
  emails: RowSource<string>,
  lookup: (body: ContactLookup) => Promise<ContactLookupResult>,
  { from = 0, signal, warn }: LookupPlan,
): AsyncGenerator<ContactLookupResult, void, undefined> {
  const call = 'contacts.lookupAll()';
  const report: Report<string> = { done: 0, failed: [], unknown: [] };
  let reached = from;
  const problem = (email: unknown) => emailProblem(normalizeEmail(email));
  const blocks = checkBlocks(emails, limits.lookupEmails, problem, from);
  try {
    for await (const block of untilAborted(blocks, signal)) {
      if (block.rows.length > 0) {
        yield await lookup({ emails: block.rows.map(({ row }) => row) });
      }
      block.refused.forEach((row) => report.failed.push(row));
      report.done += block.rows.length;
      reached = block.next;
    }
  } catch (cause) {
    throw endedEarlyError(call, report, { from, reached, length: lengthOf(emails) }, cause);
  }
  if (from > 0 && reached === from) {
    warn(describeBeyondRows(call, from, lengthOf(emails)));
  }
  const [first] = report.failed;
  if (first) {
    const result = { ...report, notReached: 0, resumeFrom: reached };
    throw new PartialError(call, result, first.error, { goOn: 'The others were looked up.' });
  }
}

// The maximum number of checks in flight. It is high enough to use the whole rate limit, which controls the pace.
const maxInFlight = 20;

/**
 * Checks any number of addresses, several at a time, and yields the results in order. An abort, a rejected API key
 * and a source that throws end the iteration, after it has yielded the results of the checks in flight.
 */
export async function* verifyAll(
  emails: RowSource<string>,
  verify: (body: VerifyRequest) => PromiseLike<AddressVerification>,
  signal: AbortSignal | undefined,
): AsyncGenerator<VerifiedAddress, void, undefined> {
  const inFlight: Promise<VerifiedAddress>[] = [];
  let end: { readonly cause: unknown } | undefined;
  try {
    for await (const [email = ''] of untilAborted(blocksOf(emails, 1), signal)) {
      signal?.throwIfAborted();
      inFlight.push(verifyOne(email, verify));
      const first = inFlight.length < maxInFlight ? undefined : inFlight.shift();
      if (first) {
        const result = await first;
        yield result;
        signal?.throwIfAborted();
        if (isKeyRejected(result.error)) {
          throw result.error;
        }
      }
    }
  } catch (cause) {
    end = { cause };
  }
  for (const check of inFlight) {
    const result = await check;
    yield result;
    end ??= isKeyRejected(result.error) ? { cause: result.error } : undefined;
  }
  signal?.throwIfAborted();
  if (end) {
    throw end.cause;
  }
}

async function verifyOne(
  email: string,
  verify: (body: VerifyRequest) => PromiseLike<AddressVerification>,
): Promise<VerifiedAddress> {
  try {
    return { email, verification: await verify({ email }), error: undefined };
  } catch (error) {
    return { email, verification: undefined, error };
  }
}

/** The valid rows for one call, and the invalid rows between them. */
interface CheckedBlock<Row> {
  readonly rows: readonly PlacedRow<Row>[];
  readonly refused: readonly ReportedRow<Row>[];
  readonly next: number;
}

async function* checkBlocks<Row>(
  rows: RowSource<Row>,
  size: number,
  problemOf: (row: Row) => string | undefined,
  from = 0,
): AsyncGenerator<CheckedBlock<Row>, void, undefined> {
  let index = 0;
  for await (const block of blocksOf(rows, size)) {
    const good: PlacedRow<Row>[] = [];
    const refused: ReportedRow<Row>[] = [];
    for (const row of block) {
      const message = index < from ? undefined : problemOf(row);
      if (message !== undefined) {
        refused.push({ row, index, error: invalidRequest([{ field: `[${index}]`, message }]) });
      } else if (index >= from) {
        good.push({ row, index });
      }
      index += 1;
    }
    if (index > from) {
      yield { rows: good, refused, next: index };
    }
  }
}

/**
 * Yields rows in blocks. The rows of a synchronous source are not awaited one by one. If a source throws, the rows
 * before the error are yielded first.
 */
export async function* blocksOf<Row>(
  rows: RowSource<Row>,
  size: number,
): AsyncGenerator<readonly Row[], void, undefined> {
  let block: Row[] = [];
  let failure: { readonly cause: unknown } | undefined;
  try {
    if (isSynchronous(rows)) {
      for (const row of rows) {
        if (block.push(row) === size) {
          yield block;
          block = [];
        }
      }
    } else {
      for await (const row of toIterable(rows)) {
        if (block.push(row) === size) {
          yield block;
          block = [];
        }
      }
    }
  } catch (cause) {
    failure = { cause };
  }
  if (block.length > 0) {
    yield block;
  }
  if (failure) {
    throw failure.cause;
  }
}
