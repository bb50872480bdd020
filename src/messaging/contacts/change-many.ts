import { callSafely } from '../../core/async.js';
import type { Call } from '../../core/types.js';
import { isRecord, type OpenRecord } from '../../core/values.js';
import {
  isPostreelError,
  PartialError,
  PostreelError,
  UnexpectedResponseError,
  type Report,
  type ReportedRow,
  JobFailedError,
} from '../../core/errors.js';
import { untilAborted } from '../shared/row-source.js';
import { hasDoneNothing, isDoneForAll, jobIdOf } from './job-counts.js';
import type { BulkProgress, JobReport, JobStarted } from './types.js';

/** Rows that go to the service in one call, and what was refused among them. */
export interface Batch<Row, Body> {
  readonly body: Body;
  readonly rows: readonly { readonly row: Row; readonly index: number }[];
  readonly refused: readonly ReportedRow<Row>[];
  /** The row after the last one of the batch, from 0. */
  readonly to: number;
}

/** What a change of many is made of. */
export interface ManyPlan<Row, Body, Job extends OpenRecord> {
  /** The name of the call, for its errors. */
  readonly call: string;
  readonly batches: (from: number) => AsyncIterable<Batch<Row, Body>>;
  readonly start: (body: Body) => Call<JobStarted>;
  readonly wait: (jobId: string) => Promise<Job>;
  /** How many rows there are, where that is known. */
  readonly length: number | undefined;
  readonly from: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: BulkProgress) => void) | undefined;
}

/**
 * Queues batches of rows one after another, waits for the job of each, and reports which rows failed. A
 * batch that failed does not keep the others from being queued; an abort or a refused key does.
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
      const end = batch.rows.length > 0 ? await runBatch(batch, plan, report) : undefined;
      // One by one: there may be more of them than a call takes arguments.
      batch.refused.forEach((refused) => report.failed.push(refused));
      reached = batch.to;
      const { done, failed, unknown } = report;
      const progress = { done, failed: failed.length, unknown: unknown.length };
      callSafely(() => plan.onProgress?.(progress));
      if (end) {
        throw end.cause;
      }
    }
  } catch (cause) {
    const notReached = plan.length === undefined ? undefined : Math.max(0, plan.length - reached);
    throw new PartialError<Row>(plan.call, { ...report, notReached, resumeFrom: reached }, cause);
  }
  return report;
}

/** Puts each row of a batch into the report. Resolves to what ends the whole call, if anything does. */
async function runBatch<Row, Body, Job extends OpenRecord>(
  { body, rows }: Batch<Row, Body>,
  { start, wait, signal }: ManyPlan<Row, Body, Job>,
  report: JobReport<Row, Job>,
): Promise<{ cause: unknown } | undefined> {
  const add = (list: keyof Pick<Report<Row>, 'failed' | 'unknown'>, error: unknown) => {
    for (const { row, index } of rows) {
      report[list].push({ row, index, error });
    }
  };
  const call = start(body);
  let jobId: string | undefined;
  try {
    jobId = jobIdOf(await call);
  } catch (error) {
    if (signal?.aborted && call.outcome === 'not-sent') {
      throw error; // these rows were not reached
    }
    add(call.outcome === 'unknown' ? 'unknown' : 'failed', error);
    return endAfter(error, signal);
  }
  if (jobId === undefined) {
    add('unknown', withoutJob());
    return endAfter(undefined, signal);
  }
  try {
    const job = await wait(jobId);
    report.jobs.push(job);
    if (isDoneForAll(job, rows.length)) {
      report.done += rows.length;
    } else {
      add('unknown', notAllDone(jobId, rows.length));
    }
    return undefined;
  } catch (error) {
    const job = error instanceof JobFailedError && isRecord(error.job) ? error.job : undefined;
    if (job) {
      report.jobs.push(job as Job); // the service's own record
    }
    const isUndone = job !== undefined && hasDoneNothing(job);
    add(isUndone ? 'failed' : 'unknown', isUndone ? error : notFollowed(jobId, error));
    return endAfter(error, signal);
  }
}

// A key that is refused for one batch is refused for all.
function endAfter(error: unknown, signal: AbortSignal | undefined): { cause: unknown } | undefined {
  if (signal?.aborted) {
    return { cause: signal.reason };
  }
  const isKeyRefused = isPostreelError(error) && (error.status === 401 || error.status === 403);
  return isKeyRefused ? { cause: error } : undefined;
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

function notAllDone(jobId: string, count: number): PostreelError {
  return new PostreelError(
    `Job ${jobId} does not count all of its ${count} rows as done, and does not say which are: see \`jobs\` of the report.`,
    { code: 'JOB_INCOMPLETE', outcome: 'unknown' },
  );
}
