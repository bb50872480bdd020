import type { Call, RequestOptions } from '../../contract/call.js';
import type { NamesOf } from '../../contract/methods.js';
import { isPostreelError } from '../../errors/index.js';
import { RunningCall } from '../../transport/call.js';
import { refuse } from '../../errors/client-errors.js';
import type { Transport } from '../../transport/transport.js';
import { Coalescer } from './batching.js';
import type { GenerationJob, JobRecord } from '../jobs/job.js';
import type { Submission } from '../jobs/submit.js';
import { audioRecords, videoRecords } from './accepted.js';
import { routes } from './routes.js';
import type { AudioRequest, StatusQuery, StatusRecord, VideoRequest } from './types.js';

/** What the resource asks of its client. */
export interface GenerateHost {
  readonly coalesce: boolean;
  /** How many jobs may be queued or processing at one time. */
  readonly pendingLimit: number;
  /** How many jobs one call may submit. */
  readonly mostJobs: number;
  /** Do status checks count towards the rate limit? */
  readonly looksCount: boolean;
  /** Submits jobs, through the journal when there is one. */
  submit(submission: Submission): RunningCall<JobRecord[]>;
  /** Makes the handle of a job that was accepted. */
  adopt(record: JobRecord): GenerationJob;
}

// "content (video and audio): 10000 characters" (Limits)
const longestText = 10_000;

/**
 * Generates videos and speech. A call only submits the job; wait for the file afterwards.
 * @example
 * const [job] = await media.generate.video({
 *   payload: [{ workflowType: 'idea', workflowFormat: 'video', prompt: 'Why cats purr', voiceId: 'voice_1' }],
 * });
 * const file = await job.waitForFile();
 */
export class Generate implements NamesOf<typeof routes> {
  readonly #transport: Transport;
  readonly #host: GenerateHost;
  readonly #coalescer: Coalescer<GenerationJob>;

  constructor(transport: Transport, host: GenerateHost) {
    this.#transport = transport;
    this.#host = host;
    this.#coalescer = new Coalescer((body) => this.#sendVideos(body), host.pendingLimit);
  }

  /**
   * Submits one or more videos and resolves to one job for each, in the order of the payload. Never
   * sent twice: after an `'unknown'` outcome the videos may already be rendering.
   */
  video(body: VideoRequest, options?: RequestOptions): Call<GenerationJob[]> {
    if (!this.#host.coalesce || options) {
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
    const send = () => this.#transport.send(routes.audio, { body }, options).map(audioRecords);
    return this.#host.submit({ jobs: [body], send }).map((records) => {
      const [record] = records;
      if (!record) {
        throw new TypeError('an accepted audio has a record');
      }
      return this.#host.adopt(record);
    });
  }

  /**
   * Speaks a text of any length: cut at the ends of sentences into parts of at most 10 000
   * characters, handed in one after another. Resolves to the parts' jobs in order; an error in
   * between has those that were handed in as its `jobs`.
   */
  async longAudio(body: AudioRequest, options?: RequestOptions): Promise<GenerationJob[]> {
    const jobs: GenerationJob[] = [];
    for (const content of await partsOf(body)) {
      try {
        await this.#roomAfter(jobs, options);
        jobs.push(await this.audio({ ...body, content }, options));
      } catch (error) {
        throw typeof error === 'object' && error !== null ? Object.assign(error, { jobs }) : error;
      }
    }
    return jobs;
  }

  /** Checks a file's status once. */
  status(query: StatusQuery, options?: RequestOptions): Call<StatusRecord> {
    const isCharged = this.#host.looksCount;
    return this.#transport.send(routes.status, { query, isPoll: true, isCharged }, options);
  }

  // The service would refuse all of them, and again and again.
  #tooMany({ payload }: VideoRequest): Error | undefined {
    const { mostJobs } = this.#host;
    if (!Array.isArray(payload) || payload.length <= mostJobs) {
      return undefined;
    }
    const message = `takes at most ${mostJobs} jobs, since no more may be pending at one time; got ${payload.length}. Use \`media.queue()\``;
    const { method, path } = routes.video;
    return refuse([{ field: 'payload', message }], { method, path });
  }

  // A text of many parts must not exceed the limit of pending jobs by itself.
  async #roomAfter(jobs: readonly GenerationJob[], options: RequestOptions = {}): Promise<void> {
    const { signal } = options;
    const oldest = jobs[jobs.length - this.#host.pendingLimit];
    const wait = oldest?.waitForFile({ signal, timeout: Number.POSITIVE_INFINITY });
    await wait?.catch(() => signal?.throwIfAborted());
  }

  #sendVideos(body: VideoRequest, options?: RequestOptions): RunningCall<GenerationJob[]> {
    const tooMany = this.#tooMany(body);
    if (tooMany) {
      return new RunningCall(() => Promise.reject(tooMany), { outcome: 'not-sent' });
    }
    const send = () =>
      this.#transport
        .send(routes.video, { body }, options)
        .map((accepted) => videoRecords(accepted, body.payload.length));
    return this.#host
      .submit({ jobs: body.payload, send })
      .map((records) => records.map((record) => this.#host.adopt(record)));
  }
}

// What is no text is for the check of the request to refuse.
async function partsOf({ content }: AudioRequest): Promise<string[]> {
  const { splitText } = await import('./split-text.js');
  const parts = typeof content === 'string' ? splitText(content, longestText) : [];
  return parts.length > 0 ? parts : [content];
}
