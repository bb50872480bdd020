import type { RequestOptions } from '../../contract/call.js';
import { fingerprint } from '../../contract/fingerprint.js';
import type { PostreelError } from '../../errors/index.js';
import type { RunningCall } from '../../transport/call.js';
import { onAbort } from '../../async/abort.js';
import type { RateLimitState } from '../../transport/rate-limit/local-budget.js';
import { isVideo, type MediaJob } from '../generate/media-job.js';
import type { MediaFile } from '../jobs/file.js';
import { jobRefusal } from '../generate/rules.js';
import { audioRecords, videoRecords } from '../generate/accepted.js';
import { routes } from '../generate/routes.js';
import type { GenerationJob, JobRecord } from '../jobs/job.js';
import { earlierRun } from '../jobs/journal.js';
import { later, sharedGate, uncertainMs, type PendingGate } from './slots.js';
import type { Workshop } from '../context.js';

/** What a queue asks of its client. */
export interface QueueHost {
  readonly gate: PendingGate;
  rateLimit(): RateLimitState | undefined;
  /** How long it takes until so many calls have left, with the rate limit. */
  callsMs(count: number): number;
  /** Hands in jobs of one call; they take the places given. */
  submit(jobs: readonly MediaJob[], facts: Submitting): RunningCall<GenerationJob[]>;
  /** The handle of a job that an earlier run handed in. */
  revive(record: JobRecord): GenerationJob;
  wait(job: GenerationJob, signal: AbortSignal): Promise<MediaFile>;
  /** Looks at running jobs now, so that no place that is free goes unnoticed. */
  refresh(jobs: readonly GenerationJob[], signal: AbortSignal): Promise<void>;
  /** What breaks a rule of the document in one job. */
  problem(job: MediaJob): PostreelError | undefined;
  /** What an earlier run of a named queue did. */
  earlier(): Promise<ReadonlyMap<string, JobRecord | 'unknown'>>;
}

/** What goes with the jobs of one call. */
export interface Submitting {
  readonly names: readonly string[] | undefined;
  readonly folderId: string | undefined;
  readonly signal: AbortSignal;
}

/** What a queue needs of a media client. */
export async function queueHost(workshop: Workshop): Promise<QueueHost> {
  const { schemas } = await import('../schemas.js');
  return {
    gate: await gateOf(workshop),
    rateLimit: () => workshop.connection.transport.rateLimit(),
    callsMs: (count) => callsMs(workshop.connection, count),
    submit: (jobs, facts) => handIn(workshop, jobs, facts),
    revive: (record) => workshop.job(record),
    // "every 10 seconds": a queue that notices late leaves places empty.
    wait: (job, signal) =>
      job.waitForFile({ signal, ...(job.kind === 'video' && { interval: 10_000 }) }),
    refresh: (jobs, signal) =>
      workshop.refresh(
        jobs.filter(({ kind }) => kind === 'video').map(({ fileId }) => fileId),
        signal,
      ),
    problem: (job) => jobRefusal(job, schemas.generate),
    earlier: async () => earlierRun(await workshop.journal().read()),
  };
}

/**
 * Counts a job that was handed in beside the queues of the project: until somebody sees its end, or
 * for so long as a job may take.
 */
export async function countBeside(workshop: Workshop, fileId: string): Promise<void> {
  const place = (await gateOf(workshop)).count();
  const end = () => {
    stopListening();
    place.free();
  };
  const stopListening = workshop.onEnd(fileId, end);
  later(uncertainMs, end);
}

// Counts the project's pending jobs, together with all other clients.
async function gateOf({ connection, pendingLimit }: Workshop): Promise<PendingGate> {
  const name = await connection.projectName();
  return sharedGate(name, pendingLimit, connection.settings.store, fingerprint(name));
}

// What does not fit into this window goes into the next ones.
function callsMs(
  { transport, settings: { limits } }: Workshop['connection'],
  count: number,
): number {
  if (!limits) {
    return 0;
  }
  const { limit, windowMs } = limits;
  const { used = 0 } = transport.rateLimit() ?? {};
  return (Math.max(0, count + used - limit) * windowMs) / limit;
}

function handIn(
  workshop: Workshop,
  jobs: readonly MediaJob[],
  { names, folderId, signal }: Submitting,
): RunningCall<GenerationJob[]> {
  let call: RunningCall<JobRecord[]> | undefined;
  const controller = new AbortController();
  // A call that has left comes to its end: its jobs are paid for, and their ids are in the answer.
  const stopListening = onAbort(signal, () => {
    if (!call?.hasLeft) {
      controller.abort(signal.reason);
    }
  });
  // The queue itself decides what to do after a refusal: by then more places may be free.
  const options: RequestOptions = { signal: controller.signal, retries: 0, priority: 'bulk' };
  const send = () => (call = sendJobs(workshop, jobs, { folderId, options }));
  const accepted = workshop.submit({ jobs, names, send });
  accepted.finally(stopListening).catch(() => undefined);
  return accepted.map((records) => records.map((record) => workshop.adopt(record)));
}

function sendJobs(
  { connection: { transport } }: Workshop,
  jobs: readonly MediaJob[],
  { folderId, options }: { folderId: string | undefined; options: RequestOptions },
): RunningCall<JobRecord[]> {
  const [first] = jobs;
  if (first !== undefined && !isVideo(first)) {
    return transport.send(routes.audio, { body: first }, options).map(audioRecords);
  }
  const payload = jobs.filter(isVideo);
  return transport
    .send(routes.video, { body: { payload, folderId } }, options)
    .map((accepted) => videoRecords(accepted, payload.length));
}
