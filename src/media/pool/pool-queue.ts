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
import { Dealer, type DealtJob } from './job-distributor.js';

// So that a call is filled at once when slots come free, and the other keys find something too.
const inHandPerSlot = 1.5;

/** One key of the pool with its own queue. */
interface Lane {
  readonly queue: MediaQueue;
  /** Its jobs, by their place in its own queue. */
  readonly dealt: Map<number, DealtJob>;
  /** Rings when it may take another job. */
  readonly room: Notifier;
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
  readonly #dealer: Dealer;
  readonly #results: Waiting[] = [];
  readonly #news = new Notifier();
  readonly #projects: string[] = [];
  /** Which key has a name of this run: a name that comes twice is refused there. */
  readonly #owners = new Map<string, number>();
  /** Ends the queues of all keys at once. */
  readonly #stop = new AbortController();
  #lanes: Lane[] = [];
  #refusal: unknown;
  #failure: { readonly reason: unknown } | undefined;
  #running = 0;

  constructor(contexts: readonly MediaContext[], jobs: JobSource, options: PoolQueueOptions) {
    const { name, key } = options;
    const namer = name === undefined ? undefined : jobNamer(key);
    this.#contexts = contexts;
    this.#options = options;
    this.#dealer = new Dealer(jobs, contexts.length, {
      nameOf: (job) => namer?.(job),
      earlierOwners: (names) => this.#earlierOwners(names),
      ownerOf: (own) => this.#owners.get(own),
      give: (own, key) => this.#owners.set(own, key),
      onOwnerMissing: (dealt) => this.#failWith(dealt, ownerMissing()),
    });
  }

  get running(): readonly GenerationJob[] {
    return this.#lanes.flatMap(({ queue }) => queue.running);
  }

  pause(): void {
    this.#lanes.forEach(({ queue }) => queue.pause());
  }

  resume(): void {
    this.#lanes.forEach(({ queue }) => queue.resume());
  }

  drain(): void {
    this.#stopDealing();
    this.#lanes.forEach(({ queue }) => queue.drain());
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<QueueResult, void, undefined> {
    const { signal } = this.#options;
    for (const context of this.#contexts) {
      this.#projects.push(await context.owner());
    }
    this.#lanes = this.#contexts.map((context, key) => this.#open(context, key));
    this.#running = this.#lanes.length;
    this.#lanes.forEach((lane) => void this.#run(lane));
    const stopListening = onAbort(signal, () => this.#news.notify());
    try {
      while (this.#running > 0 || this.#results.length > 0) {
        signal?.throwIfAborted();
        const next = this.#results.shift();
        if (next) {
          yield next.result;
          next.onTaken(); // not when the caller leaves: then the journal lists the file
        } else {
          await this.#news.wait();
        }
      }
      const failure = this.#failure ?? this.#dealer.failure;
      if (failure) {
        throw failure.reason;
      }
    } finally {
      stopListening();
      this.drain();
      this.#stop.abort();
    }
  }

  #open(context: MediaContext, key: number): Lane {
    const { name, save, onUpdate } = this.#options;
    const dealt = new Map<number, DealtJob>();
    const names = new WeakMap<MediaJob, string>();
    const room = new Notifier();
    const place = (index: number) => dealt.get(index)?.index ?? index;
    const options: QueueOptions = {
      ...this.#options,
      signal: this.#stop.signal,
      save: save && ((file, saved) => save(file, { ...saved, index: place(saved.index) })),
      onUpdate: onUpdate && ((update) => onUpdate({ ...update, index: place(update.index) })),
    };
    const jobs = this.#jobs(key, { dealt, names, room });
    const naming = { queue: name, jobOf: (job: MediaJob) => names.get(job) ?? '', mayRecur: false };
    const queue = new JobQueue(jobs, options, () => queueHost(context, name !== undefined), naming);
    return { queue, dealt, room, isRefused: false };
  }

  async *#jobs(
    key: number,
    { dealt, names, room }: { names: WeakMap<MediaJob, string> } & Pick<Lane, 'dealt' | 'room'>,
  ): AsyncGenerator<MediaJob, void, undefined> {
    const limit = this.#contexts[key]?.pendingLimit ?? 1;
    const most = Math.ceil(inHandPerSlot * Math.min(limit, this.#options.concurrency ?? limit));
    const isWanted = () => this.#lanes[key]?.isRefused !== true;
    for (let index = 0; ; index++) {
      while (dealt.size >= most && isWanted() && !this.#dealer.isOver) {
        await room.wait();
      }
      const next = await this.#dealer.next(key, isWanted);
      if (next === undefined) {
        return;
      }
      dealt.set(index, next);
      const job = { ...next.job }; // an object of its own: it carries a name
      names.set(job, next.name ?? '');
      yield job;
    }
  }

  async #run(lane: Lane): Promise<void> {
    try {
      for await (const result of lane.queue) {
        await this.#hear(lane, result);
      }
    } catch (reason) {
      this.#failure ??= { reason };
      this.#stopDealing();
    }
    this.#running--;
    if (this.#lanes.every(({ isRefused }) => isRefused)) {
      this.#failRest();
    }
    this.#news.notify();
  }

  /** Resolves when the caller is done with the result: only then is its file acknowledged. */
  async #hear(lane: Lane, result: QueueResult): Promise<void> {
    const dealt = lane.dealt.get(result.index);
    lane.dealt.delete(result.index);
    lane.room.notify();
    if (dealt === undefined) {
      return;
    }
    if (isRefusedKey(result)) {
      this.#setAside(lane, dealt, result.error);
      return;
    }
    this.#dealer.end();
    if (this.#dealer.isOver) {
      this.#stopDealing();
    }
    await new Promise<void>((onTaken) => {
      const own = { ...result, index: dealt.index, input: dealt.job };
      this.#results.push({ result: own, onTaken });
      this.#news.notify();
    });
  }

  #setAside(lane: Lane, dealt: DealtJob, refusal: unknown): void {
    lane.isRefused = true;
    lane.queue.drain();
    this.#refusal = refusal;
    this.#owners.delete(dealt.name ?? '');
    this.#dealer.giveBack(dealt);
  }

  // With no key left the rest cannot be made.
  #failRest(): void {
    for (let dealt = this.#dealer.takeReturned(); dealt; dealt = this.#dealer.takeReturned()) {
      this.#failWith(dealt, this.#refusal);
    }
    this.#failure ??= { reason: this.#refusal };
    this.#stopDealing();
  }

  #failWith({ index, job: input }: DealtJob, error: unknown): void {
    const result = { index, input, job: undefined, error };
    this.#results.push({ result, onTaken: () => undefined });
    this.#news.notify();
  }

  #stopDealing(): void {
    this.#dealer.stop();
    this.#lanes.forEach(({ room }) => room.notify());
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
