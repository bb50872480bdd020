import { onAbort, callSafely, Notifier } from '../../core/async.js';
import { locate, type CallSite } from '../../core/call/call.js';
import { StartedIterator } from '../../core/list/started-iterator.js';
import {
  ConfigurationError,
  InvalidRequestError,
  isPostreelError,
  PartialError,
  PostreelError,
  reasonSentence,
  type Report,
} from '../../core/errors.js';
import type { Generate, SubmittedJob } from '../generate/resource.js';
import type { MediaJob } from '../generate/media-job.js';
import { jobNamer } from '../jobs/job-names.js';
import type { GenerationJob } from '../jobs/job.js';
import { ledgerOf, type JobLedger } from '../jobs/ledger.js';
import type { MediaNotices } from '../notices.js';
import { batchPace } from '../status/intervals.js';
import { QueueQuota } from '../submit/queue-quota.js';
import type { ClientSlots } from '../submit/slots.js';
import type { Submitter } from '../submit/submitter.js';
import {
  readQueueOptions,
  requireJobs,
  type JobSource,
  type MediaQueue,
  type QueueOptions,
  type QueueResult,
} from './options.js';

/** The parts of the client that a queue uses. */
export interface QueueParts {
  readonly generate: Generate;
  readonly ledger: JobLedger | undefined;
  readonly notices: MediaNotices;
  readonly slots: ClientSlots;
  readonly submitter: Submitter;
}

// The prefetch: the most jobs that are read and not yet submitted. A list belongs to this queue alone, so
// many jobs are read and the longest can start first. Several queues may share an iterator, so a queue
// prefetches only one full call from it.
const maxPrefetched = { list: 400, iterator: 20 };
const usualDeadlineMs = 24 * 60 * 60_000;
// One response may get lost. After two in a row the next response is likely to be lost, too, and its call
// costs money.
const maxLostResponses = 2;
// After this many equal refusals in a row the queue gives up: the service would refuse the rest as well.
const maxEqualRefusals = 5;

/** The reason why a closed queue drops a job: the job is not yielded. */
class QueueClosed extends Error {}

/**
 * Reads jobs from its input, submits each, waits for its file, saves the file, and yields the result. The
 * client's submitter decides when a job is sent, and with which others.
 */
export class JobQueue implements MediaQueue {
  readonly #parts: QueueParts;
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
  readonly #changes = new Notifier();
  readonly #room = new Notifier();
  /** Aborts with the reason when no more jobs may be submitted. */
  readonly #closed = new AbortController();
  /** Aborts when the caller stops iterating the queue, or aborts its `signal`. */
  readonly #stopped = new AbortController();
  #counts = { read: 0, waiting: 0, unfinished: 0, done: 0, failed: 0 };
  #isStarted = false;
  #isPaused = false;
  #isExhausted = false;
  #refusals = { answer: '', count: 0 };
  /** The errors of consecutive calls whose responses were lost. All jobs of a call share its error. */
  readonly #lostResponses = new Set<unknown>();
  /** The failed and unknown jobs, for the error of a queue that ends early. */
  readonly #rows: Pick<Report<MediaJob>, 'failed' | 'unknown'> = { failed: [], unknown: [] };
  #firstNotReached = Number.POSITIVE_INFINITY;
  #failure: { readonly reason: unknown } | undefined;

  constructor(parts: QueueParts, jobs: JobSource, given: QueueOptions | undefined, site: CallSite) {
    const { pendingLimit } = parts.slots;
    this.#parts = parts;
    this.#jobs = jobs;
    this.#site = site;
    this.#source = isAsyncSource(jobs) ? new StartedIterator(jobs) : undefined;
    this.#options = this.#readOptions(given);
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
    this.#updatePause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#lostResponses.clear();
    this.#updatePause();
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
      this.#stopped.abort(signal?.reason);
      this.#close(signal?.reason);
    });
    void this.#read();
    try {
      while (!this.#isOver || this.#results.length > 0) {
        signal?.throwIfAborted();
        const next = this.#results.shift();
        if (!next) {
          if (this.#areResponsesLost && this.#isIdle) {
            this.#close(new QueueClosed());
          }
          await this.#changes.wait();
          continue;
        }
        if (next.job) {
          this.#running.delete(next.job);
        }
        this.#room.notify();
        this.#updatePause();
        yield next;
        // Without `save` the caller has stored the file when it requests the next result.
        if (next.file && !save) {
          await this.#markSaved(next.job);
        }
      }
      signal?.throwIfAborted(); // the abort may have come while the last result was settled
      await this.#parts.ledger?.flush();
      if (this.#failure) {
        throw this.#failure.reason;
      }
      if (this.#areResponsesLost) {
        throw this.#lostResponsesError();
      }
    } finally {
      stopListening();
      this.#stopped.abort(new QueueClosed());
      this.#close(new QueueClosed());
      await (signal?.aborted ? undefined : this.#parts.ledger?.flush().catch(() => undefined)); // already reported
    }
  }

  /** Checks the options and the input. An error is kept and thrown when the queue is first iterated. */
  #readOptions(given: QueueOptions | undefined): QueueOptions {
    try {
      const options = readQueueOptions(given);
      requireJobs(this.#jobs);
      if (options.name !== undefined) {
        ledgerOf(this.#parts.ledger);
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
    this.#closeAtMaxJobs();
  }

  get #isOver(): boolean {
    const isClosed = this.#closed.signal.reason instanceof QueueClosed;
    return (this.#isExhausted || isClosed) && this.#counts.unfinished === 0;
  }

  /** Were two responses in a row lost? Then no more jobs are sent until `resume()`. */
  get #areResponsesLost(): boolean {
    return this.#lostResponses.size >= maxLostResponses;
  }

  /** Have all jobs that were sent ended? */
  get #isIdle(): boolean {
    return this.#counts.unfinished === this.#counts.waiting;
  }

  /** Reads the input and starts each job. Prefetches jobs, so that the longest can be sent first. */
  async #read(): Promise<void> {
    const source = this.#source ?? (this.#jobs as Iterable<MediaJob>)[Symbol.iterator](); // as: not async
    const maxWaiting = Array.isArray(this.#jobs) ? maxPrefetched.list : maxPrefetched.iterator;
    const { signal: stopped } = this.#stopped;
    this.#quota.isFilling = true;
    try {
      while (!stopped.aborted && !(this.#closed.signal.reason instanceof QueueClosed)) {
        // Results that the caller has not taken count, too: an endless input of failing jobs would otherwise
        // fill the memory.
        if (this.#counts.waiting + this.#results.length >= maxWaiting) {
          this.#quota.isFilling = false;
          await this.#room.wait();
          this.#quota.isFilling = true;
          continue;
        }
        // A synchronous input is read without awaiting, so that its jobs can go into the same call.
        const next = source.next();
        const item: IteratorResult<MediaJob, unknown> = 'then' in next ? await next : next;
        if (item.done) {
          break;
        }
        void this.#runJob(this.#counts.read++, item.value);
      }
      await source.return?.();
    } catch (reason) {
      this.#failure = { reason };
    }
    this.#isExhausted = true;
    this.#quota.isFilling = false;
    this.#parts.submitter.wake();
    this.#reportProgress();
  }

  /** Runs one job, from its submission to its result. */
  async #runJob(index: number, input: MediaJob): Promise<void> {
    this.#counts.unfinished++;
    this.#counts.waiting++;
    let job: GenerationJob | undefined;
    let result: QueueResult | undefined;
    try {
      const submitted = await this.#submit(input).finally(() => {
        this.#counts.waiting--;
        this.#room.notify();
      });
      ({ job } = submitted);
      this.#running.add(job);
      this.#reportProgress();
      const file = await this.#waitForFile(submitted);
      if (this.#options.save && !submitted.earlier?.isSaved) {
        await this.#options.save(file, { index, input, job });
        await this.#markSaved(job);
      }
      result = { index, input, job, file };
      this.#counts.done++;
    } catch (error) {
      if (!this.#stopped.signal.aborted && !(error instanceof QueueClosed)) {
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
    this.#updatePause();
    this.#reportProgress();
  }

  async #submit(input: MediaJob): Promise<SubmittedJob> {
    const { name, folderId, retryFailed, unknown } = this.#options;
    const { signal } = this.#closed;
    try {
      signal.throwIfAborted();
      const { ledger } = this.#parts;
      const key = name === undefined ? undefined : this.#requireUniqueName(input);
      const once =
        ledger && name !== undefined && key !== undefined
          ? (job: MediaJob) => ledger.inQueue(name, key, job)
          : undefined;
      const settings = { quota: this.#quota, once, folderId, sendsUnknown: unknown === 'send' };
      const options = { signal, priority: 'bulk', retryFailed } as const;
      const call = this.#parts.generate.submitFor(input, settings, options);
      const submitted = await call.catch((failure: unknown) => {
        // A job that only waited for another process's claim was not sent: the next run continues with it.
        const isLost = failure instanceof QueueClosed && call.isSent && call.outcome === 'unknown';
        throw isLost ? lostResponseError() : failure;
      });
      this.#refusals.count = 0;
      this.#lostResponses.clear();
      this.#closeAtMaxJobs();
      return submitted;
    } catch (failure) {
      this.#noteSubmitError(failure);
      throw failure;
    }
  }

  // Closes the queue when it has submitted `maxJobs`. A call in flight delays this: if it makes no job, its
  // jobs may be submitted again.
  #closeAtMaxJobs(): void {
    if (this.#quota.remaining <= 0 && !this.#quota.isInFlight) {
      this.#close(maxJobsError());
    }
  }

  #requireUniqueName(input: MediaJob): string {
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
  #noteSubmitError(failure: unknown): void {
    if (!isPostreelError(failure) || failure === this.#closed.signal.reason) {
      return;
    }
    const isUnreachable = failure.outcome === 'not-sent' && failure.code === 'NOT_CONNECTED';
    if (isKeyError(failure) || (isUnreachable && !this.#quota.hasConnected)) {
      this.#close(failure); // every job would fail with this error
    } else if (failure.outcome === 'unknown' && failure.code !== 'OUTCOME_UNKNOWN') {
      this.#noteLostResponse(failure);
    } else if (failure.outcome === 'rejected') {
      this.#lostResponses.clear();
      const answer = refusalTextOf(failure);
      const count = this.#refusals.answer === answer ? this.#refusals.count + 1 : 1;
      this.#refusals = { answer, count };
      if (count >= maxEqualRefusals) {
        this.#close(queueEndedError(failure));
      }
    }
  }

  async #waitForFile({ job, earlier }: SubmittedJob) {
    const pace = batchPace(job.kind);
    const { timeout = pace.timeout } = this.#options;
    try {
      return await job.waitForFile({ ...pace, timeout, signal: this.#stopped.signal });
    } finally {
      if (!earlier?.isSaved) {
        this.#quota.countEnded(1);
      }
      this.#parts.submitter.wake();
    }
  }

  async #markSaved({ fileId }: GenerationJob): Promise<void> {
    await this.#parts.ledger?.settle(fileId, 'saved').catch((error: unknown) => {
      this.#parts.notices.warn(
        `${reasonSentence(error)} The file was saved, but it stays listed as pending.`,
      );
    });
  }

  /** Pauses or resumes the sending of jobs. It pauses while too many results wait for the caller. */
  #updatePause(): void {
    const isFull = this.#results.length >= this.#parts.slots.pendingLimit;
    this.#quota.isPaused = this.#isPaused || isFull || this.#areResponsesLost;
    this.#closeAtMaxJobs();
    this.#parts.submitter.wake();
  }

  #close(reason: unknown): void {
    this.#closed.abort(reason);
    this.#room.notify();
    this.#changes.notify();
  }

  #noteLostResponse(failure: PostreelError): void {
    // A 4xx to a call for several jobs leaves their outcome unknown, but the response itself was not lost.
    const isAnswer = failure.status !== undefined && failure.status < 500;
    if (isAnswer) {
      this.#lostResponses.clear();
    } else if (!this.#lostResponses.has(failure)) {
      this.#lostResponses.add(failure);
      if (this.#lostResponses.size === maxLostResponses) {
        this.#parts.notices.warn(
          'The responses to two calls in a row were lost: their jobs may exist, and the next responses may be lost too. The queue submits nothing more until `queue.resume()`. Otherwise it ends when the jobs in progress have ended.',
          'UNKNOWN_OUTCOMES',
        );
      }
    }
  }

  #lostResponsesError(): PartialError<MediaJob> {
    const { done, failed, read } = this.#counts;
    const cause = new PostreelError('The responses to two calls in a row were lost.', {
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

  #reportProgress(): void {
    const { done, failed, waiting, read } = this.#counts;
    const total = Array.isArray(this.#jobs)
      ? this.#jobs.length
      : this.#isExhausted
        ? read
        : undefined;
    const pending = this.#quota.inProgress;
    callSafely(() => this.#options.onProgress?.({ done, failed, pending, waiting, total }));
    this.#changes.notify();
  }
}

function isAsyncSource(jobs: JobSource): jobs is AsyncIterable<MediaJob> {
  return Object(jobs) === jobs && Symbol.asyncIterator in jobs;
}

// Numbers and the request id differ between responses that mean the same.
function refusalTextOf({ status, code, message }: PostreelError): string {
  return `${status} ${code} ${message.replace(/ Request id \S+$/, '').replace(/\d+/g, '#')}`;
}

function isKeyError(error: PostreelError): boolean {
  return error.status === 401 || error.name === 'ConfigurationError';
}

/** The error of a job that a queue gave up before it was submitted. */
function queueEndedError(reason: PostreelError): PostreelError {
  return new PostreelError(
    `The queue ended before this job was submitted: ${reasonSentence(reason)} Fix the cause, then submit the job again.`,
    { code: 'QUEUE_ENDED', outcome: 'not-sent', cause: reason },
  );
}

/** The error of a job whose response was lost, and that still waited to be submitted again. */
function lostResponseError(): PostreelError {
  return new PostreelError(
    'The response to the call that submitted this job was lost, and the queue ended before it was submitted again. Look for it in the workspace.',
    { code: 'OUTCOME_UNKNOWN', outcome: 'unknown' },
  );
}

function maxJobsError(): PostreelError {
  return new PostreelError('This job would exceed `maxJobs` of the queue.', {
    code: 'SPENDING_CAP',
    outcome: 'not-sent',
  });
}
