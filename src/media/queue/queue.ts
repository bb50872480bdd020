import { monotonicMs } from '../../async/clock.js';
import { isVideo } from '../generate/media-job.js';
import { jobNamer } from '../jobs/journal.js';
import { JobInput, type Entry } from './source.js';
import type { GenerationJob, JobRecord } from '../jobs/job.js';
import { uncertainMs, type Slot } from './slots.js';
import { QueueEstimate, type Running } from './estimate.js';
import { isStillPending, judgeFailure, mayHaveBeenHandedIn, type Verdict } from './failures.js';
import type { QueueHost } from './host.js';
import { QueuePace } from './pace.js';
import type { JobSource, MediaQueue, QueueOptions, QueueProgress, QueueResult } from './options.js';
import { QueueSignals } from './signals.js';

// A call for one place is a call wasted.
const fewestFree = 2;
/** A job that the service has taken. */
interface Taken {
  readonly job: GenerationJob;
  readonly place: Slot;
  /** `undefined` for a job of an earlier run. */
  readonly startedAt: number | undefined;
}

// Refusals in a row that may pass; after so many the jobs fail with what the service says.
const manySetbacks = 20;

/** Fills the free places with one call at a time, longest jobs first, and yields what is finished. */
export class JobQueue implements MediaQueue {
  readonly #open: () => Promise<QueueHost>;
  readonly #options: QueueOptions;
  readonly #input: JobInput;
  readonly #signals: QueueSignals;
  readonly #pace = new QueuePace();
  readonly #running = new Map<GenerationJob, Running>();
  readonly #estimate = new QueueEstimate();
  #host: QueueHost | undefined;
  #end: { failure?: { reason: unknown } } | undefined;
  #earlier: ReadonlyMap<string, JobRecord | 'unknown'> = new Map();
  #folderId: string | undefined;
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
    const finished = this.#signals.results.flatMap(({ job, file }) => (job && file ? [job] : []));
    return [...finished, ...this.#running.keys()];
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<QueueResult, void, undefined> {
    const { signal, news } = this.#signals;
    signal.throwIfAborted();
    const host = await this.#open();
    this.#host = host;
    const stopListening = host.gate.onFree(() => this.#signals.wake());
    try {
      if (this.#options.name !== undefined) {
        this.#earlier = await host.earlier();
      }
      void this.#work(host);
      for (;;) {
        signal.throwIfAborted();
        const result = this.#signals.take();
        if (result) {
          yield result;
        } else if (this.#end) {
          break;
        } else {
          await news.wait();
        }
      }
      if (this.#end.failure) {
        throw this.#end.failure.reason;
      }
    } finally {
      stopListening();
      this.#input.close();
      this.#signals.stop();
    }
  }

  /** Keeps the places filled, also while somebody is slow with a result. */
  async #work(host: QueueHost): Promise<void> {
    try {
      while (!this.#signals.signal.aborted && !this.#isOver()) {
        await this.#proceed(host);
      }
      this.#end = {};
    } catch (reason) {
      this.#end = { failure: { reason } };
    }
    this.#signals.news.notify();
  }

  #isOver(): boolean {
    this.#reading = this.#input.read();
    const { waiting, isExhausted } = this.#input;
    return waiting === 0 && isExhausted && this.#running.size === 0 && !this.#signals.isBusy;
  }

  /** Does what can be done now, or waits for a change. */
  async #proceed(host: QueueHost): Promise<void> {
    const delayMs = this.#delayMs(host);
    if (delayMs <= 0 && (await this.#callOnce(host))) {
      return;
    }
    await this.#signals.change(delayMs <= 0 ? host.gate.askAgainMs : delayMs, this.#reading);
  }

  /** How long until the next call makes sense. */
  #delayMs(host: QueueHost): number {
    const { waiting } = this.#input;
    const room = this.#room(host);
    const least = Math.min(fewestFree, waiting, this.#mostAtOnce(host));
    // Nobody takes the results: no use in making more of them.
    if (this.#signals.results.length >= host.gate.limit) {
      return Number.POSITIVE_INFINITY;
    }
    if (waiting === 0 || this.#signals.isBusy || room < least) {
      return Number.POSITIVE_INFINITY;
    }
    if (this.#refusal !== undefined) {
      return 0;
    }
    const isFilling = this.#reading !== undefined && waiting < room;
    return this.#pace.delayMs(this.#input, isFilling, host.rateLimit());
  }

  #mostAtOnce({ gate }: QueueHost): number {
    return Math.min(this.#options.concurrency ?? gate.limit, gate.limit);
  }

  #room(host: QueueHost): number {
    return Math.min(this.#mostAtOnce(host) - this.#running.size, host.gate.open);
  }

  /** Hands in as many jobs as there are free places; false when nothing could be done. */
  async #callOnce(host: QueueHost): Promise<boolean> {
    // A call is rare: first see whether it can carry more.
    if (this.#input.waiting > this.#room(host)) {
      await host.refresh(this.running, this.#signals.signal);
    }
    const places = await host.gate.take(Math.min(this.#room(host), this.#input.waiting));
    const { aborted } = this.#signals.signal;
    const taken = this.#input.takeBatch(aborted ? 0 : places.length);
    const batch = this.#ready(host, taken);
    for (const place of places.splice(batch.length)) {
      place.free();
    }
    if (batch.length > 0) {
      if (batch.some(({ input }) => isVideo(input))) {
        this.#pace.handInVideos();
      }
      void this.#signals.busy(this.#handIn(host, batch, places));
    }
    return taken.length > 0;
  }

  // Sorts out what needs no call: jobs of an earlier run, and jobs that break a rule.
  #ready(host: QueueHost, batch: readonly Entry[]): Entry[] {
    return batch.filter((entry) => {
      const before = entry.name === undefined ? undefined : this.#earlier.get(entry.name);
      if (before === 'unknown') {
        this.#fail(entry, mayHaveBeenHandedIn());
      } else if (before) {
        this.#follow(host, entry, {
          job: host.revive(before),
          place: host.gate.count(),
          startedAt: undefined,
        });
      }
      const problem = before ? undefined : (this.#refusal ?? host.problem(entry.input));
      if (problem) {
        this.#fail(entry, problem);
      }
      return !before && !problem;
    });
  }

  async #handIn(host: QueueHost, batch: readonly Entry[], places: readonly Slot[]): Promise<void> {
    const { signal } = this.#signals;
    const names = batch.flatMap(({ name }) => name ?? []);
    const facts = { folderId: this.#folderId, names: names.length > 0 ? names : undefined, signal };
    const inputs = batch.map(({ input }) => input);
    const call = host.submit(inputs, facts);
    try {
      const jobs = await call;
      this.#setbacks = 0;
      this.#folderId ??= jobs[0]?.folderId;
      batch.forEach((entry, index) => {
        const [job, place] = [jobs[index], places[index]];
        if (job && place) {
          this.#follow(host, entry, { job, place, startedAt: monotonicMs() });
        }
      });
    } catch (failure) {
      this.#settleFailed(failure, judgeFailure(failure, call.outcome), { batch, places });
    }
  }

  #settleFailed(
    failure: unknown,
    { mayPass, isForAll, isForOne, isUnknown }: Verdict,
    { batch, places }: { batch: readonly Entry[]; places: readonly Slot[] },
  ): void {
    // What may be in the making keeps its places for a while.
    for (const place of places) {
      if (isUnknown) {
        place.freeAfter(uncertainMs);
      } else {
        place.free();
      }
    }
    if (this.#signals.signal.aborted) {
      return;
    }
    if (isForAll) {
      this.#refusal = failure;
    }
    if (mayPass && ++this.#setbacks <= manySetbacks) {
      this.#pace.pause();
      this.#input.putBack(batch);
    } else if (isForOne && batch.length > 1) {
      this.#input.putBackInHalves(batch);
    } else {
      for (const entry of batch) {
        this.#fail(entry, failure);
      }
    }
  }

  #follow(
    host: QueueHost,
    { index, input, minutes }: Entry,
    { job, place, startedAt }: Taken,
  ): void {
    const running = { minutes, startedAt };
    this.#running.set(job, running);
    const end = (result: QueueResult) => {
      this.#running.delete(job);
      if (result.file) {
        this.#estimate.learn(running);
      }
      if (isStillPending(result.error)) {
        place.freeAfter(uncertainMs);
      } else {
        place.free();
      }
      this.#signals.push(result);
    };
    host.wait(job, this.#signals.signal).then(
      (file) => end({ index, input, job, file }),
      (error: unknown) => {
        // After an abort the job goes on, and `running` still names it.
        if (this.#signals.signal.aborted) {
          place.freeAfter(uncertainMs);
        } else {
          end({ index, input, job, error });
        }
      },
    );
  }

  #fail({ index, input }: Entry, error: unknown): void {
    this.#signals.push({ index, input, job: undefined, error });
  }

  #progress(): Omit<QueueProgress, 'done' | 'failed'> {
    const { entries, waiting } = this.#input;
    const host = this.#host;
    const etaMs =
      host &&
      this.#estimate.leftMs({
        running: this.#running.values(),
        waiting: entries,
        places: this.#mostAtOnce(host),
        callsMs: (count) => host.callsMs(count),
      });
    return { pending: this.#running.size, waiting, etaMs };
  }
}
