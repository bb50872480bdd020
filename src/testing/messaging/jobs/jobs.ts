import type { FakeAnswer, FakeRequest } from '../../core/types.js';
import { findOwn, notFound } from '../find.js';
import type { Job, Scope } from '../state.js';
import { messageOf } from '../../../core/errors.js';

/** A queued piece of work. */
export interface Work<Item> {
  readonly type: Job['type'];
  readonly items: readonly Item[];
  /** Handles one item and returns how to count it, e.g. `created`; throws when it cannot. */
  readonly handle: (item: Item) => string;
  /** The row of the first item, for the list of failures. @default 1 */
  readonly firstRow?: number;
}

/** Once a second a job handles as much as `settings.jobs.perSecond` says. */
const tickMs = 1000;

/** Queues work that goes on with the clock, and answers its `jobId`. */
export function startJob<Item>(scope: Scope, work: Work<Item>): FakeAnswer {
  const job = addJob(scope, work.type, work.items.length);
  const proceed = () => {
    const { perSecond } = scope.world.settings.jobs;
    job.status = 'processing';
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
  return { body: startedBody(scope, job) };
}

/** Queues work that cannot be done: the job fails at its first second. */
export function startFailingJob(scope: Scope, type: Job['type'], message: string): FakeAnswer {
  const job = addJob(scope, type, 0);
  scope.world.clock.after(tickMs, () => {
    job.failures.push({ row: 0, message });
    finish(scope, job, 'failed');
  });
  return { body: startedBody(scope, job) };
}

function startedBody({ world }: Scope, { id }: Job): object {
  const { jobIds } = world.settings;
  return jobIds === 'none' ? { status: 'queued' } : { [jobIds]: id };
}

/** Answers a poll; an import and a bulk job are not found at each other's address. */
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
    status: 'queued',
    total,
    processed: 0,
    counts: {},
    failures: [],
    createdAt: world.clock.date(),
  };
  project.jobs.set(job.id, job);
  return job;
}

function handleNext<Item>(job: Job, { items, handle, firstRow = 1 }: Work<Item>): void {
  // In bounds: `processed` is below `total`, the number of items.
  const item = items[job.processed] as Item;
  try {
    count(job, handle(item));
  } catch (error) {
    count(job, 'failed');
    const message = messageOf(error);
    job.failures.push({ row: firstRow + job.processed, message });
  }
  job.processed += 1;
}

function count({ counts }: Job, what: string): void {
  counts[what] = (counts[what] ?? 0) + 1;
}

function finish({ world }: Scope, job: Job, status: 'done' | 'failed'): void {
  job.status = status;
  job.finishedAt = world.clock.date();
}

function isForgotten({ world }: Scope, { finishedAt }: Job): boolean {
  if (finishedAt === undefined) {
    return false;
  }
  return world.clock.now() - Date.parse(finishedAt) >= world.settings.jobs.keepMs;
}

/** The fields and status values of jobs are not shown. */
function jobBody({ world }: Scope, job: Job): Record<string, unknown> {
  const { statusField, done, failed, progress } = world.settings.jobs;
  const words = { queued: 'queued', processing: 'processing', done, failed };
  const fraction = job.total === 0 ? Number(job.status === 'done') : job.processed / job.total;
  return {
    jobId: job.id,
    type: job.type,
    [statusField]: words[job.status],
    ...(progress !== 'none' && { progress: progress === 'percent' ? fraction * 100 : fraction }),
    total: job.total,
    processed: job.processed,
    ...job.counts,
    errors: job.failures,
    createdAt: job.createdAt,
    finishedAt: job.finishedAt ?? null,
  };
}
