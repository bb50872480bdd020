import { Notifier } from '../../async/notifier.js';
import { onAbort } from '../../async/abort.js';
import { isPostreelError, PostreelError } from '../../errors/index.js';
import type { MediaContext } from '../context.js';
import type { MediaJob } from '../generate/media-job.js';
import type { GenerationJob } from '../jobs/job.js';
import { jobNamer } from '../jobs/job-names.js';
import { queueHost } from '../queue/host.js';
import type {
  JobSource,
  MediaQueue,
  PoolQueueOptions,
  QueueOptions,
  QueueResult,
} from '../queue/options.js';
import { JobQueue } from '../queue/queue.js';
import { JobDistributor, type AssignedJob } from './job-distributor.js';

// So that a call is filled at once when slots come free, and the other keys find something too.
const inHandPerSlot = 1.5;

/** One key of the pool with its own queue. */
interface KeyQueue {
  readonly queue: MediaQueue;
  /** Its jobs, by their place in its own queue. */
  readonly assigned: Map<number, AssignedJob>;
  /** Rings when it may take another job. */
  readonly capacityFreed: Notifier;
  isRefused: boolean;
}

/** A result, and how to say that the caller is done with it. */
interface Waiting {
  readonly result: QueueResult;
  readonly onTaken: () => void;
}

/** One queue over several keys: each has a queue of its own, and all take from one input. */
export class PoolQueue implements MediaQueue {
  readonly #contexts: readonly MediaContext[];
  readonly #options: PoolQueueOptions;
  readonly #distributor: JobDistributor;
  readonly #results: Waiting[] = [];
  readonly #wakeups = new Notifier();
  readonly #projects: string[] = [];
  /** Which key has a name of this run: a name that comes twice is refused there. */
  readonly #owners = new Map<string, number>();
  /** Ends the queues of all keys at once. */
  readonly #stop = new AbortController();
  #keyQueues: KeyQueue[] = [];
  #refusal: unknown;
  #failure: { readonly reason: unknown } | undefined;
  #running = 0;

  constructor(contexts: readonly MediaContext[], jobs: JobSource, options: PoolQueueOptions) {
    const { name, key } = options;
    const namer = name === undefined ? undefined : jobNamer(key);
    this.#contexts = contexts;
    this.#options = options;
    this.#distributor = new JobDistributor(jobs, contexts.length, {
      nameOf: (job) => namer?.(job),
      earlierOwners: (names) => this.#earlierOwners(names),
      ownerOf: (own) => this.#owners.get(own),
      give: (own, key) => this.#owners.set(own, key),
      onOwnerMissing: (assigned) => this.#failWith(assigned, ownerMissing()),
    });
  }

  get running(): readonly GenerationJob[] {
    return this.#keyQueues.flatMap(({ queue }) => queue.running);
  }

  pause(): void {
    this.#keyQueues.forEach(({ queue }) => queue.pause());
  }

  resume(): void {
    this.#keyQueues.forEach(({ queue }) => queue.resume());
  }

  drain(): void {
    this.#stopAssigning();
    this.#keyQueues.forEach(({ queue }) => queue.drain());
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<QueueResult, void, undefined> {
    const { signal } = this.#options;
    for (const context of this.#contexts) {
      this.#projects.push(await context.owner());
    }
    this.#keyQueues = this.#contexts.map((context, key) => this.#open(context, key));
    this.#running = this.#keyQueues.length;
    this.#keyQueues.forEach((keyQueue) => void this.#run(keyQueue));
    const stopListening = onAbort(signal, () => this.#wakeups.notify());
    try {
      while (this.#running > 0 || this.#results.length > 0) {
        signal?.throwIfAborted();
        const next = this.#results.shift();
        if (next) {
          yield next.result;
          next.onTaken(); // not when the caller leaves: then the journal lists the file
        } else {
          await this.#wakeups.wait();
        }
      }
      const failure = this.#failure ?? this.#distributor.failure;
      if (failure) {
        throw failure.reason;
      }
    } finally {
      stopListening();
      this.drain();
      this.#stop.abort();
    }
  }

  #open(context: MediaContext, key: number): KeyQueue {
    const { name, save, onUpdate } = this.#options;
    const assigned = new Map<number, AssignedJob>();
    const names = new WeakMap<MediaJob, string>();
    const capacityFreed = new Notifier();
    const place = (index: number) => assigned.get(index)?.index ?? index;
    const options: QueueOptions = {
      ...this.#options,
      signal: this.#stop.signal,
      save: save && ((file, saved) => save(file, { ...saved, index: place(saved.index) })),
      onUpdate: onUpdate && ((update) => onUpdate({ ...update, index: place(update.index) })),
    };
    const jobs = this.#jobs(key, { assigned, names, capacityFreed });
    const naming = { queue: name, jobOf: (job: MediaJob) => names.get(job) ?? '', mayRecur: false };
    const queue = new JobQueue(jobs, options, () => queueHost(context, name !== undefined), naming);
    return { queue, assigned, capacityFreed, isRefused: false };
  }

  async *#jobs(
    key: number,
    {
      assigned,
      names,
      capacityFreed,
    }: { names: WeakMap<MediaJob, string> } & Pick<KeyQueue, 'assigned' | 'capacityFreed'>,
  ): AsyncGenerator<MediaJob, void, undefined> {
    const limit = this.#contexts[key]?.pendingLimit ?? 1;
    const most = Math.ceil(inHandPerSlot * Math.min(limit, this.#options.concurrency ?? limit));
    const isWanted = () => this.#keyQueues[key]?.isRefused !== true;
    for (let index = 0; ; index++) {
      while (assigned.size >= most && isWanted() && !this.#distributor.isOver) {
        await capacityFreed.wait();
      }
      const next = await this.#distributor.next(key, isWanted);
      if (next === undefined) {
        return;
      }
      assigned.set(index, next);
      const job = { ...next.job }; // an object of its own: it carries a name
      names.set(job, next.name ?? '');
      yield job;
    }
  }

  async #run(keyQueue: KeyQueue): Promise<void> {
    try {
      for await (const result of keyQueue.queue) {
        await this.#onResult(keyQueue, result);
      }
    } catch (reason) {
      this.#failure ??= { reason };
      this.#stopAssigning();
    }
    this.#running--;
    if (this.#keyQueues.every(({ isRefused }) => isRefused)) {
      this.#failRest();
    }
    this.#wakeups.notify();
  }

  /** Resolves when the caller is done with the result: only then is its file acknowledged. */
  async #onResult(keyQueue: KeyQueue, result: QueueResult): Promise<void> {
    const assigned = keyQueue.assigned.get(result.index);
    keyQueue.assigned.delete(result.index);
    keyQueue.capacityFreed.notify();
    if (assigned === undefined) {
      return;
    }
    if (isRefusedKey(result)) {
      this.#disableKey(keyQueue, assigned, result.error);
      return;
    }
    this.#distributor.end();
    if (this.#distributor.isOver) {
      this.#stopAssigning();
    }
    await new Promise<void>((onTaken) => {
      const own = { ...result, index: assigned.index, input: assigned.job };
      this.#results.push({ result: own, onTaken });
      this.#wakeups.notify();
    });
  }

  #disableKey(keyQueue: KeyQueue, assigned: AssignedJob, refusal: unknown): void {
    keyQueue.isRefused = true;
    keyQueue.queue.drain();
    this.#refusal = refusal;
    this.#owners.delete(assigned.name ?? '');
    this.#distributor.requeue(assigned);
  }

  // With no key left the rest cannot be made.
  #failRest(): void {
    for (
      let assigned = this.#distributor.takeReturned();
      assigned;
      assigned = this.#distributor.takeReturned()
    ) {
      this.#failWith(assigned, this.#refusal);
    }
    this.#failure ??= { reason: this.#refusal };
    this.#stopAssigning();
  }

  #failWith({ index, job: input }: AssignedJob, error: unknown): void {
    const result = { index, input, job: undefined, error };
    this.#results.push({ result, onTaken: () => undefined });
    this.#wakeups.notify();
  }

  #stopAssigning(): void {
    this.#distributor.stop();
    this.#keyQueues.forEach(({ capacityFreed }) => capacityFreed.notify());
  }

  /** Which keys an earlier run gave jobs to; `undefined` for one that is not in the pool. */
  async #earlierOwners(names: readonly string[]): Promise<Map<string, number | undefined>> {
    const owners = new Map<string, number | undefined>();
    const queue = this.#options.name ?? '';
    const retriesFailed = this.#options.retryFailed ?? false;
    for (const { journal } of this.#contexts) {
      const full = new Map(names.map((name) => [journal?.nameOf(queue, name) ?? name, name]));
      const known = await journal?.find([...full.keys()], retriesFailed);
      for (const [fullName, job] of known ?? []) {
        const name = full.get(fullName) ?? '';
        if (job.state === 'accepted' && owners.get(name) === undefined) {
          const owner = this.#projects.indexOf(job.owner ?? '');
          owners.set(name, owner < 0 ? undefined : owner);
        }
      }
    }
    return owners;
  }
}

function isRefusedKey({ job, error }: QueueResult): boolean {
  const isOurs = !job && isPostreelError(error);
  return isOurs && (error.status === 401 || error.name === 'ConfigurationError');
}

function ownerMissing(): PostreelError {
  return new PostreelError(
    'This job was submitted with a key that is not in the pool. Add it, or give the clients of its project a `rateLimit.group`.',
    { code: 'OWNER_MISSING' },
  );
}
