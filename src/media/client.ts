import { isRecord, kindOf } from '../core/values.js';
import { requireTextId, jobRecords, type JobRecords } from './jobs/records.js';
import { bindMethods, ServiceClient } from '../core/client.js';
import { invalidRequest } from '../core/errors.js';
import type { MediaEvents } from './events.js';
import type { MediaFile } from './jobs/file.js';
import type { JoinOptions } from './generate/long-audio/join.js';
import type { Generate } from './generate/resource.js';
import { GenerationJob, type JobRecord } from './jobs/job.js';
import type { AwaitedCall, UnknownCall } from './jobs/ledger.js';
import type { MediaOptions } from './options.js';
import type { JobSource, MediaQueue, QueueOptions } from './queue/options.js';
import { JobQueue, type QueueParts } from './queue/queue.js';
import {
  readWaitsOptions,
  requireList,
  type FileUpdate,
  type Settle,
  type WaitOptions,
} from './status/wait-options.js';
import {
  waitForAll,
  waitForAny,
  waitUntilError,
  type FileResult,
} from './status/wait-for-files.js';
import { watch } from './status/watch.js';
import { createContext, type MediaContext } from './context.js';
import { callSite } from '../core/call/call.js';

/**
 * The client of the media service.
 * @example
 * const media = new MediaClient({ apiKey, baseUrl: 'https://media.example.com' });
 * const job = await media.generate.audio({ content: 'Good morning!', voiceId: 'voice_1' });
 * const file = await job.waitForFile();
 */
export class MediaClient extends ServiceClient<MediaEvents> {
  /** Submits videos and speech. */
  readonly generate: Generate;
  /** The journal: the keys of calls with `once`, and the jobs that are not finished. */
  readonly journal: JobRecords;
  readonly #context: MediaContext;

  constructor(options: MediaOptions = {}) {
    const context = createContext(options);
    super(context.connection);
    this.#context = context;
    this.generate = context.generate;
    this.journal = jobRecords(context.ledger, context.connection.keys);
    bindMethods(this);
  }

  /** Finds a job again from its record, as `JSON.stringify(job)` writes it. */
  job(record: JobRecord): GenerationJob {
    if (Array.isArray(record)) {
      throw invalidRequest([{ field: 'record', message: 'must be one job; got a list of them' }]);
    }
    requireTextId('fileId', isRecord(record) ? record.fileId : undefined);
    requireKind(record.kind);
    return new GenerationJob(record, this.#context.waits);
  }

  /**
   * Waits until a file is finished. Rejects with a `GenerationFailedError` or a `GenerationCanceledError`
   * when the generation failed or was canceled, and with a `WaitTimeoutError` when the wait takes too long.
   * The job itself continues after a timeout.
   */
  waitForFile(fileId: string, options?: WaitOptions): Promise<MediaFile> {
    return this.#context.waits.wait(fileId, undefined, options);
  }

  /**
   * Waits for many files. `settle: 'all'` resolves to the result of each file, in order; `'any'` to the first
   * file that is finished; `'first-error'` to all files, or rejects with the first error.
   */
  waitForFiles(
    fileIds: readonly string[],
    options?: WaitOptions & { settle?: 'all' | undefined },
  ): Promise<FileResult[]>;
  waitForFiles(
    fileIds: readonly string[],
    options: WaitOptions & { settle: 'any' },
  ): Promise<MediaFile>;
  waitForFiles(
    fileIds: readonly string[],
    options: WaitOptions & { settle: 'first-error' },
  ): Promise<MediaFile[]>;
  async waitForFiles(
    fileIds: readonly string[],
    given?: WaitOptions & { settle?: Settle | undefined },
  ): Promise<FileResult[] | MediaFile | MediaFile[]> {
    requireList('fileIds', fileIds);
    const { settle = 'all', ...options } = readWaitsOptions(given);
    const wait = (fileId: string, own: WaitOptions) => this.waitForFile(fileId, own);
    if (settle === 'any') {
      return waitForAny(fileIds, wait, options);
    }
    if (settle === 'first-error') {
      return waitUntilError(fileIds, wait, options);
    }
    return waitForAll(fileIds, wait, options);
  }

  /** Checks the status of a file at intervals and yields each update, up to the last one. */
  watch(fileId: string, options?: WaitOptions): AsyncIterableIterator<FileUpdate> {
    return watch((own) => this.waitForFile(fileId, own), options);
  }

  /**
   * Makes any number of files and keeps to every limit. Submits the jobs, longest first, waits for their
   * files and yields each file or error when it is available. Nothing is sent before you iterate the queue.
   */
  queue(jobs: JobSource, options?: QueueOptions): MediaQueue {
    return new JobQueue(this.#context, jobs, options, callSite());
  }

  /**
   * Downloads the parts of a long audio and joins them to one file, in the order given. They must
   * all be MP3 or all WAV, with the same sample rate and channels.
   * @throws an `InvalidRequestError` with the code `AUDIO_NOT_JOINABLE` when they are not
   */
  async joinAudio(files: readonly MediaFile[], options?: JoinOptions): Promise<Blob> {
    requireList('files', files);
    // Loaded here: most programs never join.
    const { joinFiles } = await import('./generate/long-audio/join.js');
    return joinFiles(files, options);
  }

  /**
   * Finds the open work after a crash: the jobs of the journal that are not finished, the calls whose
   * response was lost (`unknown`), and the calls whose response may still arrive (`mayBeAnswered`). No call
   * is sent again. Right after a kill, the calls of the killed process are in `mayBeAnswered`; each has the
   * time when it becomes unknown.
   */
  async resumeAll(): Promise<{
    jobs: GenerationJob[];
    unknown: readonly UnknownCall[];
    mayBeAnswered: readonly AwaitedCall[];
  }> {
    const { jobs, unknown, mayBeAnswered } = await this.journal.pending();
    return { jobs: jobs.map((record) => this.job(record)), unknown, mayBeAnswered };
  }

  /** @internal The part of the client that the worker of a job engine uses. */
  engineHost(): QueueParts {
    return this.#context;
  }

  /** A client with other options that shares this one's events, session and rate budget. */
  with(options: MediaOptions): MediaClient {
    return derived(this.#context.connection.derive(options));
  }
}

// Plain JavaScript may leave the kind out: the wait then uses the times of a video.
function requireKind(kind: unknown): void {
  if (kind !== undefined && kind !== 'video' && kind !== 'audio') {
    const message = `must be 'video' or 'audio'; got ${typeof kind === 'string' ? `'${kind}'` : kindOf(kind)}`;
    throw invalidRequest([{ field: 'kind', message }]);
  }
}

// Outside of the class: builds rename a class that refers to itself, and consoles show that name.
function derived(options: MediaOptions) {
  return new MediaClient(options);
}
