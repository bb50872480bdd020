import { randomUUID } from 'node:crypto';
import { monotonicMs } from '../core/async.js';
import { readOptions, text } from '../core/options.js';
import {
  capacityOf,
  maxCloseMs,
  type BudgetLimits,
  type RateBudgetStore,
  type StoreAnswer,
} from '../core/rate-store.js';
import { storedNumber } from '../core/values.js';
import { checkClient, run, type RedisClient, type Script } from './client.js';
import * as scripts from './rate-budget-scripts.js';

/** How a budget in Redis is stored. */
export interface RedisBudgetOptions {
  /**
   * What the names of its keys begin with.
   * @default 'postreel'
   */
  prefix?: string | undefined;
}

/**
 * A rate budget and the pending slots in Redis, shared by any number of machines. All times are
 * Redis's own. The slots of a process that dies come free a window and a few seconds later. When Redis
 * does not answer, each process keeps to the limit by itself, with a `warning`; when it has lost its
 * memory, nothing is sent for one window.
 *
 * @param redis - A client of `ioredis`, which stays yours to close. Redis 5 or newer.
 */
export function redisRateBudget(redis: RedisClient, options?: RedisBudgetOptions): RateBudgetStore {
  checkClient(redis, 'redisRateBudget');
  const { prefix = 'postreel' } = readOptions(
    options,
    { prefix: text },
    {
      name: '`redisRateBudget()`',
      example: "{ prefix: 'shop' }",
    },
  );
  return new RedisRateBudget(redis, prefix).store();
}

// How much longer than two windows an idle project is remembered.
const idleMs = 60_000;

/** The memory of the server as a process last saw it. */
interface Seen {
  readonly epoch: string;
  /** Redis would certainly still know the epoch until then. */
  readonly until: number;
}

class RedisRateBudget {
  readonly #redis: RedisClient;
  readonly #prefix: string;
  readonly #seen = new Map<string, Seen>();

  constructor(redis: RedisClient, prefix: string) {
    this.#redis = redis;
    this.#prefix = prefix;
  }

  store(): RateBudgetStore {
    return {
      take: (...asked) => this.take(...asked),
      release: (group, slot, { windowMs }) => this.keep(group, [slot], windowMs),
      cancel: (group, slot) => this.#free(group, 'slots', [slot]),
      renew: (...asked) => this.keep(...asked),
      close: (...asked) => this.close(...asked),
      reopen: (group) => this.reopen(group),
      lease: (...asked) => this.lease(...asked),
      hold: (...asked) => this.hold(...asked),
      giveBack: (group, places) => this.#free(group, 'places', places),
    };
  }

  // The slots are named here: a client that repeats the command after a lost answer takes them once.
  async take(
    group: string,
    limits: BudgetLimits,
    leaseMs: number,
    count = 1,
  ): Promise<StoreAnswer> {
    const slots = Array.from({ length: count }, () => randomUUID());
    const windowMs = Math.ceil(limits.windowMs);
    const args = [capacityOf(limits), windowMs, Math.ceil(leaseMs)];
    const seen = this.#seen.get(group);
    const isFresh = seen !== undefined && monotonicMs() < seen.until;
    const epochs = [isFresh ? seen.epoch : '', randomUUID(), 2 * windowMs + idleMs];
    const keys = ['slots', 'closed', 'epoch'];
    const answer = await this.#run(scripts.take, group, keys, [...args, ...epochs, ...slots]);
    const { taken, waitMs, isProbe, epoch } = readTaken(answer);
    this.#seen.set(group, { epoch, until: monotonicMs() + windowMs + idleMs / 2 });
    return taken > 0 ? { slots: slots.slice(0, taken), isProbe } : { waitMs };
  }

  async keep(group: string, slots: readonly string[], forMs: number): Promise<void> {
    await this.#run(scripts.keepSlots, group, ['slots'], [Math.ceil(forMs), ...slots]);
  }

  async close(group: string, delayMs: number): Promise<void> {
    const forMs = Math.ceil(Math.min(delayMs, maxCloseMs));
    if (forMs > 0) {
      await this.#run(scripts.close, group, ['closed'], [forMs]);
    }
  }

  async reopen(group: string): Promise<void> {
    await this.#run(scripts.reopen, group, ['closed'], []);
  }

  async lease(
    group: string,
    count: number,
    limit: number,
    leaseMs: number,
  ): Promise<readonly string[]> {
    const names = Array.from({ length: count }, () => randomUUID());
    const args = [limit, Math.ceil(leaseMs), ...names];
    return listIn(await this.#run(scripts.lease, group, ['places'], args)).map(String);
  }

  async hold(
    group: string,
    names: readonly string[],
    leaseMs: number,
    instead: readonly string[],
  ): Promise<void> {
    const args = [Math.ceil(leaseMs), names.length, ...names, ...instead];
    await this.#run(scripts.hold, group, ['places'], args);
  }

  async #free(group: string, key: string, names: readonly string[]): Promise<void> {
    await this.#run(scripts.free, group, [key], names);
  }

  // The braces keep the keys of a project on one node of a cluster.
  #run(
    script: Script,
    group: string,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    const names = keys.map((key) => `${this.#prefix}:{${group}}:${key}`);
    return run(this.#redis, script, names, args);
  }
}

function readTaken(answer: unknown) {
  const [taken, waitMs, probe, epoch] = listIn(answer);
  if (typeof epoch !== 'string') {
    throw new Error('it answered no epoch');
  }
  const isProbe = storedNumber(probe) === 1;
  return { taken: storedNumber(taken), waitMs: storedNumber(waitMs), isProbe, epoch };
}

function listIn(answer: unknown): readonly unknown[] {
  if (Array.isArray(answer)) {
    return answer;
  }
  throw new Error(`it answered something else where a list belongs: ${typeof answer}`);
}
