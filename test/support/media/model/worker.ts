import { isPostreelError, MediaClient, type JournalStore, type MediaJob } from 'postreel';
import type { Network } from './network.js';
import type { Random } from './random.js';
import { never, type Asker, type ModelStore } from './store.js';
import type { VirtualTime } from './time.js';

/** One thing to be made. */
export interface Item {
  /** The text of the job, which is also its key. No other job has it. */
  readonly text: string;
  readonly job: MediaJob;
  /** How it is made: by the named queue, by a call with `once`, or by one without. */
  readonly way: 'queue' | 'once' | 'plain';
}

/** How an item ended in one run. */
export interface End {
  readonly item: Item;
  readonly worker: Worker;
  readonly fileId: string | undefined;
  /** When its run began, and when it ended. */
  readonly since: number;
  readonly at: number;
  /** Why it has no file. */
  readonly error: unknown;
}

/** The jobs that the programs of a world request. */
export interface Wishes {
  readonly sendsUnknown: boolean;
  readonly retriesFailed: boolean;
  readonly isKeyedByContent: boolean;
  readonly saves: boolean;
  readonly pendingLimit: number;
  readonly timeoutMs: number;
  readonly abortChance: number;
}

/** The environment of a worker. */
export interface Surroundings {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly network: Network;
  readonly store: ModelStore;
  readonly wishes: Wishes;
  readonly items: readonly Item[];
  readonly ends: End[];
  /** A worker may die at any of these moments. */
  moment(worker: Worker): void;
  report(violation: string): void;
  /** Stands between a client and its store. */
  wrap(store: JournalStore): JournalStore;
  /** Stands between a client and the answer to its request. */
  carry(answer: Promise<Response>): Promise<Response>;
}

const minuteMs = 60_000;
let keys = 0;
const abortReason = new Error('the caller has no more time');

/** One process: a client with a clock, a `fetch` and a store that all end with it. */
export class Worker implements Asker {
  isDead = false;
  diedAt = Number.POSITIVE_INFINITY;
  readonly media: MediaClient;
  /** Items that its present run is about. */
  readonly open = new Set<string>();
  readonly died: Promise<void>;
  readonly #parts: Surroundings;
  readonly #number: number;
  /** When its present run began. */
  #since = 0;
  #onDeath: () => void = () => undefined;

  constructor(parts: Surroundings, number: number) {
    const { time, random, network, store, wishes } = parts;
    this.#parts = parts;
    this.#number = number;
    this.died = new Promise((resolve) => {
      this.#onDeath = resolve;
    });
    const skewMs = (random.next() - 0.5) * 10 * minuteMs;
    const alive = (task: () => void) => () => (this.isDead ? undefined : task());
    const clock = {
      now: () => time.now() + skewMs,
      at: (at: number, task: () => void) => time.at(at - skewMs, alive(task)),
      limit: (delayMs: number, task: () => void) => time.after(delayMs, alive(task)),
    };
    const fetch = (url: string, init: RequestInit) => parts.carry(network.carry(this, url, init));
    this.media = new MediaClient({
      apiKey: `key_${++keys}`, // what a process knows of limits and slots, it knows by its key
      baseUrl: 'https://media.model',
      fetch: Object.defineProperty(fetch, Symbol.for('postreel.clock'), {
        value: clock,
      }) as typeof globalThis.fetch, // our core passes texts
      journal: parts.wrap(store.of(this)),
      rateLimit: { pending: wishes.pendingLimit },
      timeout: wishes.timeoutMs,
      validation: { requests: 'off', responses: 'off' }, // takes time, and is tested elsewhere
    });
    this.media.on('warning', () => undefined);
  }

  moment(): void {
    if (!this.isDead) {
      this.#parts.moment(this);
    }
  }

  /** From now on nothing of it is heard of. */
  kill(): void {
    if (!this.isDead) {
      this.isDead = true;
      this.diedAt = this.#parts.time.now();
      this.#onDeath();
    }
  }

  /** Makes everything that there is to make, once or twice. */
  async work(isLast: boolean): Promise<void> {
    const { random, time } = this.#parts;
    if (random.chance(0.3)) {
      await this.media.journal.pending().catch(() => undefined); // of interest to a person
    }
    const runs = !isLast && random.chance(0.3) ? 2 : 1;
    for (let run = 0; run < runs; run++) {
      if (run > 0) {
        await time.sleep(random.next() * 5 * minuteMs);
        await (this.isDead ? never() : undefined);
      }
      await this.#run(isLast, this.#number === 0 && run === 0);
    }
  }

  async #run(isLast: boolean, isFirst: boolean): Promise<void> {
    const { items, random, time } = this.#parts;
    this.#since = time.now();
    const ofWay = (way: Item['way']) => random.shuffled(items.filter((item) => item.way === way));
    const queued = ofWay('queue').slice(0, isLast || random.chance(0.8) ? undefined : 2);
    const singles = [...ofWay('once'), ...(isFirst ? ofWay('plain') : [])];
    [...queued, ...singles].forEach(({ text }) => this.open.add(text));
    await Promise.all([
      queued.length > 0 ? this.#queue(queued, isLast) : undefined,
      ...singles.map((item) => this.#single(item, isLast)),
    ]);
    this.open.clear();
  }

  #signal(isLast: boolean): AbortSignal | undefined {
    const { random, time, wishes } = this.#parts;
    if (isLast || !random.chance(wishes.abortChance)) {
      return undefined;
    }
    const controller = new AbortController();
    time.after(random.next() * minuteMs, () => this.isDead || controller.abort(abortReason));
    return controller.signal;
  }

  async #queue(items: readonly Item[], isLast: boolean): Promise<void> {
    const { wishes, random, time } = this.#parts;
    const report = (violation: string) => this.#parts.report(violation);
    const signal = this.#signal(isLast);
    const isLeft = !isLast && random.chance(0.05);
    const jobs = items.map(({ job }) => job);
    const queue = this.media.queue(jobs, {
      name: 'films',
      key: wishes.isKeyedByContent ? undefined : textOf,
      unknown: wishes.sendsUnknown ? 'send' : 'list',
      retryFailed: wishes.retriesFailed,
      save: wishes.saves ? () => time.sleep(random.next() * 3_000) : undefined,
      signal,
    });
    const seen = new Set<number>();
    try {
      for await (const { index, input, job, file, error } of queue) {
        if (seen.has(index) || input !== jobs[index]) {
          report(`the queue yields ${index} twice, or with another job`);
        }
        seen.add(index);
        this.#end(items[index]!, job?.fileId, file ? undefined : error);
        if (isLeft) {
          return;
        }
      }
      if (seen.size !== items.length) {
        report(`the queue yields ${seen.size} of ${items.length} jobs`);
      }
    } catch (failure) {
      const isStopped = failure === signal?.reason || hasCode(failure, 'OUTCOME_UNKNOWN');
      if (isLast || !(isStopped || hasCode(failure, 'JOURNAL_UNAVAILABLE'))) {
        report(`the queue fails: ${String(failure)}`);
      }
    }
  }

  async #single(item: Item, isLast: boolean): Promise<void> {
    const { wishes, random } = this.#parts;
    const { job, text, way } = item;
    const signal = this.#signal(isLast);
    const deadline = isLast || random.chance(0.9) ? undefined : random.whole(1, 120) * 1_000;
    const options = {
      ...(way === 'once' && { once: text, retryFailed: wishes.retriesFailed }),
      ...(way === 'once' && wishes.sendsUnknown && { retry: { unknownOutcome: true } }),
      signal,
      deadline,
    };
    let fileId: string | undefined;
    try {
      const made = await ('workflowType' in job
        ? this.media.generate.video(job, options)
        : this.media.generate.audio(job, options));
      fileId = made.fileId;
      await made.waitForFile({ signal });
      this.#end(item, fileId, undefined);
    } catch (failure) {
      this.#end(item, fileId, failure);
    }
  }

  #end(item: Item, fileId: string | undefined, error: unknown): void {
    this.open.delete(item.text);
    const at = this.#parts.time.now();
    this.#parts.ends.push({ item, worker: this, fileId, error, since: this.#since, at });
  }
}

/** Loads what a client loads with its first call: files are not read in virtual time. */
export async function loadAll(): Promise<void> {
  const fetch = () => Promise.resolve(new Response('{"fileId":"file_0"}'));
  const options = {
    apiKey: 'none',
    baseUrl: 'https://loaded.model',
    fetch,
    rateLimit: false,
  } as const;
  const media = new MediaClient(options);
  await media.generate.audio({ content: 'Cats', voiceId: 'voice_1' });
  for await (const { index } of media.queue([])) {
    throw new Error(`no job is at ${index}`);
  }
}

/** Returns the text of a job. */
export function textOf(job: MediaJob): string {
  return ('workflowType' in job ? job.prompt : job.content) ?? '';
}

/** Has an error this code? */
export function hasCode(failure: unknown, code: string): boolean {
  return isPostreelError(failure) && failure.code === code;
}
