import type { RequestOptions } from '../../contract/call.js';
import { fingerprint } from '../../contract/fingerprint.js';
import type { PostreelError } from '../../errors/index.js';
import type { RunningCall } from '../../transport/call.js';
import type { Transport } from '../../transport/transport.js';
import { onAbort } from '../../async/abort.js';
import type { RateLimitState } from '../../transport/rate-limit/budget.js';
import { isVideo, type MediaJob } from '../generate/media-job.js';
import type { MediaFile } from '../jobs/file.js';
import { jobRefusal } from '../generate/rules.js';
import { audioRecords, videoRecords } from '../generate/accepted.js';
import { routes } from '../generate/routes.js';
import type { GenerationJob, JobRecord } from '../jobs/job.js';
import { earlierRun, journalOf } from '../jobs/journal.js';
import { outstandingJobs } from '../jobs/outstanding.js';
import { submit } from '../jobs/submit.js';
import * as notices from '../notices.js';
import { sharedSlots, type PendingSlots } from './slots.js';
import type { MediaContext } from '../context.js';

/** What a queue asks of its client. */
export interface QueueHost {
  readonly gate: PendingSlots;
  rateLimit(): RateLimitState | undefined;
  /** How long it takes until so many calls have left, with the rate limit. */
  callsMs(count: number): number;
  /** Submits the jobs of one call; they take the slots given. */
  submit(jobs: readonly MediaJob[], facts: Submitting): RunningCall<GenerationJob[]>;
  /** The handle of a job that an earlier run submitted. */
  revive(record: JobRecord): GenerationJob;
  wait(job: GenerationJob, signal: AbortSignal): Promise<MediaFile>;
  /** Checks running jobs now, so that no slot that is free goes unnoticed. */
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

/** Gives a queue what it needs of a media client. */
export async function queueHost(context: MediaContext): Promise<QueueHost> {
  const { connection, options } = context;
  const { schemas } = await import('../schemas.js');
  return {
    gate: await slotsOf(context),
    rateLimit: () => connection.transport.rateLimit(),
    callsMs: (count) => callsMs(context, count),
    submit: (jobs, facts) => submitJobs(context, jobs, facts),
    revive: (record) => context.job(record),
    // "every 10 seconds": a queue that notices late leaves slots empty.
    wait: (job, signal) =>
      job.waitForFile({ signal, ...(job.kind === 'video' && { interval: 10_000 }) }),
    refresh: (jobs, signal) => refresh(context, jobs, signal),
    problem: (job) => jobRefusal(job, schemas.generate),
    earlier: async () => earlierRun(await journalOf(options).read()),
  };
}

// A check that is not older need not be made again.
const freshMs = 3_000;

/** Checks files before their time; waits for them hear of those that are finished. */
async function refresh(
  { poller }: MediaContext,
  jobs: readonly GenerationJob[],
  signal: AbortSignal,
): Promise<void> {
  // A check that counts towards the rate limit is too expensive for this.
  if (poller.counts) {
    return;
  }
  const videos = jobs.filter(({ kind }) => kind === 'video');
  await Promise.allSettled(videos.map(({ fileId }) => poller.look(fileId, freshMs, signal)));
}

// Counts the project's pending jobs, together with all other clients.
async function slotsOf({ connection, pendingLimit }: MediaContext): Promise<PendingSlots> {
  const name = await connection.projectName();
  const { store } = connection.settings;
  const slots = sharedSlots(name, { limit: pendingLimit, store, group: fingerprint(name) });
  slots.countBeside(outstandingJobs(name));
  return slots;
}

// What does not fit into this window goes into the next ones.
function callsMs({ connection }: MediaContext, count: number): number {
  const { limits } = connection.settings;
  if (!limits) {
    return 0;
  }
  const { limit, windowMs } = limits;
  const { used = 0 } = connection.transport.rateLimit() ?? {};
  return (Math.max(0, count + used - limit) * windowMs) / limit;
}

function submitJobs(
  context: MediaContext,
  jobs: readonly MediaJob[],
  { names, folderId, signal }: Submitting,
): RunningCall<GenerationJob[]> {
  const { transport, events } = context.connection;
  let call: RunningCall<JobRecord[]> | undefined;
  const controller = new AbortController();
  // A call that has left comes to its end: its jobs are paid for, and their ids are in the answer.
  const stopListening = onAbort(signal, () => {
    if (!call?.hasLeft) {
      controller.abort(signal.reason);
    }
  });
  // The queue itself decides what to do after a refusal: by then more slots may be free.
  const options: RequestOptions = { signal: controller.signal, retries: 0, priority: 'bulk' };
  const send = () => {
    call = sendJobs(transport, jobs, { folderId, options });
    return call;
  };
  const onTrouble = (error: unknown) => notices.noJournal(events, error);
  const accepted = submit({ jobs, names, send }, context.options.journal, onTrouble);
  accepted.finally(stopListening).catch(() => undefined);
  return accepted.map((records) => records.map((record) => context.adopt(record)));
}

function sendJobs(
  transport: Transport,
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
