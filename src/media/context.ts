import type { RequestOptions } from '../contract/call.js';
import { schemaMap } from '../contract/schemas.js';
import { ConfigurationError } from '../errors/index.js';
import { createSpacing } from '../polling/spacing.js';
import type { RunningCall } from '../transport/call.js';
import { Connection } from '../transport/connection.js';
import type { ServiceFacts } from '../transport/settings.js';
import { normalizeBaseUrl } from '../transport/request/url.js';
import { countedIntervalMs, sharedCountedLooks } from './status/counted-poller.js';
import type { MediaJob } from './generate/media-job.js';
import type { MediaEvents } from './events.js';
import { MediaFile } from './jobs/file.js';
import { Generate } from './generate/resource.js';
import { routes as generateRoutes } from './generate/routes.js';
import { GenerationJob, type JobRecord } from './jobs/job.js';
import { JobMemory } from './jobs/job-memory.js';
import type { JobJournal, PendingJobs } from './jobs/journal.js';
import { LazyQueue } from './queue/lazy-queue.js';
import { isEnd, StatusLooks } from './status/poller.js';
import * as notices from './notices.js';
import type { MediaOptions } from './options.js';
import type { FileKind } from './status/intervals.js';
import type { MediaPlan } from './queue/plan.js';
import type { JobSource, MediaQueue, QueueOptions } from './queue/options.js';
import { routes } from './routes.js';
import { submit, type Submission } from './jobs/submit.js';
import { waitForFile, type WaitSource } from './status/wait.js';
import type { WaitOptions } from './status/wait-options.js';

const service: ServiceFacts = {
  name: 'media',
  environment: { apiKey: 'MEDIA_API_KEY', baseUrl: 'MEDIA_BASE_URL' },
  keyPrefixes: [],
  // "10 requests per 10 minutes per API key" (Limits)
  limit: 10,
  windowMs: 600_000,
  alwaysJson: true,
};

// "20 queued or processing jobs at a time" (Limits)
const pendingLimit = 20;

// A look that is not older need not be made again.
const freshMs = 3_000;

/** Everything behind a media client: what its methods share. */
export class Workshop {
  readonly connection: Connection<MediaEvents>;
  readonly generate: Generate;
  readonly pendingLimit: number;
  readonly #options: MediaOptions;
  readonly #memory = new JobMemory();
  readonly #looks: StatusLooks;
  readonly #appUrl: string | undefined;

  constructor(options: MediaOptions) {
    this.#options = options;
    this.connection = new Connection(service, options, loadSchemas);
    this.#appUrl = options.appUrl === undefined ? undefined : normalizeBaseUrl(options.appUrl);
    const { rateLimit } = options;
    this.pendingLimit = (rateLimit === false ? undefined : rateLimit?.pending) ?? pendingLimit;
    this.#looks = new StatusLooks(
      (fileId, look, isCharged) => this.#ask(fileId, look, isCharged),
      async () => sharedCountedLooks(await this.connection.projectName()),
      createSpacing(),
      () => notices.looksCount(this.connection.events),
    );
    const looks = this.#looks;
    this.generate = new Generate(this.connection.transport, {
      coalesce: options.coalesce ?? false,
      pendingLimit: this.pendingLimit,
      mostJobs: rateLimit === false ? Number.POSITIVE_INFINITY : this.pendingLimit,
      get looksCount() {
        return looks.counts;
      },
      submit: (submission) => this.submit(submission),
      adopt: (record) => {
        this.#countBeside(record.fileId);
        return this.adopt(record);
      },
    });
  }

  /** Hands in jobs, through the journal when there is one. */
  submit(submission: Submission): RunningCall<JobRecord[]> {
    const { events } = this.connection;
    return submit(submission, this.#options.journal, (error) => notices.noJournal(events, error));
  }

  /** The handle of a job that was just accepted. */
  adopt(record: JobRecord): GenerationJob {
    this.#memory.add(record.fileId, record.kind);
    return this.job(record);
  }

  /** The handle of a job. */
  job(record: JobRecord): GenerationJob {
    return new GenerationJob(record, {
      appUrl: this.#appUrl,
      status: (fileId, options) => this.generate.status({ fileId }, options),
      waitForFile: (fileId, options) => this.wait(fileId, record.kind, options),
    });
  }

  /** Waits for a file and notes its end in the journal. */
  async wait(
    fileId: string,
    kind: FileKind | undefined,
    options: WaitOptions = {},
  ): Promise<MediaFile> {
    const known = this.#memory.recall(fileId);
    const awaited = { fileId, kind: kind ?? known.kind, ageMs: known.ageMs };
    return waitForFile(awaited, this.#waits(), options);
  }

  /** Looks at files before their time; waits for them hear of those that are finished. */
  async refresh(fileIds: readonly string[], signal: AbortSignal): Promise<void> {
    // A look that counts is too dear for this.
    if (this.#looks.counts) {
      return;
    }
    const fresh = fileIds.map((fileId) => this.#looks.look(fileId, freshMs, signal));
    await Promise.allSettled(fresh);
  }

  /** Calls back when somebody sees the end of a file. */
  onEnd(fileId: string, listener: () => void): () => void {
    return this.#looks.onEnd(fileId, listener);
  }

  /** The jobs of the journal that are not finished. */
  async pending(): Promise<PendingJobs> {
    const journal = this.journal();
    const { pendingIn } = await import('./late.js');
    return pendingIn(await journal.read());
  }

  queue(jobs: JobSource, options: QueueOptions): MediaQueue {
    return new LazyQueue(async () => {
      const { JobQueue, queueHost } = await import('./late.js');
      return new JobQueue(jobs, options, () => queueHost(this));
    });
  }

  async plan(jobs: readonly MediaJob[]): Promise<MediaPlan> {
    const { checkJobs, planTimes } = await import('./late.js');
    const { schemas } = await import('./schemas.js');
    const { limits } = this.connection.settings;
    const { limit, windowMs } = limits ?? service;
    const times = planTimes(jobs, { limit, windowMs, pending: this.pendingLimit });
    return { ...times, ...checkJobs(jobs, schemas.generate) };
  }

  // The places of the queues are the same as those of other calls.
  #countBeside(fileId: string): void {
    import('./late.js').then(({ countBeside }) => countBeside(this, fileId)).catch(() => undefined); // then a queue finds out by a 429
  }

  #ask(fileId: string, options: RequestOptions, isCharged: boolean) {
    const input = { query: { fileId }, isPoll: true, isCharged };
    return this.connection.transport.send(generateRoutes.status, input, options);
  }

  #waits(): WaitSource<MediaFile> {
    const { events, settings } = this.connection;
    const looks = this.#looks;
    return {
      look: (fileId, maxAgeMs, signal) => looks.look(fileId, maxAgeMs, signal),
      onEnd: (fileId, listener) => looks.onEnd(fileId, listener),
      finished: (fileId, url) => new MediaFile(fileId, url, { fetch: settings.fetch }),
      onUpdate: (update) => {
        events.emit('job:update', update);
        if (isEnd(update.status)) {
          this.#noteEnd(update.fileId, update.status);
        }
      },
      onUnknown: (fileId, status) => notices.unknownStatus(events, fileId, status),
      get leastDelayMs() {
        return looks.counts ? countedIntervalMs : 0;
      },
    };
  }

  #noteEnd(fileId: string, status: string): void {
    const { journal } = this.#options;
    journal
      ?.append({ type: 'settled', fileId, status })
      .catch((error: unknown) => notices.noJournal(this.connection.events, error));
  }

  /** The journal, for what cannot be without one. */
  journal(): JobJournal {
    const { journal } = this.#options;
    if (journal) {
      return journal;
    }
    throw new ConfigurationError(
      'This client has no journal. Make it with `new MediaClient({ journal })`.',
      { code: 'JOURNAL_MISSING' },
    );
  }
}

async function loadSchemas() {
  const { schemas } = await import('./schemas.js');
  return schemaMap(routes, schemas);
}
