import type { AcknowledgingSource, MediaJob, SourceItem } from 'postreel';
import type { Random } from './random.js';
import type { VirtualTime } from './time.js';

interface Item {
  readonly id: string;
  readonly job: MediaJob;
  state: 'waiting' | 'active' | 'done' | 'failed' | 'unknown';
  lockedUntil: number;
  failures: number;
  /** With what it ended. */
  fileId?: string;
  outcome?: string | undefined;
}

const lockMs = 120_000;
const maxFailures = 3;

/**
 * A job engine on virtual time. It hands jobs out again when their lock ends, sometimes to the worker
 * that has them, loses calls, and has payloads that cannot be read.
 */
export class ModelEngine {
  readonly items: readonly Item[];
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #poison: ReadonlySet<string>;

  constructor(jobs: readonly MediaJob[], time: VirtualTime, random: Random) {
    this.items = jobs.map((job, index) => ({
      id: String(index + 1),
      job,
      state: 'waiting' as const,
      lockedUntil: 0,
      failures: 0,
    }));
    this.#time = time;
    this.#random = random;
    this.#poison = new Set(random.chance(0.3) ? [String(random.whole(1, jobs.length))] : []);
  }

  isPoison(item: Item): boolean {
    return this.#poison.has(item.id);
  }

  /** The source of one process; a dead one is not heard of again. */
  source(
    isDead: () => boolean,
    onSign: () => void,
    onFail: (job: MediaJob, outcome: string | undefined) => void,
  ): AcknowledgingSource {
    const call = async <T>(task: () => T): Promise<T> => {
      await this.#time.sleep(this.#random.next() * 50);
      if (isDead()) {
        return new Promise<never>(() => undefined);
      }
      onSign();
      if (this.#random.chance(0.02)) {
        throw new Error('the engine restarts');
      }
      return task();
    };
    return {
      name: 'model/engine',
      take: (count) => call(() => this.#take(count)),
      done: ({ id }, { fileId }) => call(() => this.#end(id, { state: 'done', fileId })),
      fail: ({ id, job, problem }, _, { outcome }) => {
        if (problem === undefined) {
          onFail(job, outcome);
        }
        return call(() => this.#fail(id, outcome));
      },
      release: ({ id }) => call(() => this.#release(id)),
      extend: ({ id }) => call(() => this.#extend(id)),
    };
  }

  #take(count: number): SourceItem[] | undefined {
    const now = this.#time.now();
    if (this.items.every(({ state }) => state !== 'waiting' && state !== 'active')) {
      return undefined;
    }
    const free = this.items.filter(({ state, lockedUntil }) => {
      const isLost = state === 'active' && (lockedUntil <= now || this.#random.chance(0.01));
      return state === 'waiting' || isLost;
    });
    return free.slice(0, count).map((item) => {
      item.state = 'active';
      item.lockedUntil = now + lockMs;
      const problem = this.isPoison(item) ? new Error('no JSON') : undefined;
      return { id: item.id, job: item.job, problem };
    });
  }

  #held(id: string): Item {
    const item = this.items.find((one) => one.id === id);
    if (item?.state !== 'active') {
      throw new Error('Missing lock');
    }
    return item;
  }

  #end(id: string, end: Pick<Item, 'state' | 'fileId' | 'outcome'>): void {
    Object.assign(this.#held(id), end);
  }

  #fail(id: string, outcome: string | undefined): void {
    const item = this.#held(id);
    item.failures++;
    if (outcome === 'unknown') {
      this.#end(id, { state: 'unknown' });
    } else if (item.failures >= maxFailures) {
      this.#end(id, { state: 'failed', outcome });
    } else {
      item.state = 'waiting';
    }
  }

  #release(id: string): void {
    this.#held(id).state = 'waiting';
  }

  #extend(id: string): void {
    this.#held(id).lockedUntil = this.#time.now() + lockMs;
  }
}
