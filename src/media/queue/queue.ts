import { onAbort } from '../../core/async.js';
import type { GenerationJob } from '../jobs/job.js';
import { QueueEstimate } from './estimate.js';
import type { QueueHost } from './host.js';
import { EngineInput } from './input/engine-input.js';
import { jobNamer } from '../jobs/job-names.js';
import { Intake, type Naming } from './input/intake.js';
import type { JobSource, MediaQueue, QueueOptions, QueueResult } from './options.js';
import { QueueResults, type NamedResult } from './driver/results.js';
import { Assignment, isRefusedKey } from './keys/assignment.js';
import { QueueKey } from './keys/queue-key.js';
import { JobReader } from './input/job-reader.js';
import { SourceReader } from './input/source.js';
import { progressOf } from './progress.js';
import type { ReadEntry } from './steps/events.js';

type Control = 'pause' | 'resume' | 'drain';

/** What a queue works with once it has begun. */
interface QueueParts {
  readonly keys: readonly QueueKey[];
  readonly intake: Intake;
  readonly reader: JobReader;
  readonly assignment: Assignment;
}

/**
 * Fills the free slots of one key or several, longest jobs first, and yields what is finished. Jobs are
 * read and named once; an `Assignment` gives them to the keys, and each key's driver submits and waits.
 */
export class JobQueue implements MediaQueue {
  readonly #open: () => Promise<readonly QueueHost[]>;
  readonly #options: QueueOptions;
  readonly #source: SourceReader;
  /** The engine that the jobs are taken from, if it is one. */
  readonly #engine: EngineInput | undefined;
  readonly #results: QueueResults;
  readonly #estimate = new QueueEstimate();
  readonly #early: Control[] = [];
  readonly #naming: Naming;
  #parts: QueueParts | undefined;
  #end: { failure?: { reason: unknown } | undefined } | undefined;
  #failure: { reason: unknown } | undefined;
  #openKeys = 0;
  /** Jobs that were read and have no result. */
  #unfinished = 0;
  /** Do the keys know that nothing more comes? */
  #hasEnded = false;

  constructor(
    input: JobSource | EngineInput,
    options: QueueOptions,
    open: () => Promise<readonly QueueHost[]>,
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
    return [...finished, ...(this.#parts?.keys.flatMap(({ driver }) => driver.running) ?? [])];
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
    await this.#start();
    const stopListening = onAbort(signal, () => {
      this.#stop();
      this.#results.wake.notify();
    });
    try {
      for (;;) {
        signal?.throwIfAborted();
        const next = this.#results.take();
        if (next) {
          next.key?.driver.dispatch({ type: 'taken' });
          this.#read();
          yield* this.#handOut(next);
        } else if (this.#end) {
          break;
        } else {
          await this.#results.wake.wait();
        }
      }
      await this.#flush();
      const failure = this.#end.failure ?? this.#engine?.refusal;
      if (failure) {
        throw failure.reason;
      }
    } finally {
      stopListening();
      this.#source.close();
      this.#stop();
      if (!signal?.aborted) {
        await this.#flush().catch(() => undefined); // reported by then
      }
    }
  }

  // With `save` a file is stored by now; without it, once the next result is asked for.
  async *#handOut({
    result,
    name,
    key,
  }: NamedResult): AsyncGenerator<QueueResult, void, undefined> {
    const { file } = result;
    const isStored = this.#options.save !== undefined || !file;
    if (isStored) {
      await this.#engine?.acknowledge(result);
    }
    yield result;
    if (!isStored) {
      await this.#engine?.acknowledge(result);
      await key?.host.settle(file.fileId, name);
    }
  }

  #control(type: Control): void {
    if (!this.#parts) {
      this.#early.push(type);
      return;
    }
    if (type === 'drain') {
      this.#parts.assignment.clear();
    }
    this.#parts.keys.forEach(({ driver }) => driver.dispatch({ type }));
  }

  async #flush(): Promise<void> {
    await Promise.all(this.#parts?.keys.map(({ host }) => host.flush()) ?? []);
  }

  async #start(): Promise<void> {
    const hosts = await this.#open();
    const intake = new Intake(hosts, this.#naming, this.#options.retryFailed ?? false);
    const isAlone = hosts.length === 1;
    const list = this.#source.size === undefined ? 'stream' : 'list';
    const input = this.#engine ? 'engine' : list;
    const keys = await Promise.all(
      hosts.map(async (host) => {
        const owner = isAlone ? undefined : await host.owner();
        const key: QueueKey = new QueueKey({ host, owner, input }, this.#options, intake.inputs, {
          onResult: (result, name) => this.#onResult(key, result, name),
          onChange: () => this.#onChange(),
          onEnd: (failure) => this.#onKeyEnd(failure),
        });
        return key;
      }),
    );
    const assignment = new Assignment(keys, intake, {
      onFailure: ({ entry }, error) => this.#fail(entry.index, error),
    });
    this.#parts = { keys, intake, assignment, reader: this.#readerOf(keys, intake) };
    this.#openKeys = keys.length;
    if (!isAlone) {
      keys.forEach(({ driver }) => driver.dispatch({ type: 'reading' })); // others may bring it jobs
    }
    for (const type of this.#early) {
      this.#control(type);
    }
    this.#read();
  }

  #readerOf(keys: readonly QueueKey[], intake: Intake): JobReader {
    const [first] = keys as [QueueKey, ...QueueKey[]]; // a queue has a key
    return new JobReader({
      source: this.#source,
      intake,
      clock: first.host.clock,
      isShared: keys.length > 1,
      rules: first.driver.state.rules,
      isStopped: () => first.driver.isStopped,
      onReading: () => keys.forEach(({ driver }) => driver.dispatch({ type: 'reading' })),
      onRead: (entries) => this.#onRead(entries),
      onUnread: (error) => first.driver.dispatch({ type: 'unread', error }),
      onFailure: (failure) => this.#finish(failure),
    });
  }

  #onChange(): void {
    this.#parts?.assignment.assign();
    this.#read();
    this.#report();
  }

  #onResult(key: QueueKey, result: QueueResult, name: string | undefined): void {
    const { keys, intake, assignment } = this.#parts ?? {};
    const entry = key.inHand.get(result.index);
    key.inHand.delete(result.index);
    if (keys && assignment && entry && keys.length > 1 && isRefusedKey(result)) {
      key.driver.dispatch({ type: 'taken' });
      assignment.setAside(key, result.error);
      void this.#bringBack({ entry });
      return;
    }
    if (result.file) {
      this.#learn(key, result.index);
    }
    intake?.forget(result.index);
    this.#results.push({ result, name, key });
    this.#unfinished--;
    this.#endInput();
  }

  // Another key may make it.
  async #bringBack(read: ReadEntry): Promise<void> {
    const { reader } = this.#parts ?? {};
    try {
      this.#bring((await reader?.known([read])) ?? []);
    } catch (reason) {
      this.#finish({ reason });
    }
  }

  /** No key can make this job. */
  #fail(index: number, error: unknown): void {
    const { intake } = this.#parts ?? {};
    const input = intake?.inputs.get(index)?.given;
    intake?.forget(index);
    if (input) {
      const result = { index, input, job: undefined, error };
      this.#results.push({ result, name: undefined, key: undefined });
    }
    this.#unfinished--;
    this.#endInput();
  }

  /** Reads on until enough jobs wait, unless too many results do. */
  #read(): void {
    const { keys = [], reader, assignment } = this.#parts ?? {};
    const isOpen = keys.some(({ driver }) => !driver.isStopped && !driver.state.isDraining);
    const maxResults = keys.reduce((sum, { driver }) => sum + driver.state.rules.maxResults, 0);
    if (reader && assignment && isOpen && this.#results.size < maxResults) {
      const [only, ...others] = keys;
      const isAlone = only !== undefined && others.length === 0;
      reader.read(isAlone ? only.driver.state.waiting.length : assignment.size);
    }
  }

  #onRead(entries: readonly ReadEntry[]): void {
    this.#unfinished += entries.length;
    this.#bring(entries);
    this.#read();
  }

  #bring(entries: readonly ReadEntry[]): void {
    const { keys = [], assignment } = this.#parts ?? {};
    assignment?.add(entries);
    if (assignment?.refusal && keys.length > 1) {
      this.#source.close();
    }
    this.#endInput();
  }

  // A key alone has all jobs by then; of several, one may get the jobs of another until the last is over.
  #endInput(): void {
    const { keys = [] } = this.#parts ?? {};
    const isOver = this.#source.isExhausted && (keys.length === 1 || this.#unfinished === 0);
    if (isOver && !this.#hasEnded) {
      this.#hasEnded = true;
      keys.forEach(({ driver }) => driver.dispatch({ type: 'exhausted' }));
    }
  }

  #onKeyEnd(failure: { reason: unknown } | undefined): void {
    this.#openKeys--;
    this.#failure ??= failure;
    if (this.#openKeys === 0) {
      this.#finish(this.#failure ?? this.#source.failure ?? this.#parts?.assignment.refusal);
    } else if (failure) {
      this.#parts?.assignment.clear();
      this.#source.close();
      this.#unfinished = 0;
      this.#endInput();
    }
  }

  #finish(failure: { reason: unknown } | undefined): void {
    this.#end ??= { failure };
    this.#stop();
    this.#results.wake.notify();
  }

  #stop(): void {
    this.#parts?.keys.forEach(({ driver }) => driver.stop());
  }

  #learn({ host, driver }: QueueKey, index: number): void {
    const running = driver.last(index);
    if (running) {
      this.#estimate.learn(running, host.clock.now());
    }
  }

  #report(): void {
    const { keys = [], intake, assignment } = this.#parts ?? {};
    const [first] = keys;
    const isOpen = keys.some(({ driver }) => !driver.isStopped) || this.#end !== undefined;
    if (first && intake && assignment && isOpen && this.#options.onProgress) {
      const now = first.host.clock.now();
      const facts = { estimate: this.#estimate, unassigned: assignment.size, now };
      const total = this.#source.size ?? (this.#source.isExhausted ? intake.count : undefined);
      this.#results.report({ ...progressOf(keys, facts), total });
    }
  }
}
