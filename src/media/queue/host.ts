import type { RequestOptions } from '../../core/types.js';
import { fingerprint } from '../../core/values.js';
import { onAbort, type Clock } from '../../core/async.js';
import type { PostreelError } from '../../core/errors.js';
import type { RunningCall } from '../../core/call.js';
import type { Transport } from '../../core/send.js';
import type { MediaContext } from '../context.js';
import { audioRecords, videoRecords } from '../generate/accepted.js';
import { isVideo, withFormat, type MediaJob } from '../generate/media-job.js';
import { routes } from '../generate/routes.js';
import { jobRefusal } from '../generate/rules.js';
import type { StatusRecord } from '../generate/types.js';
import type { MediaFile } from '../jobs/file.js';
import type { GenerationJob, JobRecord } from '../jobs/job.js';
import { journalOf } from '../jobs/journal.js';
import type { KnownJob } from '../jobs/journal-types.js';
import { outstandingJobs } from '../jobs/outstanding.js';
import { submit, type SendHooks, type Submission } from '../jobs/submit.js';
import * as notices from '../notices.js';
import type { FileUpdate } from '../status/wait-options.js';
import { sharedSlots, type PendingSlots } from './slots/slots.js';

/** What a queue asks of its client. */
export interface QueueHost {
  readonly clock: Clock;
  readonly slots: PendingSlots;
  /** Whose jobs these are: a fingerprint of the project. */
  owner(): Promise<string>;
  /** Do status checks count towards the rate limit? */
  readonly checksCount: boolean;
  /** When the rate limit lets the next call through. */
  callAt(now: number): number;
  /** How long it takes until so many calls have left, with the rate limit. */
  callsMs(count: number): number;
  /** Submits the jobs of one call. */
  submit(jobs: readonly MediaJob[], facts: Submitting): RunningCall<JobRecord[]>;
  /** The handle of a job. */
  handle(record: JobRecord): GenerationJob;
  check(fileId: string, signal: AbortSignal): Promise<StatusRecord>;
  /** Tells everybody who listens to the client of a check. */
  report(update: FileUpdate): void;
  /** Takes keys out of a text that the service wrote. */
  readonly clean: (text: string) => string;
  /** A status that is not in the document. */
  reportUnknown(fileId: string, status: unknown): void;
  file(fileId: string, url: string): MediaFile;
  /** What breaks a rule of the document in one job. */
  problem(job: MediaJob): PostreelError | undefined;
  /** The name of a job in the journal. */
  nameOf(queue: string, job: string): string;
  /** What earlier runs of a named queue did. */
  find(names: readonly string[], retriesFailed: boolean): Promise<ReadonlyMap<string, KnownJob>>;
  /** A file was saved, or its result was taken: for the job of this name, or for all that have it. */
  settle(fileId: string, name: string | undefined): Promise<void>;
  /** Resolves when all that was noted is written down. */
  flush(): Promise<void>;
  /** The queue waits for so long. */
  reportWait(waitMs: number, waiting: number): void;
  /** Something fails, and the queue goes on or waits; `code` is a word for programs. */
  warn(message: string, code?: string): void;
}

/** What goes with the jobs of one call. */
export interface Submitting {
  readonly names: readonly string[] | undefined;
  readonly retriesFailed: boolean;
  readonly folderId: string | undefined;
  readonly signal: AbortSignal;
}

// A check that another wait made so lately is as good as an own one.
const freshMs = 1_000;

/** Gives a queue what it needs of a media client. */
export async function queueHost(context: MediaContext, isNamed: boolean): Promise<QueueHost> {
  const { connection, poller, waits } = context;
  const { events, transport } = connection;
  const journal = isNamed ? journalOf(context) : context.journal;
  const { schemas } = await import('../schemas.js');
  return {
    clock: connection.settings.clock,
    slots: await slotsOf(context),
    owner: () => context.owner(),
    get checksCount() {
      return poller.areChecksCharged;
    },
    callAt: (now) => callAt(transport, now),
    callsMs: (count) => callsMs(context, count),
    submit: (jobs, facts) => submitJobs(context, jobs, facts),
    handle: (record) => context.adopt(record),
    check: (fileId, signal) => poller.checkStatus(fileId, freshMs, signal),
    report: (update) => waits.report(update),
    reportUnknown: (fileId, status) => notices.unknownStatus(events, fileId, status),
    clean: context.clean,
    file: (fileId, url) => waits.file(fileId, url),
    problem: (job) => jobRefusal(job, schemas.generate),
    nameOf: (queue, job) => journal?.nameOf(queue, job) ?? job,
    find: (names, retriesFailed) =>
      journal?.find(names, retriesFailed) ?? Promise.resolve(new Map<string, KnownJob>()),
    settle: async (fileId, name) => {
      await journal
        ?.settle(fileId, 'saved', name)
        .catch((error: unknown) =>
          notices.noJournal(events, error, 'A file that is saved stays listed as pending.'),
        );
    },
    flush: async () => journal?.flush(),
    warn: (message, code) => notices.warn(events, message, code),
    reportWait: (waitMs, queued) => events.emit('throttled', { reason: 'limit', waitMs, queued }),
  };
}

// Counts the project's pending jobs, together with all other clients.
async function slotsOf({ connection, pendingLimit }: MediaContext): Promise<PendingSlots> {
  const name = await connection.projectName();
  return sharedSlots(name, {
    limit: pendingLimit,
    clock: connection.settings.clock,
    store: connection.settings.store,
    group: fingerprint(name),
    others: outstandingJobs(name),
    warn: (message) => notices.warn(connection.events, message),
  });
}

// By the time of the step: one that is read a moment later would always lie ahead of it.
function callAt(transport: Transport, now: number): number {
  const { resetsAt } = transport.rateLimit() ?? {};
  return resetsAt ? now + resetsAt.getTime() - Date.now() : now;
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
  { names, retriesFailed, folderId, signal }: Submitting,
): RunningCall<JobRecord[]> {
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
  const options: RequestOptions = {
    signal: controller.signal,
    retries: 0,
    priority: 'bulk',
    timeout: context.paidTimeoutMs,
  };
  const send: Submission['send'] = (hooks) => {
    call = sendJobs(transport, jobs, { folderId, options, hooks });
    return call;
  };
  const owner = () => context.owner();
  const { journal } = context;
  const accepted = submit({ jobs, names, retriesFailed, owner, send }, journal, events);
  accepted.finally(stopListening).catch(() => undefined);
  return accepted;
}

function sendJobs(
  transport: Transport,
  jobs: readonly MediaJob[],
  {
    folderId,
    options,
    hooks: { beforeSending, onLate },
  }: { folderId: string | undefined; options: RequestOptions; hooks: SendHooks },
): RunningCall<JobRecord[]> {
  const [first] = jobs;
  if (first !== undefined && !isVideo(first)) {
    const late = (answer: unknown) => onLate(() => audioRecords(answer));
    return transport
      .send(routes.audio, { body: first, hooks: { beforeSending, onLate: late } }, options)
      .map(audioRecords);
  }
  const payload = jobs.filter(isVideo).map(withFormat);
  const recordsOf = (answer: unknown) => videoRecords(answer, payload.length);
  const late = (answer: unknown) => onLate(() => recordsOf(answer));
  const input = { body: { payload, folderId }, hooks: { beforeSending, onLate: late } };
  return transport.send(routes.video, input, options).map(recordsOf);
}
