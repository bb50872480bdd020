import { isRecord } from '../../core/values.js';
import type { MediaContext } from '../context.js';
import * as notices from '../notices.js';
import type { MediaJob } from '../generate/media-job.js';
import { journalOf } from '../jobs/journal.js';
import { requireJobs } from '../lazy-queue.js';
import { queueHost, type QueueHost } from './host.js';
import { EngineInput } from './input/engine-input.js';
import type { AcknowledgingSource } from './input/job-source.js';
import {
  readQueueOptions,
  type JobSource,
  type MediaQueue,
  type PoolQueueOptions,
  type QueueOptions,
} from './options.js';
import { JobQueue } from './queue.js';

/** Makes the queue of a client for what it was given. */
export function openQueue(
  context: MediaContext,
  jobs: JobSource | AcknowledgingSource,
  given: QueueOptions | undefined,
): MediaQueue {
  const options = readQueueOptions(given);
  if (!isAcknowledging(jobs)) {
    requireJobs(jobs);
    const isNamed = options.name !== undefined;
    return new JobQueue(jobs, options, () => hostsOf([context], isNamed));
  }
  // What a source hands out again must be known, or it would be paid for again.
  journalOf(context);
  const { connection, pendingLimit } = context;
  const concurrency = Math.min(options.concurrency ?? pendingLimit, pendingLimit);
  const warn = (message: string) => notices.warn(connection.events, message);
  const engine = new EngineInput(jobs, { concurrency }, warn);
  // Two queues may number their jobs alike: engine, queue and prefix are part of the name.
  const queue = JSON.stringify([options.name ?? 'source', jobs.name ?? '']);
  const naming = { queue, jobOf: (job: MediaJob) => engine.idOf(job), mayRecur: true };
  return new JobQueue(engine, options, () => hostsOf([context], true), naming);
}

// A generator has a `take()` of its own in newer runtimes.
function isAcknowledging(jobs: JobSource | AcknowledgingSource): jobs is AcknowledgingSource {
  return isRecord(jobs) && typeof jobs['take'] === 'function' && typeof jobs['fail'] === 'function';
}

/** Makes the queue of several keys. */
export function openPoolQueue(
  contexts: readonly MediaContext[],
  jobs: JobSource,
  given: PoolQueueOptions | undefined,
): MediaQueue {
  requireJobs(jobs);
  const options = readQueueOptions(given);
  return new JobQueue(jobs, options, () => hostsOf(contexts, options.name !== undefined));
}

function hostsOf(contexts: readonly MediaContext[], isNamed: boolean): Promise<QueueHost[]> {
  return Promise.all(contexts.map((context) => queueHost(context, isNamed)));
}
