import { callSafely } from '../../async/notifier.js';
import type { BulkJob, BulkProgress, BulkResult, ContactSelection, JobStarted } from './types.js';

// The most ids that one call takes (Limits, "Bulk subscribe/unsubscribe/delete").
const chunkSize = 1000;

/** What a call for any number of contacts is made of. */
export interface BulkPlan {
  readonly start: (body: ContactSelection) => PromiseLike<JobStarted>;
  readonly wait: (jobId: string) => Promise<BulkJob>;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: BulkProgress) => void) | undefined;
}

/** Queues any number of ids in calls of 1000, waits for each job, and says what failed. */
export async function inBulk(
  ids: Iterable<string> | AsyncIterable<string>,
  plan: BulkPlan,
): Promise<BulkResult> {
  const result: BulkResult = { done: 0, failed: [], jobs: [] };
  for await (const chunk of chunks(ids)) {
    plan.signal?.throwIfAborted();
    await runChunk(chunk, plan, result);
    const failed = result.failed.reduce((sum, { contactIds }) => sum + contactIds.length, 0);
    callSafely(() => plan.onProgress?.({ done: result.done, failed }));
  }
  return result;
}

// A job that failed does not keep the others from being queued.
async function runChunk(contactIds: string[], plan: BulkPlan, result: BulkResult): Promise<void> {
  try {
    const { jobId } = await plan.start({ contactIds });
    result.jobs.push(await plan.wait(jobId));
    result.done += contactIds.length;
  } catch (error) {
    plan.signal?.throwIfAborted();
    result.failed.push({ contactIds, error });
  }
}

async function* chunks(
  ids: Iterable<string> | AsyncIterable<string>,
): AsyncGenerator<string[], void, undefined> {
  let chunk: string[] = [];
  for await (const id of ids) {
    chunk.push(id);
    if (chunk.length === chunkSize) {
      yield chunk;
      chunk = [];
    }
  }
  if (chunk.length > 0) {
    yield chunk;
  }
}
