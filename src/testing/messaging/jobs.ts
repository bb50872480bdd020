import type { FakeAnswer, FakeRequest } from '../core/types.js';
import { messageOf } from '../../core/errors.js';
import { findOwn, notFound } from './resource.js';
import type { Job, Scope } from './state.js';

/** A queued piece of work. */
interface Work<Item> {
  readonly type: Job['type'];
  readonly items: readonly Item[];
  /** Handles one item and returns how to count it, e.g. `created`; throws when it cannot. */
  readonly handle: (item: Item) => 'success' | 'unchanged' | 'created' | 'updated';
  /** Identifies an item in the list of errors; `row` counts from 1. */
  readonly nameOf: (item: Item, row: number) => object;
}

/** Once per second a job handles `settings.jobs.perSecond` items. */
const tickMs = 1000;

/** Queues work that advances with the clock; returns its `jobId`. */
export function startJob<Item>(scope: Scope, work: Work<Item>): FakeAnswer {
  const job = addJob(scope, work.type, work.items.length);
  const proceed = () => {
    const { perSecond } = scope.world.settings.jobs;
    job.state = 'active';
    for (let count = 0; count < perSecond && job.processed < job.total; count += 1) {
      handleNext(job, work);
    }
    if (job.processed === job.total) {
      finish(scope, job, 'done');
    } else {
      scope.world.clock.after(tickMs, proceed);
    }
  };
  scope.world.clock.after(tickMs, proceed);
  return started(job);
}

/** Queues work that cannot be done: the job fails after one second. */
export function startFailingJob(scope: Scope, type: Job['type'], message: string): FakeAnswer {
  const job = addJob(scope, type, 0);
  scope.world.clock.after(tickMs, () => {
    job.failedReason = message;
    finish(scope, job, 'failed');
  });
  return started(job);
}

function started({ id, type }: Job): FakeAnswer {
  return { status: 202, body: { message: `The ${type} is queued.`, jobId: id } };
}

/** Returns the status of a job. The path of imports does not find bulk jobs, and the other way round. */
export function showJob(request: FakeRequest, scope: Scope, isKind: (job: Job) => boolean) {
  const job = findOwn(scope, ({ jobs }) => jobs, request.params.jobId ?? '');
  if (!isKind(job) || isForgotten(scope, job)) {
    throw notFound(job.id);
  }
  return { body: jobBody(scope, job) };
}

function addJob({ world, project }: Scope, type: Job['type'], total: number): Job {
  const job: Job = {
    id: world.id('job'),
    type,
    state: 'waiting',
    total,
    processed: 0,
    counts: {},
    errors: [],
    createdAt: world.clock.date().toISOString(),
  };
  project.jobs.set(job.id, job);
  return job;
}

function handleNext<Item>(job: Job, { items, handle, nameOf }: Work<Item>): void {
  // In bounds: `processed` is below `total`, the number of items.
  const item = items[job.processed] as Item;
  try {
    count(job, handle(item));
  } catch (error) {
    count(job, 'failure');
    job.errors.push({ ...nameOf(item, job.processed + 1), error: messageOf(error) });
  }
  job.processed += 1;
}

function count({ counts }: Job, what: string): void {
  counts[what] = (counts[what] ?? 0) + 1;
}

function finish({ world }: Scope, job: Job, state: 'done' | 'failed'): void {
  job.state = state;
  job.finishedAt = world.clock.date().toISOString();
}

function isForgotten({ world }: Scope, { finishedAt }: Job): boolean {
  if (finishedAt === undefined) {
    return false;
  }
  return world.clock.now() - Date.parse(finishedAt) >= world.settings.jobs.keepMs;
}

/**
 * The document does not show the fields and status values of jobs: these are usual for services of this kind.
 */
function jobBody({ world }: Scope, job: Job): Record<string, unknown> {
  const { jobStatusField, jobWords, jobProgress } = world.settings;
  const ends = { done: jobWords, failed: failures[jobWords] };
  const words = { waiting: 'waiting', active: 'active', ...ends };
  const fraction = job.total === 0 ? Number(job.state === 'done') : job.processed / job.total;
  return {
    id: job.id,
    jobId: job.id,
    [jobStatusField]: words[job.state],
    ...(jobProgress !== 'none' && {
      progress: jobProgress === 'percent' ? fraction * 100 : fraction,
    }),
    ...(job.state === 'done' && { result: resultOf(job) }),
    ...(job.failedReason !== undefined && { failedReason: job.failedReason }),
  };
}

/** The status of a failed job, by the status that the same world uses for a successful one. */
const failures = {
  completed: 'failed',
  complete: 'failure',
  done: 'error',
  finished: 'canceled',
  success: 'error',
  SUCCEEDED: 'FAILED',
} as const;

function resultOf({ type, total, counts, errors }: Job): object {
  const {
    success = 0,
    unchanged = 0,
    created = 0,
    updated = 0,
    failure: failureCount = 0,
  } = counts;
  if (type === 'import') {
    const successCount = created + updated;
    const counted = { successCount, createdCount: created, updatedCount: updated, failureCount };
    return { total, ...counted, errors };
  }
  const operation = type.replace('bulk-', '');
  const counted = { successCount: success, unchangedCount: unchanged, failureCount };
  return { operation, totalRequested: total, ...counted, errors };
}
