import { isAbortOf, onAbort } from '../../core/async.js';
import type { Call, RequestOptions } from '../../core/types.js';
import type { NamesOf } from '../../core/route.js';
import { flag } from '../../core/options.js';
import { isRecord } from '../../core/values.js';
import { invalidRequest, isPostreelError, PostreelError } from '../../core/errors.js';
import { callSite, locate, RunningCall } from '../../core/call.js';
import type { Transport } from '../../core/send.js';
import type { GenerationJob, JobRecord } from '../jobs/job.js';
import { ledgerOf, type JobLedger, type OnceJob } from '../jobs/ledger.js';
import { keyIn } from '../../core/once.js';
import type { FileKind } from '../status/intervals.js';
import type { QueueQuota } from '../submit/queue-quota.js';
import type { OnceJobs } from '../submit/once.js';
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
   * Makes a job again whose file failed or was canceled under this key.
   * @default false
   */
  retryFailed?: boolean | undefined;
}

/** What the resource asks of its client. */
export interface GenerateHost {
  readonly submitter: Submitter;
  readonly ledger: JobLedger | undefined;
  /** Where there is a journal. */
  readonly once: OnceJobs | undefined;
  /** How many jobs may be queued or processing at one time. */
  readonly pendingLimit: number;
  /** How many jobs one call may submit. */
  readonly maxJobs: number;
  /** Do status checks count towards the rate limit? */
  readonly statusChecksAreCharged: boolean;
  /** Called with the address of each callback that is asked for. */
  onWebhook(webhook: string): void;
  /** Makes the handle of a job that was accepted. */
  adopt(record: JobRecord): GenerationJob;
}

/** What a queue adds to a call. */
export interface QueueTerms {
  readonly lane: QueueQuota;
  /** The job under its key, where the queue has a name. */
  readonly once: ((job: MediaJob) => OnceJob) | undefined;
  readonly folderId: string | undefined;
  readonly sendsUnknown: boolean;
}

/** A job that the service has. */
export interface SubmittedJob {
  readonly job: GenerationJob;
  /** It was submitted before, and has it been saved? */
  readonly known: { readonly isSaved: boolean } | undefined;
}

interface Request {
  readonly kind: FileKind;
  readonly body: unknown;
  readonly reportPath?: string;
  readonly options: GenerateOptions;
  /** Aborts when it is not wanted any more, unless it has left by then. */
  readonly stop?: AbortSignal | undefined;
  readonly terms?: QueueTerms | undefined;
  /** Which part of a longer text the speech is. */
  readonly part?: TextRange | undefined;
}

const ownOptions = { retryFailed: flag };

/**
 * Generates videos and speech. A call only submits the job; wait for the file afterwards. Jobs of calls
 * that are made at one time travel together, since the service counts calls.
 * @example
 * const job = await media.generate.video({
 *   workflowType: 'idea',
 *   prompt: 'Why cats purr',
 *   voiceId: 'voice_1',
 * });
 * const file = await job.waitForFile();
 */
export class Generate implements NamesOf<typeof routes> {
  readonly #transport: Transport;
  readonly #host: GenerateHost;

  constructor(transport: Transport, host: GenerateHost) {
    this.#transport = transport;
    this.#host = host;
  }

  /**
   * Submits one video and resolves to its job; or, as a `payload`, several, and resolves to one job for
   * each in their order. Never sent twice: after an `'unknown'` outcome the videos may already be rendering.
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
      return one.map((all) => only(all).job);
    }
    const many = this.#submit({ kind: 'video', body: given, options });
    return many.map((all) => withHint(all.map(({ job }) => job)));
  }

  /** Submits text to be spoken and resolves to its job. Never sent twice. */
  audio(body: AudioRequest, options: GenerateOptions = {}): Call<GenerationJob> {
    return this.#submit({ kind: 'audio', body, options }).map((all) => only(all).job);
  }

  /**
   * Submits text of any length to be spoken, in parts of at most 10 000 characters that end where a
   * sentence ends, one after another. Resolves to one job per part, in order; `job.part` is its place.
   * With `once` each part has the key `<once>/<index>`, counted from 0: the same call again submits only
   * the parts that are missing, and with `retryFailed` also the parts whose speech failed or was canceled.
   * @throws a `LongAudioError` that has the accepted parts as its `jobs`, also after an abort
   */
  longAudio(body: LongAudioRequest, options?: GenerateOptions): Promise<GenerationJob[]> {
    const { pendingLimit } = this.#host;
    const submit: SubmitPart = (request, { start, end, index, count }, signal) => {
      const part = { start, end };
      const once = options && 'once' in options && { once: `${keyIn(options)}/${index}` };
      const own = { ...options, ...once, signal };
      // The only part is the whole text: its file may have the name of the whole.
      const call = this.submitPart(request, count > 1 ? part : undefined, own);
      return call.map((job) => this.#host.adopt({ ...job.toJSON(), part }));
    };
    return submitLongAudio(body, { pendingLimit, submit }, options?.signal);
  }

  /** Checks a file's status once. */
  status(query: StatusQuery, options?: RequestOptions): Call<StatusRecord> {
    const isCharged = this.#host.statusChecksAreCharged;
    return this.#transport.send(routes.status, { query, isCharged }, options);
  }

  /** @internal Submits a job of a queue; an abort ends it only before it leaves. */
  submitFor(job: MediaJob, terms: QueueTerms, options: GenerateOptions): RunningCall<SubmittedJob> {
    const kind = isVideo(job) ? 'video' : 'audio';
    const body = isVideo(job) ? { payload: [job] } : job;
    const place = isVideo(job) ? { reportPath: 'payload[0]' } : {};
    return this.#untilSent({ kind, body, ...place, options, terms }).map(only);
  }

  /** @internal Submits a part of a longer text; an abort ends it only before it leaves. */
  submitPart(
    body: AudioRequest,
    part: TextRange | undefined,
    options: GenerateOptions,
  ): RunningCall<GenerationJob> {
    return this.#untilSent({ kind: 'audio', body, part, options }).map((all) => only(all).job);
  }

  // What has left is paid for, and its id is in the answer.
  #untilSent(request: Request): RunningCall<SubmittedJob[]> {
    const controller = new AbortController();
    const { signal } = request.options;
    const own = { ...request.options, signal: controller.signal };
    const call = this.#submit({ ...request, options: own, stop: signal });
    const stopListening = onAbort(signal, () => {
      if (!call.hasLeft) {
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
    stop,
    terms,
    part,
  }: Request): RunningCall<SubmittedJob[]> {
    const site = callSite();
    return new RunningCall(async (state) => {
      state.outcome = 'not-sent';
      try {
        options.signal?.throwIfAborted();
        const { submitter, once: keys, maxJobs } = this.#host;
        const full = kind === 'video' ? complete(body, maxJobs) : body;
        const about = { at: reportPath };
        const before = { options: ownOptions, run: () => Promise.resolve(undefined) };
        // Copied now: what the caller changes while the call waits does not matter.
        const input = { body: full as never, about, before }; // as: checked here
        const checked = await this.#transport.check(routes[kind], input, options, state);
        const { payload, ...own } = checked.body as { payload?: MediaJob[] }; // as checked
        const jobs = payload ?? [checked.body as MediaJob];
        for (const job of jobs) {
          if ('webhook' in job && job.webhook !== undefined) {
            this.#host.onWebhook(job.webhook);
          }
        }
        const { retryFailed = false, retry, ...rest } = checked.options as GenerateOptions;
        const folder = payload ? { ...(terms && { folderId: terms.folderId }), ...own } : {};
        const sendsUnknown = terms?.sendsUnknown ?? retry?.unknownOutcome ?? false;
        const parcel: Submission = {
          kind,
          jobs,
          folder,
          options: rest,
          sendsUnknown,
          lane: terms?.lane,
          part,
          stop,
        };
        const once = terms ? terms.once?.(only(jobs)) : this.#onceOf(kind, jobs, options);
        const answer =
          once && keys
            ? await keys.submit({ ...parcel, once }, state, {
                retriesFailed: retryFailed,
                sendsUnknown,
              })
            : ((await submitter.submit(parcel, state)) as Submitted); // only a key is ever taken
        const { known } = answer;
        return {
          ...answer,
          data: answer.data.map((record) => ({ job: this.#host.adopt(record), known })),
        };
      } catch (reason) {
        const caller = terms ? undefined : options.signal; // a queue ends jobs by a signal of its own
        const failure = state.mayHaveHappened ? markUnknown(reason, caller) : reason;
        state.outcome = state.mayHaveHappened ? 'unknown' : state.outcome;
        locate(failure, site, terms ? 'call' : 'outer call'); // a queue's line is its caller's
        throw failure;
      }
    });
  }

  #onceOf(kind: FileKind, jobs: readonly MediaJob[], options: object): OnceJob | undefined {
    if (!('once' in options)) {
      return undefined;
    }
    const key = keyIn(options);
    const [job, ...others] = jobs;
    if (!job || others.length > 0) {
      const message = 'is the key of a single job: make a call for each, they travel together';
      throw invalidRequest([{ field: 'once', message }]);
    }
    return ledgerOf(this.#host.ledger).onceOf(kind, key, job);
  }
}

/** One video or several, told apart by one signature: a mistake in either is named as such. */
type OneOrMore = VideoJob | (VideoRequest & { workflowType?: undefined });

function isOneVideo(given: OneOrMore): given is VideoJob {
  return isVideo(given as VideoJob) && !('payload' in given); // whichever it is
}

/** The request with the one format that there is, where the caller left it out. */
function complete(body: unknown, maxJobs: number): unknown {
  const payload = isRecord(body) ? body['payload'] : undefined;
  if (!Array.isArray(payload) || payload.length === 0) {
    return body;
  }
  if (payload.length > maxJobs) {
    // The service would refuse all of them, and again and again.
    const message = `takes at most ${maxJobs} jobs, since no more may be pending at one time; got ${payload.length}. Use \`media.queue()\``;
    const { method, path } = routes.video;
    throw invalidRequest([{ field: 'payload', message }], { method, path });
  }
  return { ...(body as object), payload: (payload as VideoJob[]).map(withFormat) };
}

/** An earlier attempt was lost: however a later one ends, it may have taken effect. */
function markUnknown(failure: unknown, signal: AbortSignal | undefined): unknown {
  if (!isPostreelError(failure) || failure.outcome === 'unknown' || isAbortOf(signal, failure)) {
    return failure;
  }
  const { message, code, status, requestId } = failure;
  const whole = `${message} The response to an earlier attempt was lost: it may have taken effect.`;
  const facts = { code, status, requestId, outcome: 'unknown', cause: failure } as const;
  return new PostreelError(whole, facts);
}

function only<Job>([job]: readonly Job[]): Job {
  if (job === undefined) {
    throw new TypeError('an accepted call has a job');
  }
  return job;
}

/** In plain JavaScript a list is easily taken for its one job. */
function withHint(jobs: GenerationJob[]): GenerationJob[] {
  const value = () => {
    throw new TypeError(
      'generate.video() resolves to a list here: take the job out of it, `const [job] = await …`, or pass one job without `payload`.',
    );
  };
  return Object.defineProperty(jobs, 'waitForFile', { value });
}
