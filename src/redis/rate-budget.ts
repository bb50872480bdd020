import { randomUUID } from 'node:crypto';
import { monotonicMs } from '../core/async.js';
import { readOptions, text } from '../core/options.js';
import { capacityOf, maxCloseMs, type RateBudgetStore } from '../core/limit/rate-store.js';
import { checkClient, runScript, createScript, type RedisClient } from './client.js';

/** Options of {@link redisRateBudget}. */
export interface RedisBudgetOptions {
  /** The prefix of the budget's keys. @default 'postreel' */
  prefix?: string | undefined;
}

const owner = { name: '`redisRateBudget()`', example: "{ prefix: 'shop' }" };

/**
 * A rate budget and the pending slots in Redis, shared by any number of machines. All times come from the
 * Redis server. The slots of a process that dies become free a window and ten seconds later. If Redis does
 * not respond, each process keeps to the limit by itself, with a `warning`; if Redis has lost its data,
 * nothing is sent for one window.
 *
 * @param redis - A client of `ioredis`; you close it yourself. Redis 5 or newer.
 */
export function redisRateBudget(redis: RedisClient, options?: RedisBudgetOptions): RateBudgetStore {
  checkClient(redis, 'redisRateBudget');
  const { prefix = 'postreel' } = readOptions(options, { prefix: text }, owner);
  const epochs = new Map<string, KnownEpoch>();
  // The braces (a hash tag) keep the keys of a project on one node of a cluster.
  const keyOf = (group: string, name: string) => `${prefix}:{${group}}:${name}`;

  const hold = async (
    key: string,
    names: readonly string[],
    forMs: number,
    instead: readonly string[],
  ) => {
    await runScript(
      redis,
      scripts.hold,
      [key],
      [Math.ceil(forMs), names.length, ...names, ...instead],
    );
  };
  return {
    async take(group, limits, leaseMs, count = 1) {
      const slots = createNames(count);
      const windowMs = Math.ceil(limits.windowMs);
      const known = epochs.get(group);
      const isFresh = known !== undefined && monotonicMs() - known.seenAt < windowMs;
      const keys = [keyOf(group, 'slots'), keyOf(group, 'closed'), keyOf(group, 'epoch')];
      const epoch = [isFresh ? known.epoch : '', randomUUID()];
      const args = [capacityOf(limits), Math.ceil(leaseMs), windowMs, ...epoch, ...slots];
      const answer = await runScript(redis, scripts.take, keys, args);
      // as: the script's result; a client may return numbers as strings
      const [taken, waitMs, current] = answer as [number | string, number | string, string];
      epochs.set(group, { epoch: current, seenAt: monotonicMs() });
      const names = slots.slice(0, Number(taken));
      return names.length > 0 ? { slots: names } : { waitMs: Number(waitMs) };
    },
    release: (group, slot, { windowMs }) => hold(keyOf(group, 'slots'), [slot], windowMs, []),
    cancel: (group, slot) => hold(keyOf(group, 'slots'), [], 0, [slot]),
    async close(group, delayMs) {
      const forMs = Math.ceil(Math.min(delayMs, maxCloseMs));
      if (forMs > 0) {
        await runScript(redis, scripts.close, [keyOf(group, 'closed')], [forMs]);
      }
    },
    async lease(group, count, limit, leaseMs) {
      const names = createNames(count);
      const args = [limit, Math.ceil(leaseMs), ...names];
      const taken = await runScript(redis, scripts.lease, [keyOf(group, 'places')], args);
      return names.slice(0, Number(taken));
    },
    hold: (group, names, leaseMs, instead) => hold(keyOf(group, 'places'), names, leaseMs, instead),
    giveBack: (group, places) => hold(keyOf(group, 'places'), [], 0, places),
  };
}

/** The epoch of the server's data, as this process last saw it. */
interface KnownEpoch {
  readonly epoch: string;
  readonly seenAt: number;
}

// Creates the names of leases here, so that a client that repeats a command after a lost response takes them
// once.
function createNames(count: number): string[] {
  return Array.from({ length: count }, () => randomUUID());
}

// Slots and places are sorted sets: names, each with the time at which it expires. All times come from the
// server, so the clocks of the senders do not matter.
const now = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function keep(key, ms)
  if redis.call('PTTL', key) < ms then redis.call('PEXPIRE', key, ms) end
end`;

// Takes up to `most` of the names, beginning with that argument; returns the number of taken ones.
const lease = `${now}
local function lease(key, most, ms, first)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  local taken = 0
  for index = first, #ARGV do
    local name = ARGV[index]
    if redis.call('ZCARD', key) >= most and not redis.call('ZSCORE', key, name) then break end
    redis.call('ZADD', key, now + ms, name)
    taken = taken + 1
  end
  keep(key, ms)
  return taken
end`;

const scripts = {
  // KEYS: slots, closed, epoch. ARGV: capacity, lease, window, the known epoch, a new one if there is none,
  // slots. Returns the number of taken slots, or the time to wait, and the epoch. If the epoch differs from
  // the known one, the server has lost the requests that were sent: then nothing is sent for one window.
  take: createScript(`${lease}
local slots, closed, epoch = KEYS[1], KEYS[2], KEYS[3]
local capacity, ms, window = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local known, current = ARGV[4], redis.call('GET', epoch) or ARGV[5]
redis.call('SET', epoch, current, 'PX', ms + window)
if known ~= '' and known ~= current and redis.call('PTTL', closed) < window then
  redis.call('SET', closed, 1, 'PX', window)
end
local wait = redis.call('PTTL', closed)
if wait > 0 then return { 0, wait, current } end
local taken = lease(slots, capacity, ms, 6)
if taken > 0 then return { taken, 0, current } end
local first = redis.call('ZRANGE', slots, 0, 0, 'WITHSCORES')
return { 0, math.max(1, math.min(first[2] - now, window)), current }`),

  // KEYS: places. ARGV: their total number, lease, names. Returns the number of taken places.
  lease: createScript(`${lease}
return lease(KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), 3)`),

  // KEYS: slots or places. ARGV: the duration, the number of names, the names, and the names to release for
  // them.
  hold: createScript(`${now}
for index = 3, #ARGV do
  if index < 3 + ARGV[2] then
    redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[index])
  else
    redis.call('ZREM', KEYS[1], ARGV[index])
  end
end
keep(KEYS[1], tonumber(ARGV[1]))`),

  // KEYS: closed. ARGV: the duration.
  close: createScript(`
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], 1, 'PX', ARGV[1]) end`),
};
