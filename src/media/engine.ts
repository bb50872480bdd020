import { ConfigurationError, invalidRequest } from '../core/errors.js';
import {
  abortSignal,
  callback,
  invalidOption,
  readOptions,
  type OptionKinds,
} from '../core/options.js';
import { kindOf } from '../core/request.js';
import { isRecord } from '../core/values.js';
import type { MediaClient } from './client.js';
import type { MediaJob } from './generate/media-job.js';
import type { MediaFile } from './jobs/file.js';
import type { JobRecord } from './jobs/job.js';
import { ledgerOf } from './jobs/ledger.js';
import { batchPace } from './status/intervals.js';
import { QueueQuota } from './submit/queue-quota.js';

/** What the worker of a job engine does with each file, and when it stops. */
export interface EngineOptions<Job> {
  /**
   * Stores a finished file; `job` is the engine's own. The job is done once this resolves; where it throws,
   * the next try saves the same file again.
   */
  save: (file: MediaFile, job: Job) => Promise<unknown>;
  /**
   * Aborts when the worker is about to close, since no engine says so to a running job: what is not finished
   * goes back to the engine, and is followed by whoever takes it next. A `save` that has begun is finished.
   */
  signal?: AbortSignal | undefined;
}

/** One job, as its engine hands it over. */
export interface HandedJob {
  /** The engine and its queue. */
  readonly queue: string;
  /** What tells the job from all others of the queue. */
  readonly key: string;
  readonly data: unknown;
  /** Is it made again when its file failed or was canceled before? */
  readonly retriesFailed: boolean;
  readonly signal: AbortSignal | undefined;
  readonly save: (file: MediaFile) => Promise<unknown>;
}

/** Makes the jobs of an engine, each once: submits it or follows what was submitted, waits, and saves. */
export class EngineWorker {
  readonly #host: ReturnType<typeof hostOf>;
  readonly #lane: QueueQuota;

  /** @param name - The function that the user calls, for errors. */
  constructor(media: MediaClient, name: string) {
    this.#host = hostOf(media, name);
    this.#lane = new QueueQuota({
      name: `${name} ${crypto.randomUUID()}`,
      maxInProgress: Number.POSITIVE_INFINITY, // the engine says how many are in hand
      maxJobs: Number.POSITIVE_INFINITY,
      deadlineMs: Number.POSITIVE_INFINITY, // a job waits for as long as its engine lets it
    });
    // It brings the jobs of many for days: an outage at its start is one like any other.
    this.#lane.hasConnected = true;
  }

  /** Rejects with the reason of the signal where it stops before the file is finished. */
  async run({ queue, key, data, retriesFailed, signal, save }: HandedJob): Promise<JobRecord> {
    const { generate, ledger } = this.#host;
    requireJob(data);
    const { job, known } = await generate.submitFor(
      data,
      {
        lane: this.#lane,
        once: (checked) => ledger.inQueue(queue, key, checked),
        folderId: undefined,
        sendsUnknown: false,
      },
      { signal, priority: 'bulk', retryFailed: retriesFailed },
    );
    if (known?.isSaved) {
      return job.toJSON();
    }
    await save(await job.waitForFile({ ...batchPace(job.kind), signal }));
    // What the journal does not hear of is saved again if the engine repeats it; a warning says so.
    await ledger.settle(job.fileId, 'saved').catch(() => undefined);
    return job.toJSON();
  }
}

/** The options of a worker, checked: plain JavaScript may pass anything. */
export function readEngineOptions<Job>(
  given: EngineOptions<Job>,
  name: string,
): EngineOptions<Job> {
  const kinds: OptionKinds<EngineOptions<Job>> = { save: callback(), signal: abortSignal };
  const example = "{ save: saveTo('{fileId}.mp4') }";
  const options = readOptions(given, kinds, { name: `\`${name}()\``, example });
  if ((options as Partial<EngineOptions<Job>>).save === undefined) {
    throw invalidOption(`\`save\` of \`${name}()\` must be a function, such as ${example}`);
  }
  return options;
}

// A client by its method: it may come from another copy of the package.
function hostOf(media: MediaClient | undefined, name: string) {
  if (typeof media?.engineHost !== 'function') {
    throw new ConfigurationError(`\`${name}()\` needs a \`MediaClient\` as its first argument.`);
  }
  const host = media.engineHost();
  return { ...host, ledger: ledgerOf(host.ledger, `\`${name}()\``) };
}

function requireJob(data: unknown): asserts data is MediaJob {
  if (!isRecord(data)) {
    const message = `must be the video or the speech itself, an object; got ${kindOf(data)}`;
    throw invalidRequest([{ field: 'data', message }]);
  }
}
