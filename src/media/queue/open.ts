import type { MediaContext } from '../context.js';
import { journalOf } from '../jobs/journal.js';
import { queueHost } from './host.js';
import type { AcknowledgingSource } from './input/job-source.js';
import type { JobSource, MediaQueue, QueueOptions } from './options.js';
import { JobQueue } from './queue.js';

/** Makes the queue of a client for what it was given. */
export async function openQueue(
  context: MediaContext,
  jobs: JobSource | AcknowledgingSource,
  options: QueueOptions,
): Promise<MediaQueue> {
  if (!('take' in jobs) || typeof jobs.take !== 'function') {
    const isNamed = options.name !== undefined;
    return new JobQueue(jobs as JobSource, options, () => queueHost(context, isNamed)); // it does not acknowledge
  }
  // What a source hands out again must be known, or it would be paid for again.
  journalOf(context.options);
  const { AcknowledgedQueue } = await import('./input/acknowledged.js');
  return new AcknowledgedQueue(
    jobs,
    options,
    (stream, own) => new JobQueue(stream, own, () => queueHost(context, true), true),
  );
}
