import type { OpenRecord } from '../contract/records.js';
import { LazyPart } from '../transport/load-part.js';
import type { JobWatch, JobWaitOptions } from './job.js';
import type { RecordWait, RecordWaitOptions } from './record.js';
import type { Spacing } from './spacing.js';

/** What only a program that waits needs. */
export const waiting = /* @__PURE__ */ new LazyPart(() => import('./waiting.js'), 'follow');

/** Waits until an import or bulk job is done. */
export async function waitForJob<Job extends OpenRecord>(
  jobId: string,
  check: (signal: AbortSignal | undefined) => Promise<Job>,
  watch: JobWatch,
  options: JobWaitOptions<Job>,
): Promise<Job> {
  const part = await waiting.load();
  return part.waitForJob(jobId, check, watch, options);
}

/** Checks a record until it has come to its end; a failed or cancelled one rejects. */
export async function waitForRecord<Item>(
  plan: RecordWait<Item>,
  options: RecordWaitOptions<Item>,
): Promise<Item> {
  const part = await waiting.load();
  return part.waitForRecord(plan, options);
}

/** One spacing for all the status checks of a client. */
export function createSpacing(): Spacing {
  let spacing: Spacing | undefined;
  return async (check, signal) => {
    const part = await waiting.load();
    spacing ??= part.createSpacing();
    return spacing(check, signal);
  };
}
