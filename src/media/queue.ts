import { isPostreelError, PostreelError } from '../errors/index.js';
import { monotonicMs } from '../transport/clock.js';
import type { RateLimitState } from '../transport/rate-budget.js';
import { isVideo, type MediaJob } from './estimate.js';
import type { MediaFile } from './file.js';
import { jobNamer } from './journal.js';
import { JobInput, type Entry } from './job-input.js';
import type { GenerationJob, JobRecord } from './job.js';
import type { PendingGate, Place } from './pending-gate.js';
import type { JobSource, MediaQueue, QueueOptions, QueueResult } from './queue-options.js';
import { QueueSignals } from './queue-signals.js';

/** What a queue asks of its client. */
export interface QueueHost {
  readonly gate: PendingGate;
  rateLimit(): RateLimitState | undefined;
  /** Hands in jobs of one call; they take the places given. */
  submit(jobs: readonly MediaJob[], facts: Submitting): Promise<GenerationJob[]>;
  adopt(record: JobRecord): GenerationJob;
  wait(job: GenerationJob, signal: AbortSignal): Promise<MediaFile>;
  /** Looks at running jobs now, so that no place that is free goes unnoticed. */
  refresh(jobs: readonly GenerationJob[], signal: AbortSignal): Promise<void>;
  /** What breaks a rule of the document in one job. */
  problem(job: MediaJob): PostreelError | undefined;
  /** What an earlier run of a named queue did. */
  earlier(): Promise<ReadonlyMap<string, JobRecord | 'unknown'>>;
}

/** What goes with the jobs of one call. */
export interface Submitting {
  readonly names: readonly string[] | undefined;
  readonly folderId: string | undefined;
  readonly signal: AbortSignal;
}

// Ten calls in ten minutes, with some to spare for the end; a call for one place is a call wasted.
const gapMs = 50_000;
const fewestFree = 2;
// A job whose fate is unknown may take a place for about so long.
const uncertainMs = 10 * 60_000;
// Refusals in a row that may pass; after so many the jobs fail with what the service says.
const manySetbacks = 20;

/** Fills the free places with one call at a time, longest jobs first, and yields what is finished. */
export class JobQueue implements MediaQueue {
  readonly #open: () => Promise<QueueHost>;
  readonly #options: QueueOptions;
  readonly #input: JobInput;
  readonly #signals: QueueSignals;
  readonly #running = new Set<GenerationJob>();
  #earlier: ReadonlyMap<string, JobRecord | 'unknown'> = new Map();
  #folderId: string | undefined;
  #lastCallAt = Number.NEGATIVE_INFINITY;
  #refusal: unknown;
  #reading: Promise<void> | undefined;
  #setbacks = 0;

  constructor(source: JobSource, options: QueueOptions, open: () => Promise<QueueHost>) {
    this.#open = open;
    this.#options = options;
    this.#folderId = options.folderId;
    const { name } = options;
    this.#input = new JobInput(source, name === undefined ? undefined : jobNamer(name));
    this.#signals = new QueueSignals(options, () => this.#progress());
  }

  get running(): readonly GenerationJob[] {
    return [...this.#running];
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<QueueResult, void, undefined> {
    const { signal, results } = this.#signals;
    signal.throwIfAborted();
    const host = await this.#open();
    const stopListening = host.gate.onFree(() => this.#signals.wake());
    try {
      if (this.#options.name !== undefined) this.#earlier = await host.earlier();
      for (;;) {
        signal.throwIfAborted();
        const result = results.shift();
        if (result) yield result;
        else if (this.#isOver()) return;
        else await this.#proceed(host);
      }
    } finally {
      stopListening();
      this.#input.close();
      this.#signals.stop();
    }
  }

  #isOver(): boolean {
    this.#reading = this.#input.read();
    const { waiting, isExhausted } = this.#input;
    return waiting === 0 && isExhausted && this.#running.size === 0 && !this.#signals.isBusy;
  }

  /** Does what can be done now, or waits for a change. */
  async #proceed(host: QueueHost): Promise<void> {
    const delayMs = this.#delayMs(host);
    if (delayMs <= 0 && (await this.#callOnce(host))) return;
    await this.#signals.change(delayMs <= 0 ? host.gate.askAgainMs : delayMs, this.#reading);
  }

  /** How long until the next call makes sense. */
  #delayMs(host: QueueHost): number {
    const isIdle =
      this.#input.waiting === 0 ||
      this.#signals.isBusy ||
      this.#room(host) < Math.min(fewestFree, this.#input.waiting);
    if (isIdle) return Number.POSITIVE_INFINITY;
    const { resetsAt } = host.rateLimit() ?? {};
    const untilFree = resetsAt ? resetsAt.getTime() - Date.now() : 0;
    return Math.max(untilFree, this.#lastCallAt + gapMs - monotonicMs());
  }

  #room({ gate }: QueueHost): number {
    const { concurrency = Number.POSITIVE_INFINITY } = this.#options;
    return Math.min(concurrency - this.#running.size, gate.open);
  }

  /** Hands in as many jobs as there are free places; false when nothing could be done. */
  async #callOnce(host: QueueHost): Promise<boolean> {
    // A call is rare: first see whether it can carry more.
    if (this.#input.waiting > this.#room(host))
      await host.refresh(this.running, this.#signals.signal);
    const places = await host.gate.take(Math.min(this.#room(host), this.#input.waiting));
    const taken = this.#input.takeBatch(places.length);
    const batch = this.#ready(host, taken);
    for (const place of places.splice(batch.length)) place.free();
    if (batch.length > 0) {
      this.#lastCallAt = batch.some(({ input }) => isVideo(input))
        ? monotonicMs()
        : this.#lastCallAt;
      void this.#signals.busy(this.#handIn(host, batch, places));
    }
    return taken.length > 0;
  }

  // Sorts out what needs no call: jobs of an earlier run, and jobs that break a rule.
  #ready(host: QueueHost, batch: readonly Entry[]): Entry[] {
    return batch.filter((entry) => {
      const before = entry.name === undefined ? undefined : this.#earlier.get(entry.name);
      if (before === 'unknown') this.#fail(entry, mayHaveBeenHandedIn());
      else if (before)
        this.#follow(host, entry, { job: host.adopt(before), place: host.gate.count() });
      const problem = before ? undefined : (this.#refusal ?? host.problem(entry.input));
      if (problem) this.#fail(entry, problem);
      return !before && !problem;
    });
  }

  async #handIn(host: QueueHost, batch: readonly Entry[], places: readonly Place[]): Promise<void> {
    const { signal } = this.#signals;
    const names = batch.flatMap(({ name }) => name ?? []);
    const facts = { folderId: this.#folderId, names: names.length > 0 ? names : undefined, signal };
    try {
      const jobs = await host.submit(
        batch.map(({ input }) => input),
        facts,
      );
      this.#setbacks = 0;
      this.#folderId ??= jobs[0]?.folderId;
      batch.forEach((entry, index) => {
        const [job, place] = [jobs[index], places[index]];
        if (job && place) this.#follow(host, entry, { job, place });
      });
    } catch (failure) {
      this.#settleRefused(failure, batch, places);
    }
  }

  #settleRefused(failure: unknown, batch: readonly Entry[], places: readonly Place[]): void {
    const { status, outcome } = isPostreelError(failure)
      ? failure
      : { status: undefined, outcome: 'unknown' as const };
    // What may be in the making keeps its places for a while, and is never handed in again.
    for (const place of places) {
      if (outcome === 'unknown') place.freeAfter(uncertainMs);
      else place.free();
    }
    if (this.#signals.signal.aborted) return;
    if (mayPass(failure) && ++this.#setbacks <= manySetbacks) {
      this.#lastCallAt = monotonicMs();
      this.#input.putBack(batch);
    } else if (outcome === 'rejected' && !isForAll(status) && batch.length > 1) {
      this.#input.putBackInHalves(batch);
    } else {
      for (const entry of batch) this.#fail(entry, failure);
    }
    if (isForAll(status)) this.#refusal = failure;
  }

  #follow(
    host: QueueHost,
    entry: Entry,
    { job, place }: { job: GenerationJob; place: Place },
  ): void {
    this.#running.add(job);
    const { index, input } = entry;
    const end = (result: QueueResult) => {
      this.#running.delete(job);
      place.free();
      this.#signals.push(result);
    };
    host.wait(job, this.#signals.signal).then(
      (file) => end({ index, input, job, file }),
      (error: unknown) => {
        // After an abort the job goes on, and `running` still names it.
        if (this.#signals.signal.aborted) place.freeAfter(uncertainMs);
        else end({ index, input, job, error });
      },
    );
  }

  #fail({ index, input }: Entry, error: unknown): void {
    this.#signals.push({ index, input, job: undefined, error });
  }

  #progress(): { pending: number; waiting: number } {
    return { pending: this.#running.size, waiting: this.#input.waiting };
  }
}

// Refused for now, or never left: at another time the same call may go through.
function mayPass(failure: unknown): boolean {
  if (!isPostreelError(failure)) return false;
  return (
    failure.status === 429 || failure.code === 'NOT_CONNECTED' || failure.code === 'QUEUE_TIMEOUT'
  );
}

// A key that is refused once is refused for all.
function isForAll(status: number | undefined): boolean {
  return status === 401 || status === 403;
}

function mayHaveBeenHandedIn(): PostreelError {
  return new PostreelError(
    'This job may have been handed in when an earlier run ended. Look for it in the workspace before handing it in again.',
    { code: 'OUTCOME_UNKNOWN', outcome: 'unknown' },
  );
}
