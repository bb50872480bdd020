import { ConfigurationError, invalidRequest } from '../core/errors.js';
import {
  abortSignal,
  callback,
  invalidOption,
  readOptions,
  type OptionKinds,
} from '../core/options.js';
import { kindOf, isRecord } from '../core/values.js';
import type { MediaClient } from './client.js';
import type { MediaJob } from './generate/media-job.js';
import type { MediaFile } from './jobs/file.js';
import type { JobRecord } from './jobs/job.js';
import { ledgerOf } from './jobs/ledger.js';
import { batchPace } from './status/intervals.js';
import { QueueQuota } from './submit/queue-quota.js';

/** Options of a job engine's worker: how it saves each file, and when it stops. */
export interface EngineOptions<Job> {
  /**
   * Stores a finished file; `job` is the job of the engine. The job is done when this resolves. When it
   * throws, the next attempt saves the same file again.
   */
  save: (file: MediaFile, job: Job) => Promise<unknown>;
  /**
   * Abort this signal when the worker is about to close, because no engine notifies a running job. Jobs that are
   * not finished return to the engine, and the next worker continues to wait for them. A `save` that has
   * begun is completed.
   */
  signal?: AbortSignal | undefined;
}

/** One job of an engine. */
export interface HandedJob {
  /** The name of the engine and of its queue. */
  readonly queue: string;
  /** The key that is unique to the job in the queue. */
  readonly key: string;
  readonly data: unknown;
  /** Is the job submitted again when its file failed or was canceled before? */
  readonly retriesFailed: boolean;
  readonly signal: AbortSignal | undefined;
  readonly save: (file: MediaFile) => Promise<unknown>;
}

/**
 * Runs the jobs of an engine. Submits each job once, or finds the job of an earlier run, then waits for its
 * file and saves it.
 */
export class EngineWorker {
  readonly #parts: ReturnType<typeof partsOf>;
  readonly #quota: QueueQuota;

  /** @param name - The function that the user calls, for errors. */
  constructor(media: MediaClient, name: string) {
    this.#parts = partsOf(media, name);
    this.#quota = new QueueQuota({
      name: `${name} ${crypto.randomUUID()}`,
      maxInProgress: Number.POSITIVE_INFINITY, // the engine limits its running jobs
      maxJobs: Number.POSITIVE_INFINITY,
      deadlineMs: Number.POSITIVE_INFINITY, // the engine limits how long a job may run
    });
    // A worker runs for days and its address is known to be right: it retries even when the service cannot be
    // reached at its start.
    this.#quota.hasConnected = true;
  }

  /** Runs one job. Rejects with the reason of the signal when it aborts before the file is finished. */
  async run({ queue, key, data, retriesFailed, signal, save }: HandedJob): Promise<JobRecord> {
    const { generate, ledger } = this.#parts;
    requireJob(data);
    const { job, earlier } = await generate.submitFor(
      data,
      {
        quota: this.#quota,
        once: (checked) => ledger.inQueue(queue, key, checked),
        folderId: undefined,
        sendsUnknown: false,
      },
      { signal, priority: 'bulk', retryFailed: retriesFailed },
    );
    if (earlier?.isSaved) {
      return job.toJSON();
    }
    await save(await job.waitForFile({ ...batchPace(job.kind), signal }));
    // If the journal cannot be written, the file is saved again when the engine repeats the job. The ledger
    // emits a `warning`.
    await ledger.settle(job.fileId, 'saved').catch(() => undefined);
    return job.toJSON();
  }
}

/** Checks the options of a worker and returns them: plain JavaScript may pass anything. */
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

// Recognizes a client by its method, because it may come from another copy of the package.
function partsOf(media: MediaClient | undefined, name: string) {
  if (typeof media?.engineHost !== 'function') {
    throw new ConfigurationError(`\`${name}()\` needs a \`MediaClient\` as its first argument.`);
  }
  const { generate, ledger } = media.engineHost();
  return { generate, ledger: ledgerOf(ledger, `\`${name}()\``) };
}

function requireJob(data: unknown): asserts data is MediaJob {
  if (!isRecord(data)) {
    const message = `must be the video or the speech itself, an object; got ${kindOf(data)}`;
    throw invalidRequest([{ field: 'data', message }]);
  }
}
