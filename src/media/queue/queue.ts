import { onAbort } from '../../async/abort.js';
import type { MediaJob } from '../generate/media-job.js';
import type { GenerationJob } from '../jobs/job.js';
import { QueueDriver } from './driver/driver.js';
import { QueueEstimate, type Ahead } from './estimate.js';
import type { QueueHost } from './host.js';
import { EngineInput } from './input/engine-input.js';
import { jobNamer } from '../jobs/job-names.js';
import { Intake, type Naming } from './input/intake.js';
import type { JobSource, MediaQueue, QueueOptions, QueueResult } from './options.js';
import { QueueResults } from './driver/results.js';
import { SourceReader } from './input/source.js';
import type { ReadEntry } from './steps/events.js';
import type { QueueState } from './steps/state.js';

// Enough to find long jobs early, few enough to read a long input step by step. A list is there
// anyway: jobs that take equally long are found together, and end together.
const lookAhead = { list: 400, stream: 100 };
// A journal that cannot be read is asked again: for so long at first, when its address may be wrong,
// and as long as any outage once it was read.
const readAgainMs = [1_000, 5_000, 15_000];
const readLaterMs = 60_000;

type Control = 'pause' | 'resume' | 'drain';

/** Fills the free slots with one call at a time, longest jobs first, and yields what is finished. */
export class JobQueue implements MediaQueue {
  readonly #open: () => Promise<QueueHost>;
  readonly #options: QueueOptions;
  readonly #source: SourceReader;
  /** The engine that the jobs are taken from, if it is one. */
  readonly #engine: EngineInput | undefined;
  readonly #results: QueueResults;
  readonly #estimate = new QueueEstimate();
  readonly #early: Control[] = [];
  #parts: { host: QueueHost; driver: QueueDriver; intake: Intake } | undefined;
  #end: { failure?: { reason: unknown } | undefined } | undefined;
  readonly #naming: Naming;
  #isReading = false;

  constructor(
    input: JobSource | EngineInput,
    options: QueueOptions,
    open: () => Promise<QueueHost>,
    naming: Naming = { queue: options.name, jobOf: jobNamer(options.key), mayRecur: false },
  ) {
    this.#naming = naming;
    this.#open = open;
    this.#options = options;
    this.#engine = input instanceof EngineInput ? input : undefined;
    this.#source = new SourceReader(input instanceof EngineInput ? input.jobs() : input);
    this.#results = new QueueResults(options);
  }

  get running(): readonly GenerationJob[] {
    const finished = this.#results.finished.flatMap(({ job }) => job ?? []);
    return [...finished, ...(this.#parts?.driver.running ?? [])];
  }

  pause(): void {
    this.#control('pause');
  }

  resume(): void {
    this.#control('resume');
  }

  drain(): void {
    this.#control('drain');
    this.#engine?.stop();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<QueueResult, void, undefined> {
    try {
      yield* this.#iterate();
    } finally {
      await this.#engine?.end();
    }
  }

  async *#iterate(): AsyncGenerator<QueueResult, void, undefined> {
    const { signal } = this.#options;
    signal?.throwIfAborted();
    const { host, driver } = await this.#start();
    const stopListening = onAbort(signal, () => {
      driver.stop();
      this.#results.wake.notify();
    });
    try {
      for (;;) {
        signal?.throwIfAborted();
        const next = this.#results.take();
        if (next) {
          const { result, name } = next;
          driver.dispatch({ type: 'taken' });
          yield* this.#handOut(result, name, host);
        } else if (this.#end) {
          break;
        } else {
          await this.#results.wake.wait();
        }
      }
      await host.flush();
      const failure = this.#end.failure ?? this.#engine?.refusal;
      if (failure) {
        throw failure.reason;
      }
    } finally {
      stopListening();
      this.#source.close();
      driver.stop();
      if (!signal?.aborted) {
        await host.flush().catch(() => undefined); // reported by then
      }
    }
  }

  // With `save` a file is stored by now; without it, once the next result is asked for.
  async *#handOut(
    result: QueueResult,
    name: string | undefined,
    host: QueueHost,
  ): AsyncGenerator<QueueResult, void, undefined> {
    const { file } = result;
    const isStored = this.#options.save !== undefined || !file;
    if (isStored) {
      await this.#engine?.acknowledge(result);
    }
    yield result;
    if (!isStored) {
      await this.#engine?.acknowledge(result);
      await host.settle(file.fileId, name);
    }
  }

  #control(type: Control): void {
    if (this.#parts) {
      this.#parts.driver.dispatch({ type });
    } else {
      this.#early.push(type);
    }
  }

  async #start(): Promise<{ host: QueueHost; driver: QueueDriver }> {
    const host = await this.#open();
    const intake = new Intake(host, this.#naming, this.#options.retryFailed ?? false);
    const driver = new QueueDriver(host, this.#options, intake.inputs, {
      onResult: (result, name) => {
        if (result.file) {
          this.#learn(result.index);
        }
        intake.forget(result.index);
        this.#results.push(result, name);
      },
      onChange: () => this.#onChange(),
      onEnd: (failure) => this.#finish(failure ?? this.#source.failure),
    });
    this.#parts = { host, driver, intake };
    for (const type of this.#early) {
      driver.dispatch({ type });
    }
    this.#read();
    return { host, driver };
  }

  #onChange(): void {
    this.#read();
    this.#report();
  }

  /** Reads on until enough jobs wait. */
  #read(): void {
    const { driver, intake } = this.#parts ?? {};
    if (!driver || !intake || this.#isReading || this.#source.isExhausted || driver.isStopped) {
      return;
    }
    const ahead = this.#source.size === undefined ? lookAhead.stream : lookAhead.list;
    const most = ahead - driver.state.waiting.length;
    if (most <= 0 || driver.state.isDraining) {
      return;
    }
    this.#isReading = true;
    if (this.#source.isStream || intake.isNamed) {
      void this.#readLater(driver, intake, most);
      return;
    }
    this.#bring(driver, intake.entries(this.#source.readList(most)));
  }

  async #readLater(driver: QueueDriver, intake: Intake, most: number): Promise<void> {
    const { isStream } = this.#source;
    if (isStream) {
      driver.dispatch({ type: 'reading' });
    }
    try {
      const jobs = isStream ? await this.#source.readStream() : this.#source.readList(most);
      const entries = intake.isNamed
        ? await this.#known(driver, intake, jobs)
        : intake.entries(jobs);
      driver.learn(entries.map(({ entry, known }) => [entry.name, known] as const));
      this.#bring(driver, entries);
    } catch (reason) {
      this.#finish({ reason });
    }
  }

  async #known(
    driver: QueueDriver,
    intake: Intake,
    jobs: readonly MediaJob[],
  ): Promise<ReadEntry[]> {
    const entries = intake.entries(jobs);
    const clock = this.#parts?.host.clock;
    const { outageMs } = driver.state.rules;
    const until = intake.count > jobs.length ? (clock?.now() ?? 0) + outageMs : 0;
    for (let failures = 0; ; failures++) {
      try {
        return await intake.known(entries);
      } catch (error) {
        const isFinal = failures >= readAgainMs.length && (clock?.now() ?? 0) >= until;
        if (isFinal || driver.isStopped) {
          throw error;
        }
        if (until > 0) {
          driver.dispatch({ type: 'unread', error });
        }
        const delayMs = readAgainMs[failures] ?? readLaterMs;
        await new Promise<void>((resolve) => clock?.at(clock.now() + delayMs, resolve));
      }
    }
  }

  #bring(driver: QueueDriver, entries: readonly ReadEntry[]): void {
    this.#isReading = false;
    if (entries.length > 0) {
      driver.dispatch({ type: 'read', entries });
    }
    if (this.#source.isExhausted) {
      driver.dispatch({ type: 'exhausted' });
    } else {
      this.#read();
    }
  }

  #finish(failure: { reason: unknown } | undefined): void {
    this.#end ??= { failure };
    this.#parts?.driver.stop();
    this.#results.wake.notify();
  }

  #learn(index: number): void {
    const { host, driver } = this.#parts ?? {};
    const running = driver?.last(index);
    if (host && running) {
      this.#estimate.learn(running, host.clock.now());
    }
  }

  #report(): void {
    const { host, driver, intake } = this.#parts ?? {};
    const isOpen = host && driver && intake && !(driver.isStopped && !this.#end);
    if (!isOpen || !this.#options.onProgress) {
      return;
    }
    const { state } = driver;
    const { running, saving, waiting, inFlight, claimed } = state;
    const now = host.clock.now();
    const count = intake.count;
    const ahead = aheadOf(state, host);
    this.#results.report({
      pending: running.size + saving.size,
      waiting: waiting.length + claimed.size + (inFlight?.entries.length ?? 0),
      total: this.#source.size ?? (this.#source.isExhausted ? count : undefined),
      etaMs: this.#estimate.leftMs(ahead, now),
    });
  }
}

/** What lies before a queue in this state. */
function aheadOf(state: QueueState, host: QueueHost): Ahead {
  const { running, waiting, inFlight, rules } = state;
  return {
    running: [...running.values()].map(({ entry: { minutes }, startedAt }) => ({
      minutes,
      startedAt,
    })),
    waiting: [...waiting, ...(inFlight?.entries ?? [])],
    slots: rules.concurrency,
    callsMs: (count) => host.callsMs(count),
  };
}
