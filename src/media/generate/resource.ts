import type { Call, RequestOptions } from '../../core/types.js';
import { isRecord } from '../../core/values.js';
import type { NamesOf } from '../../core/route.js';
import { isPostreelError, invalidRequest } from '../../core/errors.js';
import { RunningCall } from '../../core/call.js';
import type { Transport } from '../../core/send.js';
import { Coalescer } from './batching.js';
import type { GenerationJob, JobRecord } from '../jobs/job.js';
import type { SendHooks, Submission } from '../jobs/submit.js';
import { onAbort } from '../../core/async.js';
import { audioRecords, videoRecords } from './accepted.js';
import { isVideo, withFormat } from './media-job.js';
import { submitLongAudio, type SubmitPart } from './long-audio/submit.js';
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

/** What the resource asks of its client. */
export interface GenerateHost {
  readonly coalesce: boolean;
  /** How many jobs may be queued or processing at one time. */
  readonly pendingLimit: number;
  /** How many jobs one call may submit. */
  readonly maxJobs: number;
  /** Do status checks count towards the rate limit? */
  readonly statusChecksAreCharged: boolean;
  /** How long an attempt of a paid call may take unless the caller sets it, in milliseconds. */
  readonly timeoutMs: number | undefined;
  /** Submits jobs, through the journal when there is one. */
  submit(submission: Omit<Submission, 'owner'>): RunningCall<JobRecord[]>;
  /** Makes the handle of a job that was accepted. */
  adopt(record: JobRecord): GenerationJob;
}

/**
 * Generates videos and speech. A call only submits the job; wait for the file afterwards.
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
  readonly #coalescer: Coalescer<GenerationJob>;
  /** Requests around one video that was given as it is. */
  readonly #wrapped = new WeakSet<VideoRequest>();

  constructor(transport: Transport, host: GenerateHost) {
    this.#transport = transport;
    this.#host = host;
    this.#coalescer = new Coalescer((body) => this.#sendVideos(body), host.pendingLimit);
  }

  /** Submits one video, without a `payload` around it, and resolves to its job. */
  video(job: VideoJob, options?: RequestOptions): Call<GenerationJob>;
  /**
   * Submits one or more videos and resolves to one job for each, in the order of the payload. Never
   * sent twice: after an `'unknown'` outcome the videos may already be rendering.
   */
  video(body: VideoRequest, options?: RequestOptions): Call<GenerationJob[]>;
  video(
    given: VideoRequest | VideoJob,
    options?: RequestOptions,
  ): Call<GenerationJob[]> | Call<GenerationJob> {
    if (isOneVideo(given)) {
      const request = { payload: [given] };
      this.#wrapped.add(request);
      return this.#videos(request, options).map(([job]) => accepted(job));
    }
    return this.#videos(given, options).map(withHint);
  }

  #videos(body: VideoRequest, options?: RequestOptions): RunningCall<GenerationJob[]> {
    // What is no list of videos is refused by the call itself.
    if (!this.#host.coalesce || options || !hasVideos(body)) {
      return this.#sendVideos(body, options);
    }
    const response = new Response(null, { status: 200 });
    return new RunningCall(async (state) => {
      try {
        return { data: await this.#coalescer.add(body), response, requestId: undefined };
      } catch (failure) {
        state.outcome = isPostreelError(failure) ? failure.outcome : undefined;
        throw failure;
      }
    });
  }

  /** Submits text to be spoken and resolves to its job. Never sent twice. */
  audio(body: AudioRequest, options?: RequestOptions): Call<GenerationJob> {
    const send = (hooks: SendHooks) => this.#sendAudio(body, options, hooks);
    return this.#submitAudio(body, send);
  }

  /**
   * Submits text of any length to be spoken, in parts of at most 10 000 characters that end where a
   * sentence ends, one after another. Resolves to one job per part, in order; `job.part` is its place.
   * @throws a `LongAudioError` that has the accepted parts as its `jobs`, also after an abort
   */
  longAudio(body: LongAudioRequest, options?: RequestOptions): Promise<GenerationJob[]> {
    const { pendingLimit } = this.#host;
    const submit: SubmitPart = (request, part, signal) =>
      this.#audioPart(request, part, { ...options, signal });
    return submitLongAudio(body, { pendingLimit, submit }, options?.signal);
  }

  /** Checks a file's status once. */
  status(query: StatusQuery, options?: RequestOptions): Call<StatusRecord> {
    const isCharged = this.#host.statusChecksAreCharged;
    return this.#transport.send(routes.status, { query, isCharged }, options);
  }

  // The service would refuse all of them, and again and again.
  #tooMany(body: VideoRequest): Error | undefined {
    const { maxJobs } = this.#host;
    const payload = payloadOf(body);
    if (payload.length <= maxJobs) {
      return undefined;
    }
    const message = `takes at most ${maxJobs} jobs, since no more may be pending at one time; got ${payload.length}. Use \`media.queue()\``;
    const { method, path } = routes.video;
    return invalidRequest([{ field: 'payload', message }], { method, path });
  }

  // A call that has left is not aborted: its part is paid for, and its id is in the answer.
  #audioPart(
    body: AudioRequest,
    { start, end }: TextRange,
    { signal, ...options }: RequestOptions,
  ): RunningCall<GenerationJob> {
    const controller = new AbortController();
    let call: RunningCall<JobRecord[]> | undefined;
    const stopListening = onAbort(signal, () => {
      if (!call?.hasLeft) {
        controller.abort(signal?.reason);
      }
    });
    const send = (hooks: SendHooks) => {
      const own = { ...options, signal: controller.signal };
      call = this.#sendAudio(body, own, hooks).map((records) =>
        records.map((record) => ({ ...record, part: { start, end } })),
      );
      return call;
    };
    const accepted = this.#submitAudio(body, send);
    accepted.finally(stopListening).catch(() => undefined);
    return accepted;
  }

  #sendAudio(
    body: AudioRequest,
    options: RequestOptions | undefined,
    { beforeSending, onLate }: SendHooks,
  ): RunningCall<JobRecord[]> {
    const hooks = {
      beforeSending,
      onLate: (answer: unknown) => onLate(() => audioRecords(answer)),
    };
    return this.#transport
      .send(routes.audio, { body, hooks }, this.#paid(options))
      .map(audioRecords);
  }

  // Its ids are worth a longer wait than the answer of any other call.
  #paid(options: RequestOptions = {}): RequestOptions {
    return { ...options, timeout: options.timeout ?? this.#host.timeoutMs };
  }

  #submitAudio(body: AudioRequest, send: Submission['send']) {
    return this.#host
      .submit({ jobs: copyOf([body]), send })
      .map(([record]) => this.#host.adopt(accepted(record)));
  }

  #sendVideos(body: VideoRequest, options?: RequestOptions): RunningCall<GenerationJob[]> {
    const tooMany = this.#tooMany(body);
    if (tooMany) {
      return new RunningCall(() => Promise.reject(tooMany), { outcome: 'not-sent' });
    }
    // Counted now: the caller may change the list while the call waits.
    const jobs = payloadOf(body).map(withFormat);
    const sent = jobs.length > 0 ? { ...body, payload: jobs } : body;
    const about = { at: this.#wrapped.has(body) ? 'payload[0]' : undefined };
    const recordsOf = (answer: unknown) => videoRecords(answer, jobs.length);
    const send = ({ beforeSending, onLate }: SendHooks) =>
      this.#transport
        .send(
          routes.video,
          {
            body: sent,
            about,
            hooks: {
              beforeSending,
              onLate: (answer: unknown) => onLate(() => recordsOf(answer)),
            },
          },
          this.#paid(options),
        )
        .map(recordsOf);
    return this.#host
      .submit({ jobs: copyOf(jobs), send })
      .map((records) => records.map((record) => this.#host.adopt(record)));
  }
}

function isOneVideo(given: VideoRequest | VideoJob): given is VideoJob {
  return isVideo(given as VideoJob) && !('payload' in given); // whichever it is
}

function accepted<Job>(job: Job | undefined): Job {
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

// JavaScript may pass anything.
function payloadOf(body: unknown): readonly VideoJob[] {
  const payload = isRecord(body) ? body['payload'] : undefined;
  return Array.isArray(payload) ? (payload as VideoJob[]) : [];
}

function hasVideos(body: unknown): boolean {
  const payload = payloadOf(body);
  return payload.length > 0 && payload.every(isRecord);
}

// The journal writes down what the call sends, whatever the caller changes meanwhile.
function copyOf<Job>(jobs: readonly Job[]): Job[] {
  try {
    return JSON.parse(JSON.stringify(jobs)) as Job[]; // as it is sent
  } catch {
    return [...jobs]; // refused by the call itself
  }
}
