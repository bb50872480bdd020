import { isAbortOf, onAbort } from '../../core/async.js';
import type { Call, RequestOptions } from '../../core/types.js';
import type { NamesOf } from '../../core/call/route.js';
import { flag } from '../../core/options.js';
import { isRecord } from '../../core/values.js';
import { invalidRequest, isPostreelError, PostreelError } from '../../core/errors.js';
import { callSite, locate, RunningCall } from '../../core/call/call.js';
import type { MediaConnection } from '../connection.js';
import { GenerationJob } from '../jobs/job.js';
import { ledgerOf, type JobLedger, type OnceJob } from '../jobs/ledger.js';
import { readOnceKey } from '../../core/once/once.js';
import type { MediaNotices } from '../notices.js';
import type { FileWaits } from '../status/file-waits.js';
import type { FileKind } from '../status/intervals.js';
import type { StatusPoller } from '../status/poller.js';
import type { QueueQuota } from '../submit/queue-quota.js';
import type { OnceJobs } from '../submit/once.js';
import type { ClientSlots } from '../submit/slots.js';
import type { Submission, Submitted } from '../submit/submission.js';
import type { Submitter } from '../submit/submitter.js';
import { submitLongAudio, type SubmitPart } from './long-audio/submit.js';
import { isVideo, withFormat, type MediaJob } from './media-job.js';
import { routes } from './routes.js';
import type {
  AudioRequest,
  LongAudioRequest,
  StatusQuery,
  StatusRecord,
  TextRange,
  VideoJob,
  VideoRequest,
} from './types.js';

/** Options of a call that submits a job. */
export interface GenerateOptions extends RequestOptions {
  /**
   * Submits the job again when its file failed or was canceled under this key.
   * @default false
   */
  retryFailed?: boolean | undefined;
}

/** The parts of the client that the resource uses. */
export interface GenerateParts {
  readonly connection: MediaConnection;
  readonly ledger: JobLedger | undefined;
  readonly notices: MediaNotices;
  /** Submits jobs with an idempotency key; `undefined` without a journal. */
  readonly once: OnceJobs | undefined;
  readonly poller: StatusPoller;
  readonly slots: ClientSlots;
  readonly submitter: Submitter;
  readonly waits: FileWaits;
}

/** The settings of a queue for one of its jobs. */
export interface QueueJobSettings {
  readonly quota: QueueQuota;
  /** Gives the job its key in the journal; `undefined` for a queue without a name. */
  readonly once: ((job: MediaJob) => OnceJob) | undefined;
  readonly folderId: string | undefined;
  readonly sendsUnknown: boolean;
}

/** A job that the service has accepted. */
export interface SubmittedJob {
  readonly job: GenerationJob;
  /** Set when an earlier call submitted the job. `isSaved`: was its file saved, too? */
  readonly earlier: { readonly isSaved: boolean } | undefined;
}

interface GenerateRequest {
  readonly kind: FileKind;
  readonly body: unknown;
  readonly reportPath?: string;
  readonly options: GenerateOptions;
  /** Aborts when the caller no longer wants the jobs. It has no effect once the request has been sent. */
  readonly cancelSignal?: AbortSignal | undefined;
  readonly settings?: QueueJobSettings | undefined;
  /** The range of the longer text that the job speaks. */
  readonly part?: TextRange | undefined;
}

const ownOptions = { retryFailed: flag };

/**
 * Generates videos and speech. A call only submits the job; wait for the file afterwards. Videos that you
 * submit at the same time may share one request, because the service limits requests.
 * @example
 * const job = await media.generate.video({
 *   workflowType: 'idea',
 *   prompt: 'Why cats purr',
 *   voiceId: 'voice_1',
 * });
 * const file = await job.waitForFile();
 */
export class Generate implements NamesOf<typeof routes> {
  readonly #parts: GenerateParts;

  constructor(parts: GenerateParts) {
    this.#parts = parts;
  }

  /**
   * Submits one video and resolves to its job. With a `payload` it submits several videos and resolves to one
   * job for each, in order. The call is never sent twice: after an `'unknown'` outcome the videos may already
   * be rendering.
   */
  video<Type extends VideoJob['workflowType'] | undefined = undefined>(
    given: OneOrMore & { workflowType?: Type },
    options: GenerateOptions = {},
  ): Call<Type extends string ? GenerationJob : GenerationJob[]> {
    // as: a job has a `workflowType`, and a list of them has none
    return this.#videos(given, options) as Call<never>;
  }

  #videos(given: OneOrMore, options: GenerateOptions): Call<GenerationJob> | Call<GenerationJob[]> {
    if (isOneVideo(given)) {
      const body = { payload: [given] };
      const one = this.#submit({ kind: 'video', body, reportPath: 'payload[0]', options });
      return one.map((all) => requireOne(all).job);
    }
    const many = this.#submit({ kind: 'video', body: given, options });
    return many.map((all) => addHint(all.map(({ job }) => job)));
  }

  /** Submits text to be spoken and resolves to its job. The call is never sent twice. */
  audio(body: AudioRequest, options: GenerateOptions = {}): Call<GenerationJob> {
    return this.#submit({ kind: 'audio', body, options }).map((all) => requireOne(all).job);
  }

  /**
   * Submits text of any length to be spoken. The text is split at the ends of sentences into parts of at most
   * 10 000 characters, which are submitted one after another. Resolves to one job per part, in order;
   * `job.part` is the range of the part. With `once` each part has the key `<once>/<index>`, counted from 0:
   * a repeated call submits only the missing parts, and with `retryFailed` also the parts whose speech failed
   * or was canceled.
   * @throws a `LongAudioError` that has the accepted parts as its `jobs`, also after an abort
   */
  longAudio(body: LongAudioRequest, options?: GenerateOptions): Promise<GenerationJob[]> {
    const { slots, waits } = this.#parts;
    const { pendingLimit } = slots;
    const submit: SubmitPart = (request, { start, end, index, count }, signal) => {
      const part = { start, end };
      const once = options && 'once' in options && { once: `${readOnceKey(options)}/${index}` };
      const own = { ...options, ...once, signal };
      // A single part is the whole text: no range is stored, so that its file may have the name of the whole.
      const call = this.submitPart(request, count > 1 ? part : undefined, own);
      return call.map((job) => new GenerationJob({ ...job.toJSON(), part }, waits));
    };
    return submitLongAudio(body, { pendingLimit, submit }, options?.signal);
  }

  /** Checks a file's status once. */
  status(query: StatusQuery, options?: RequestOptions): Call<StatusRecord> {
    return this.#parts.poller.request(query, options);
  }

  /** @internal Submits a job of a queue. An abort has no effect once the request has been sent. */
  submitFor(
    job: MediaJob,
    settings: QueueJobSettings,
    options: GenerateOptions,
  ): RunningCall<SubmittedJob> {
    const kind = isVideo(job) ? 'video' : 'audio';
    const body = isVideo(job) ? { payload: [job] } : job;
    const place = isVideo(job) ? { reportPath: 'payload[0]' } : {};
    return this.#submitAbortable({ kind, body, ...place, options, settings }).map(requireOne);
  }

  /** @internal Submits a part of a longer text. An abort has no effect once the request has been sent. */
  submitPart(
    body: AudioRequest,
    part: TextRange | undefined,
    options: GenerateOptions,
  ): RunningCall<GenerationJob> {
    return this.#submitAbortable({ kind: 'audio', body, part, options }).map(
      (all) => requireOne(all).job,
    );
  }

  // Ignores an abort once the request has been sent: its job is paid for, and its id is in the response.
  #submitAbortable(request: GenerateRequest): RunningCall<SubmittedJob[]> {
    const controller = new AbortController();
    const { signal } = request.options;
    const own = { ...request.options, signal: controller.signal };
    const call = this.#submit({ ...request, options: own, cancelSignal: signal });
    const stopListening = onAbort(signal, () => {
      if (!call.isSent) {
        controller.abort(signal?.reason);
      }
    });
    call.finally(stopListening).catch(() => undefined);
    return call;
  }

  #submit({
    kind,
    body,
    reportPath,
    options,
    cancelSignal,
    settings,
    part,
  }: GenerateRequest): RunningCall<SubmittedJob[]> {
    const site = callSite();
    return new RunningCall(async (state) => {
      state.outcome = 'not-sent';
      try {
        options.signal?.throwIfAborted();
        const { connection, notices, once: keys, slots, submitter, waits } = this.#parts;
        const full = kind === 'video' ? addFormats(body, slots.limit) : body;
        const about = { reportPath };
        const before = { options: ownOptions, run: () => Promise.resolve(undefined) };
        // Copies the jobs now: later changes by the caller, while the call waits, have no effect.
        const input = { body: full as never, about, before }; // as: checked here
        const checked = await connection.transport.check(routes[kind], input, options, state);
        const { payload, ...own } = checked.body as { payload?: MediaJob[] }; // as: checked above
        const jobs = payload ?? [checked.body as MediaJob];
        for (const job of jobs) {
          if ('webhook' in job && job.webhook !== undefined) {
            notices.warnOfWebhook(job.webhook);
          }
        }
        const {
          retryFailed: retriesFailed = false,
          retry,
          ...rest
        } = checked.options as GenerateOptions;
        const folder = payload ? { ...(settings && { folderId: settings.folderId }), ...own } : {};
        const sendsUnknown = settings?.sendsUnknown ?? retry?.unknownOutcome ?? false;
        const submission: Submission = {
          kind,
          jobs,
          folder,
          options: rest,
          sendsUnknown,
          retriesFailed,
          quota: settings?.quota,
          part,
          cancelSignal,
        };
        const once = settings
          ? settings.once?.(requireOne(jobs))
          : this.#onceOf(kind, jobs, options);
        const answer =
          once && keys
            ? await keys.submit({ ...submission, once }, state)
            : ((await submitter.submit(submission, state)) as Submitted); // as: it has no key to lose
        const { earlier } = answer;
        return {
          ...answer,
          data: answer.data.map((record) => ({ job: new GenerationJob(record, waits), earlier })),
        };
      } catch (reason) {
        const caller = settings ? undefined : options.signal; // a queue has a separate signal for its jobs
        const failure = state.mayHaveHappened ? markUnknown(reason, caller) : reason;
        state.outcome = state.mayHaveHappened ? 'unknown' : state.outcome;
        locate(failure, site, settings ? 'call' : 'outer call'); // the queue adds the line of its caller
        throw failure;
      }
    });
  }

  #onceOf(kind: FileKind, jobs: readonly MediaJob[], options: object): OnceJob | undefined {
    if (!('once' in options)) {
      return undefined;
    }
    const key = readOnceKey(options);
    const [job, ...others] = jobs;
    if (!job || others.length > 0) {
      const message =
        'is the key of a single job: make one call for each job; calls that you make at the same time can share a request';
      throw invalidRequest([{ field: 'once', message }]);
    }
    return ledgerOf(this.#parts.ledger).onceOf(kind, key, job);
  }
}

/** One video or several, in one signature: TypeScript then reports a mistake at the field that is wrong. */
type OneOrMore = VideoJob | (VideoRequest & { workflowType?: undefined });

function isOneVideo(given: OneOrMore): given is VideoJob {
  return isVideo(given as VideoJob) && !('payload' in given); // as: only to test it
}

/** Adds the missing `workflowFormat` to each job of a request. Throws when there are too many jobs. */
function addFormats(body: unknown, maxJobs: number): unknown {
  const payload = isRecord(body) ? body['payload'] : undefined;
  if (!Array.isArray(payload) || payload.length === 0) {
    return body;
  }
  if (payload.length > maxJobs) {
    // The service would refuse such a call each time.
    const message = `takes at most ${maxJobs} jobs, since no more may be pending at one time; got ${payload.length}. Use \`media.queue()\``;
    const { method, path } = routes.video;
    throw invalidRequest([{ field: 'payload', message }], { method, path });
  }
  return { ...(body as object), payload: (payload as VideoJob[]).map(withFormat) };
}

/** Marks a failure as `unknown` when an earlier attempt was lost: that attempt may have taken effect. */
function markUnknown(failure: unknown, signal: AbortSignal | undefined): unknown {
  if (!isPostreelError(failure) || failure.outcome === 'unknown' || isAbortOf(signal, failure)) {
    return failure;
  }
  const { message, code, status, requestId } = failure;
  const whole = `${message} The response to an earlier attempt was lost: it may have taken effect.`;
  const facts = { code, status, requestId, outcome: 'unknown', cause: failure } as const;
  return new PostreelError(whole, facts);
}

function requireOne<Job>([job]: readonly Job[]): Job {
  if (job === undefined) {
    throw new TypeError('an accepted call has a job');
  }
  return job;
}

/** Adds a `waitForFile` that throws a hint: plain JavaScript may treat the list as one job. */
function addHint(jobs: GenerationJob[]): GenerationJob[] {
  const value = () => {
    throw new TypeError(
      'generate.video() resolves to a list here: take the job out of it, `const [job] = await …`, or pass one job without `payload`.',
    );
  };
  return Object.defineProperty(jobs, 'waitForFile', { value });
}
