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
import { endsOf, type RowKeys } from './contacts/job-ends.js';
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
  iterable,
  lengthOf,
  untilAborted,
  type RowSource,
} from './shared/row-source.js';
import { emailProblem, isId, normalizeEmail } from './shared/values.js';

/**
 * Many rows: they are checked, cut into batches, each batch is queued as a job, the job is awaited, and each
 * row gets its end: done, failed or unknown, exactly once.
 */

/** A row with its place in the input, from 0. */
export interface PlacedRow<Row> {
  readonly row: Row;
  readonly index: number;
}

/** Rows that go to the service in one call, and what was refused among them. */
export interface Batch<Row, Body> extends RowKeys {
  readonly body: Body;
  readonly rows: readonly PlacedRow<Row>[];
  readonly refused: readonly ReportedRow<Row>[];
  /** The row after the last one of the batch. */
  readonly next: number;
}

/** What a change of many is made of. */
interface ManyPlan<Row, Body, Job extends OpenRecord> {
  /** The name of the call, for its errors. */
  readonly call: string;
  readonly batches: (from: number) => AsyncIterable<Batch<Row, Body>>;
  /** `beforeSending` runs before each attempt. */
  readonly start: (body: Body, beforeSending: () => Promise<void>) => Call<JobStarted>;
  readonly wait: (jobId: string) => Promise<Job>;
  /** Is a row done that the service does not find after a repeat? */
  readonly isDelete?: boolean;
  /** How many rows there are, where that is known. */
  readonly length: number | undefined;
  readonly from: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: BulkProgress) => void) | undefined;
}

/**
 * Changes many, one job after another. A batch that failed does not keep the others from being queued; an
 * abort, a refused key and a source that throws do. What is wrong before anything was reached is refused.
 */
export async function changeMany<Row, Body, Job extends OpenRecord>(
  plan: ManyPlan<Row, Body, Job>,
): Promise<JobReport<Row, Job>> {
  const { from = 0, signal } = plan;
  const report: JobReport<Row, Job> = { done: 0, failed: [], unknown: [], jobs: [] };
  let reached = from;
  try {
    signal?.throwIfAborted();
    for await (const batch of untilAborted(plan.batches(from), signal)) {
      signal?.throwIfAborted();
      const ends: RowEnds<Row> = { done: 0, failed: [...batch.refused], unknown: [] };
      const end = batch.rows.length > 0 ? await runBatch(batch, plan, ends, report) : undefined;
      report.done += ends.done;
      // One by one: there may be more of them than a call takes arguments.
      inOrder(ends.failed).forEach((row) => report.failed.push(row));
      inOrder(ends.unknown).forEach((row) => report.unknown.push(row));
      reached = batch.next;
      const { done, failed, unknown } = report;
      const counts = { done, failed: failed.length, unknown: unknown.length, from: reached };
      callSafely(() => plan.onProgress?.(counts));
      if (end) {
        throw end.cause;
      }
    }
  } catch (cause) {
    throw endedEarly(plan.call, report, { from, reached, length: plan.length }, cause);
  }
  return report;
}

/** Gives way to the other calls of the program, where nothing else is said. */
export function asBulk(options: RequestOptions): RequestOptions {
  return { priority: 'bulk', ...options };
}

/** The error of a call that ended before its last row. */
function endedEarly<Row>(
  call: string,
  report: Report<Row>,
  { from, reached, length }: { from: number; reached: number; length: number | undefined },
  cause: unknown,
): Error {
  const ended = report.done + report.failed.length + report.unknown.length;
  if (ended === 0 && cause instanceof InvalidRequestError) {
    return cause;
  }
  // By their ends and not by `reached`, which waits for every file of a stretch of an import.
  const notReached = length === undefined ? undefined : Math.max(0, length - from - ended);
  return new PartialError(call, { ...report, notReached, resumeFrom: reached }, cause);
}

/** What became of the rows of one batch. */
interface RowEnds<Row> {
  done: number;
  readonly failed: ReportedRow<Row>[];
  readonly unknown: ReportedRow<Row>[];
}

/** Queues one batch and gives each of its rows an end. Resolves to what ends the whole call, if anything does. */
async function runBatch<Row, Body, Job extends OpenRecord>(
  batch: Batch<Row, Body>,
  { start, wait, signal, isDelete = false }: ManyPlan<Row, Body, Job>,
  ends: RowEnds<Row>,
  report: { jobs: Job[] },
): Promise<{ cause: unknown } | undefined> {
  const all = (list: 'failed' | 'unknown', error: unknown) =>
    batch.rows.forEach(({ row, index }) => ends[list].push({ row, index, error }));
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
      throw error; // these rows were not reached
    }
    all(call.outcome === 'unknown' ? 'unknown' : 'failed', error);
    return endAfter(error, signal);
  }
  if (jobId === undefined) {
    all('unknown', withoutJob());
    return endAfter(undefined, signal);
  }
  const terms = { jobId, isRepeatedDelete: isDelete && mayBeRepeat };
  try {
    const job = await wait(jobId);
    report.jobs.push(job);
    give(endsOf(job, batch, terms));
    return undefined;
  } catch (error) {
    if (error instanceof JobFailedError && isRecord(error.job)) {
      report.jobs.push(error.job as Job); // the service's own record
      give(endsOf(error.job, batch, { ...terms, failure: error }));
    } else {
      all('unknown', notFollowed(jobId, error));
    }
    return endAfter(error, signal);
  }

  function give({ failed, unknown }: ReturnType<typeof endsOf>) {
    batch.rows.forEach(({ row, index }, place) => {
      const refusal = failed(place);
      const doubt = unknown(place);
      if (refusal) {
        ends.failed.push({ row, index, error: refusal });
      } else if (doubt) {
        ends.unknown.push({ row, index, error: doubt });
      } else {
        ends.done += 1;
      }
    });
  }
}

/** The id of a job that was queued. The document shows it for one of the calls only. */
function jobIdOf(answer: unknown): string | undefined {
  const id: unknown = isRecord(answer) ? answer['jobId'] : undefined;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function inOrder<Row>(rows: ReportedRow<Row>[]): ReportedRow<Row>[] {
  return rows.sort((one, other) => one.index - other.index);
}

// A key that is refused for one batch is refused for all.
function endAfter(error: unknown, signal: AbortSignal | undefined): { cause: unknown } | undefined {
  if (signal?.aborted) {
    return { cause: signal.reason };
  }
  return isKeyRefused(error) ? { cause: error } : undefined;
}

/** Is the key itself refused? Then it is refused for every row. */
function isKeyRefused(error: unknown): boolean {
  return isPostreelError(error) && (error.status === 401 || error.status === 403);
}

function withoutJob(): UnexpectedResponseError {
  return new UnexpectedResponseError(
    'The rows were queued, but the answer names no job to wait for. They may have taken effect.',
    { code: 'JOB_ID_MISSING', outcome: 'unknown' },
  );
}

// A status check that failed leaves open what became of the rows.
function notFollowed(jobId: string, cause: unknown): PostreelError {
  const why = isPostreelError(cause) ? ` ${cause.message}` : '';
  return new PostreelError(
    `The rows were queued as job ${jobId}, but what became of them is not known.${why}`,
    { code: 'JOB_NOT_FOLLOWED', outcome: 'unknown', cause },
  );
}

/** Cuts ids into batches that one call takes, from a row on. */
export async function* idBatches(
  ids: RowSource<string>,
  from = 0,
): AsyncGenerator<Batch<string, ContactSelection>, void, undefined> {
  const problem = (id: unknown) => (isId(id) ? undefined : 'must be an id, as a string');
  for await (const block of checkedBlocks(ids, limits.bulkContacts, problem, from)) {
    const keys = block.rows.map(({ row }) => idText(row));
    const contactIds = [...new Map(block.rows.map(({ row }, at) => [keys[at], row])).values()];
    yield { ...block, body: { contactIds }, keys, namedBy: 'contactId' };
  }
}

// Some services have numbers.
function idText(id: unknown): string {
  return String(id);
}

/**
 * Looks up any number of emails, as many per call as the service takes, one call after another. What is no
 * email is told in a `PartialError` at the end: it costs no other row.
 */
export async function* lookupAll(
  emails: RowSource<string>,
  lookup: (body: ContactLookup) => Promise<ContactLookupResult>,
  { from = 0, signal }: Pick<BulkAllOptions, 'from' | 'signal'>,
): AsyncGenerator<ContactLookupResult, void, undefined> {
  const call = 'contacts.lookupAll()';
  const report: Report<string> = { done: 0, failed: [], unknown: [] };
  let reached = from;
  const problem = (email: unknown) => emailProblem(normalizeEmail(email));
  const blocks = checkedBlocks(emails, limits.lookupEmails, problem, from);
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
    throw endedEarly(call, report, { from, reached, length: lengthOf(emails) }, cause);
  }
  const [first] = report.failed;
  if (first) {
    const result = { ...report, notReached: 0, resumeFrom: reached };
    throw new PartialError(call, result, first.error, { goOn: 'The others were looked up.' });
  }
}

// Enough to fill the rate limit; the limit itself decides how many are sent at once.
const maxUnderWay = 20;

/**
 * Checks any number of addresses, several at a time, and yields the results in order. An abort, a refused
 * key and a source that throws end it, after the results of the checks under way.
 */
export async function* verifyAll(
  emails: RowSource<string>,
  verify: (body: VerifyRequest) => PromiseLike<AddressVerification>,
  signal: AbortSignal | undefined,
): AsyncGenerator<VerifiedAddress, void, undefined> {
  const underWay: Promise<VerifiedAddress>[] = [];
  let end: { readonly cause: unknown } | undefined;
  try {
    for await (const [email = ''] of untilAborted(blocksOf(emails, 1), signal)) {
      signal?.throwIfAborted();
      underWay.push(verifyOne(email, verify));
      const first = underWay.length < maxUnderWay ? undefined : underWay.shift();
      if (first) {
        const result = await first;
        yield result;
        signal?.throwIfAborted();
        if (isKeyRefused(result.error)) {
          throw result.error;
        }
      }
    }
  } catch (cause) {
    end = { cause };
  }
  for (const check of underWay) {
    const result = await check;
    yield result;
    end ??= isKeyRefused(result.error) ? { cause: result.error } : undefined;
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

/** Rows for one call, and what is none among them. */
interface CheckedBlock<Row> {
  readonly rows: readonly PlacedRow<Row>[];
  readonly refused: readonly ReportedRow<Row>[];
  readonly next: number;
}

async function* checkedBlocks<Row>(
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
 * Yields rows in blocks. Those that are there already are not awaited one by one, and those that a source
 * gave before it threw come first.
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
      for await (const row of iterable(rows)) {
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
