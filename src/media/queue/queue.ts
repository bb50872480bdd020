import { onAbort, callSafely, Notifier } from '../../core/async.js';
import { locate, type CallSite } from '../../core/call/call.js';
import { StartedIterator } from '../../core/list/started-iterator.js';
import {
  ConfigurationError,
  InvalidRequestError,
  isPostreelError,
  PartialError,
  PostreelError,
  reasonOf,
  type Report,
} from '../../core/errors.js';
import type { Generate, SubmittedJob } from '../generate/resource.js';
import type { MediaJob } from '../generate/media-job.js';
import { jobNamer } from '../jobs/job-names.js';
import type { GenerationJob } from '../jobs/job.js';
import { ledgerOf, type JobLedger } from '../jobs/ledger.js';
import { batchPace } from '../status/intervals.js';
import { QueueQuota } from '../submit/queue-quota.js';
import {
  readQueueOptions,
  requireJobs,
  type JobSource,
  type MediaQueue,
  type QueueOptions,
  type QueueResult,
} from './options.js';

/** The part of the client that a queue uses. */
export interface QueueHost {
  readonly generate: Generate;
  readonly ledger: JobLedger | undefined;
  /** The most jobs that may be queued or processing at one time. */
  readonly pendingLimit: number;
  /** Tells the submitter that the limits of the queue have changed. */
  wake(): void;
  /** Emits a `warning`: something failed, and the queue continues or waits. `code` is for programs. */
  warn(message: string, code?: string): void;
}

// The prefetch: the most jobs that are read and not yet submitted. A list belongs to this queue alone, so
// many jobs are read and the longest can start first. Several queues may share an iterator, so a queue
// prefetches only one full call from it.
const maxAhead = { list: 400, iterator: 20 };
const usualDeadlineMs = 24 * 60 * 60_000;
// One response may get lost. After two in a row the next response is likely to be lost, too, and its call
// costs money.
const maxLostCalls = 2;
// After this many equal refusals in a row the queue gives up: the service would refuse the rest as well.
const refusalsForAll = 5;

/** The reason why a closed queue drops a job: the job is not yielded. */
class QueueClosed extends Error {}

/**
 * Reads jobs from its input, submits each, waits for its file, saves the file, and yields the result. The
 * client's submitter decides when a job is sent, and with which others.
 */
export class JobQueue implements MediaQueue {
  readonly #host: QueueHost;
  readonly #jobs: JobSource;
  /**
   * The iterator of an asynchronous input. It is created before the queue is iterated, so that an early error
   * of the input is not an unhandled rejection.
   */
  readonly #source: StartedIterator<MediaJob> | undefined;
  readonly #site: CallSite;
  readonly #options: QueueOptions;
  readonly #quota: QueueQuota;
  readonly #nameOf: (job: MediaJob) => string;
  readonly #names = new Set<string>();
  readonly #results: QueueResult[] = [];
  readonly #running = new Set<GenerationJob>();
  readonly #news = new Notifier();
  readonly #taken = new Notifier();
  /** Aborts with the reason when no more jobs may be submitted. */
  readonly #closed = new AbortController();
  /** Aborts when the caller stops iterating the queue, or aborts its `signal`. */
  readonly #left = new AbortController();
  #counts = { read: 0, waiting: 0, unfinished: 0, done: 0, failed: 0 };
  #isStarted = false;
  #isPaused = false;
  #isExhausted = false;
  #refusals = { answer: '', count: 0 };
  /** The errors of consecutive calls whose responses were lost. All jobs of a call share its error. */
  readonly #lostCalls = new Set<unknown>();
  /** The failed and unknown jobs, for the error of a queue that ends early. */
  readonly #rows: Pick<Report<MediaJob>, 'failed' | 'unknown'> = { failed: [], unknown: [] };
  #firstNotReached = Number.POSITIVE_INFINITY;
  #failure: { readonly reason: unknown } | undefined;

  constructor(host: QueueHost, jobs: JobSource, given: QueueOptions | undefined, site: CallSite) {
    const { pendingLimit } = host;
    this.#host = host;
    this.#jobs = jobs;
    this.#site = site;
    this.#source = isStream(jobs) ? new StartedIterator(jobs) : undefined;
    this.#options = this.#checked(given);
    const options = this.#options;
    this.#nameOf = jobNamer(options.key);
    this.#quota = new QueueQuota({
      name: options.name ?? crypto.randomUUID(),
      maxInProgress: Math.min(options.concurrency ?? pendingLimit, pendingLimit),
      maxJobs: options.maxJobs ?? Number.POSITIVE_INFINITY,
      deadlineMs: options.deadline ?? usualDeadlineMs,
    });
  }

  get running(): readonly GenerationJob[] {
    return [...this.#running];
  }

  pause(): void {
    this.#isPaused = true;
    this.#steer();
  }

  resume(): void {
    this.#isPaused = false;
    this.#lostCalls.clear();
    this.#steer();
  }

  drain(): void {
    this.#close(new QueueClosed());
  }

  /** Rejects a plain `for … of`, which cannot wait for results. Plain JavaScript could use it. */
  [Symbol.iterator](): never {
    throw new TypeError('A queue waits for its files: use `for await (const result of queue)`.');
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<QueueResult, void, undefined> {
    try {
      for await (const result of this.#run()) {
        locate(result.error, this.#site, 'outer call');
        yield result;
      }
    } catch (failure) {
      locate(failure, this.#site, 'outer call');
      throw failure;
    }
  }

  async *#run(): AsyncGenerator<QueueResult, void, undefined> {
    const { signal, save } = this.#options;
    this.#start();
    const stopListening = onAbort(signal, () => {
      this.#left.abort(signal?.reason);
      this.#close(signal?.reason);
    });
    void this.#read();
    try {
      while (!this.#isOver || this.#results.length > 0) {
        signal?.throwIfAborted();
        const next = this.#results.shift();
        if (!next) {
          if (this.#isLost && this.#isIdle) {
            this.#close(new QueueClosed());
          }
          await this.#news.wait();
          continue;
        }
        if (next.job) {
          this.#running.delete(next.job);
        }
        this.#taken.notify();
        this.#steer();
        yield next;
        // Without `save` the caller has stored the file when it requests the next result.
        if (next.file && !save) {
          await this.#settle(next.job);
        }
      }
      signal?.throwIfAborted(); // the abort may have come while the last result was settled
      await this.#host.ledger?.flush();
      if (this.#failure) {
        throw this.#failure.reason;
      }
      if (this.#isLost) {
        throw this.#answersLost();
      }
    } finally {
      stopListening();
      this.#left.abort(new QueueClosed());
      this.#close(new QueueClosed());
      await (signal?.aborted ? undefined : this.#host.ledger?.flush().catch(() => undefined)); // already reported
    }
  }

  /** Checks the options and the input. An error is kept and thrown when the queue is first iterated. */
  #checked(given: QueueOptions | undefined): QueueOptions {
    try {
      const options = readQueueOptions(given);
      requireJobs(this.#jobs);
      if (options.name !== undefined) {
        ledgerOf(this.#host.ledger);
      }
      return options;
    } catch (reason) {
      this.#source?.return().catch(() => undefined); // an invalid queue reads nothing
      this.#failure = { reason };
      return {};
    }
  }

  #start(): void {
    if (this.#failure) {
      throw this.#failure.reason;
    }
    // A second iteration would submit, and pay for, every job again.
    if (this.#isStarted) {
      throw new ConfigurationError(
        'This queue was already iterated. Create a new one for the remaining jobs.',
        { code: 'QUEUE_STARTED' },
      );
    }
    this.#isStarted = true;
    this.#endAtCap();
  }

  get #isOver(): boolean {
    const isClosed = this.#closed.signal.reason instanceof QueueClosed;
    return (this.#isExhausted || isClosed) && this.#counts.unfinished === 0;
  }

  /** Were two responses in a row lost? Then no more jobs are sent until `resume()`. */
  get #isLost(): boolean {
    return this.#lostCalls.size >= maxLostCalls;
  }

  /** Have all jobs that were sent ended? */
  get #isIdle(): boolean {
    return this.#counts.unfinished === this.#counts.waiting;
  }

  /** Reads the input and starts each job. Prefetches jobs, so that the longest can be sent first. */
  async #read(): Promise<void> {
    const source = this.#source ?? (this.#jobs as Iterable<MediaJob>)[Symbol.iterator](); // as: not async
    const ahead = Array.isArray(this.#jobs) ? maxAhead.list : maxAhead.iterator;
    const { signal: left } = this.#left;
    this.#quota.isFilling = true;
    try {
      while (!left.aborted && !(this.#closed.signal.reason instanceof QueueClosed)) {
        // Results that the caller has not taken count, too: an endless input of failing jobs would otherwise
        // fill the memory.
        if (this.#counts.waiting + this.#results.length >= ahead) {
          this.#quota.isFilling = false;
          await this.#taken.wait();
          this.#quota.isFilling = true;
          continue;
        }
        // A synchronous input is read without awaiting, so that its jobs can go into the same call.
        const next = source.next();
        const item: IteratorResult<MediaJob, unknown> = 'then' in next ? await next : next;
        if (item.done) {
          break;
        }
        void this.#make(this.#counts.read++, item.value);
      }
      await source.return?.();
    } catch (reason) {
      this.#failure = { reason };
    }
    this.#isExhausted = true;
    this.#quota.isFilling = false;
    this.#host.wake();
    this.#tell();
  }

  /** Runs one job, from its submission to its result. */
  async #make(index: number, input: MediaJob): Promise<void> {
    this.#counts.unfinished++;
    this.#counts.waiting++;
    let job: GenerationJob | undefined;
    let result: QueueResult | undefined;
    try {
      const submitted = await this.#submit(input).finally(() => {
        this.#counts.waiting--;
        this.#taken.notify();
      });
      ({ job } = submitted);
      this.#running.add(job);
      this.#tell();
      const file = await this.#finished(submitted);
      if (this.#options.save && !submitted.known?.isSaved) {
        await this.#options.save(file, { index, input, job });
        await this.#settle(job);
      }
      result = { index, input, job, file };
      this.#counts.done++;
    } catch (error) {
      if (!this.#left.signal.aborted && !(error instanceof QueueClosed)) {
        const reason = error ?? new Error('The job failed without a reason.');
        result = { index, input, job, error: reason };
        this.#counts.failed++;
        const isUnknown = isPostreelError(reason) && reason.outcome === 'unknown';
        this.#rows[isUnknown ? 'unknown' : 'failed'].push({ row: input, index, error: reason });
      } else if (!job) {
        this.#firstNotReached = Math.min(this.#firstNotReached, index);
      }
    }
    this.#counts.unfinished--;
    if (result) {
      this.#results.push(result);
    }
    this.#steer();
    this.#tell();
  }

  async #submit(input: MediaJob): Promise<SubmittedJob> {
    const { name, folderId, retryFailed, unknown } = this.#options;
    const { signal } = this.#closed;
    try {
      signal.throwIfAborted();
      const { ledger } = this.#host;
      const key = name === undefined ? undefined : this.#uniqueName(input);
      const once =
        ledger && name !== undefined && key !== undefined
          ? (job: MediaJob) => ledger.inQueue(name, key, job)
          : undefined;
      const terms = { quota: this.#quota, once, folderId, sendsUnknown: unknown === 'send' };
      const options = { signal, priority: 'bulk', retryFailed } as const;
      const call = this.#host.generate.submitFor(input, terms, options);
      const submitted = await call.catch((failure: unknown) => {
        const isLost = failure instanceof QueueClosed && call.outcome === 'unknown';
        throw isLost ? answerLost() : failure;
      });
      this.#refusals.count = 0;
      this.#lostCalls.clear();
      this.#endAtCap();
      return submitted;
    } catch (failure) {
      this.#drawConclusions(failure);
      throw failure;
    }
  }

  // Closes the queue when it has submitted `maxJobs`. A call in flight delays this: if it makes no job, its
  // jobs may be submitted again.
  #endAtCap(): void {
    if (this.#quota.left <= 0 && !this.#quota.isUnderWay) {
      this.#close(capped());
    }
  }

  #uniqueName(input: MediaJob): string {
    const name = this.#nameOf(input);
    if (this.#names.has(name)) {
      throw new InvalidRequestError(`Two jobs of the queue have the ${name}.`, {
        code: 'DUPLICATE_KEY',
        outcome: 'not-sent',
      });
    }
    this.#names.add(name);
    return name;
  }

  /**
   * Decides from the failure of one job whether the queue may submit the others:
   *
   *     failure                                                  the queue
   *     401, configuration error, no connection from the start   closes
   *     outcome `unknown`                                        counts a lost response; two in a row stop it
   *     the same refusal five times in a row                     closes
   */
  #drawConclusions(failure: unknown): void {
    if (!isPostreelError(failure) || failure === this.#closed.signal.reason) {
      return;
    }
    const isNowhere = failure.outcome === 'not-sent' && failure.code === 'NOT_CONNECTED';
    if (isAboutKey(failure) || (isNowhere && !this.#quota.hasConnected)) {
      this.#close(failure); // every job would fail with this error
    } else if (failure.outcome === 'unknown' && failure.code !== 'OUTCOME_UNKNOWN') {
      this.#noteLost(failure);
    } else if (failure.outcome === 'rejected') {
      this.#lostCalls.clear();
      const answer = answerOf(failure);
      const count = this.#refusals.answer === answer ? this.#refusals.count + 1 : 1;
      this.#refusals = { answer, count };
      if (count >= refusalsForAll) {
        this.#close(givenUp(failure));
      }
    }
  }

  async #finished({ job, known }: SubmittedJob) {
    const pace = batchPace(job.kind);
    const { timeout = pace.timeout } = this.#options;
    try {
      return await job.waitForFile({ ...pace, timeout, signal: this.#left.signal });
    } finally {
      if (!known?.isSaved) {
        this.#quota.end(1);
      }
      this.#host.wake();
    }
  }

  async #settle({ fileId }: GenerationJob): Promise<void> {
    await this.#host.ledger?.settle(fileId, 'saved').catch((error: unknown) => {
      this.#host.warn(`${reasonOf(error)} A file that is saved stays listed as pending.`);
    });
  }

  /** Pauses or resumes the sending of jobs. It pauses while too many results wait for the caller. */
  #steer(): void {
    const isFull = this.#results.length >= this.#host.pendingLimit;
    this.#quota.isPaused = this.#isPaused || isFull || this.#isLost;
    this.#endAtCap();
    this.#host.wake();
  }

  #close(reason: unknown): void {
    this.#closed.abort(reason);
    this.#taken.notify();
    this.#news.notify();
  }

  #noteLost(failure: PostreelError): void {
    // A 4xx to a call for several jobs leaves their outcome unknown, but the response itself was not lost.
    const isAnswer = failure.status !== undefined && failure.status < 500;
    if (isAnswer) {
      this.#lostCalls.clear();
    } else if (!this.#lostCalls.has(failure)) {
      this.#lostCalls.add(failure);
      if (this.#lostCalls.size === maxLostCalls) {
        this.#host.warn(
          'The answers to two calls in a row were lost: their jobs may exist, and each further call may be lost too. Nothing more is submitted until `queue.resume()`; without it the queue ends when the jobs in progress have.',
          'UNKNOWN_OUTCOMES',
        );
      }
    }
  }

  #answersLost(): PartialError<MediaJob> {
    const { done, failed, read } = this.#counts;
    const cause = new PostreelError('The answers to two calls in a row were lost.', {
      code: 'OUTCOME_UNKNOWN',
      outcome: 'unknown',
    });
    const notReached = Array.isArray(this.#jobs) ? this.#jobs.length - done - failed : undefined;
    const resumeFrom = Math.min(this.#firstNotReached, read);
    const result = { done, ...this.#rows, notReached, resumeFrom };
    const goOn =
      'Look for the jobs of these calls in the workspace, and run the queue again for the rest.';
    return new PartialError('media.queue()', result, cause, { code: 'OUTCOME_UNKNOWN', goOn });
  }

  #tell(): void {
    const { done, failed, waiting, read } = this.#counts;
    const total = Array.isArray(this.#jobs)
      ? this.#jobs.length
      : this.#isExhausted
        ? read
        : undefined;
    const pending = this.#quota.inProgress;
    callSafely(() => this.#options.onProgress?.({ done, failed, pending, waiting, total }));
    this.#news.notify();
  }
}

function isStream(jobs: JobSource): jobs is AsyncIterable<MediaJob> {
  return Object(jobs) === jobs && Symbol.asyncIterator in jobs;
}

// Numbers and the request id differ between responses that mean the same.
function answerOf({ status, code, message }: PostreelError): string {
  return `${status} ${code} ${message.replace(/ Request id \S+$/, '').replace(/\d+/g, '#')}`;
}

function isAboutKey(error: PostreelError): boolean {
  return error.status === 401 || error.name === 'ConfigurationError';
}

/** The error of a job that a queue gave up before it was submitted. */
function givenUp(reason: PostreelError): PostreelError {
  return new PostreelError(
    `The queue gave up before this job was submitted; submit it again once the cause is gone: ${reasonOf(reason)}`,
    { code: 'QUEUE_ENDED', outcome: 'not-sent', cause: reason },
  );
}

/** The error of a job whose response was lost, and that still waited to be submitted again. */
function answerLost(): PostreelError {
  return new PostreelError(
    'The answer to the call that submitted this job was lost, and the queue ended before it was submitted again. Look for it in the workspace.',
    { code: 'OUTCOME_UNKNOWN', outcome: 'unknown' },
  );
}

function capped(): PostreelError {
  return new PostreelError('This job would exceed `maxJobs` of the queue.', {
    code: 'SPENDING_CAP',
    outcome: 'not-sent',
  });
}
