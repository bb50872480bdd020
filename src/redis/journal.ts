import { readOptions, text } from '../core/options.js';
import { keyOf, storedKey, storedValue, valueOf } from '../journal/stored-text.js';
import type { JournalStore } from '../journal/store.js';
import { checkClient, run, script, type RedisClient, type Script } from './client.js';

/** How a journal in Redis is kept. */
export interface RedisJournalOptions {
  /**
   * What the names of its keys begin with; another one is another journal. Without it a client needs a
   * `rateLimit.group`, since several projects may use one Redis.
   * @default 'postreel'
   */
  prefix?: string | undefined;
}

const owner = { name: '`redisJournal()`', example: "{ prefix: 'shop' }" };

/**
 * A journal in Redis, for `new MediaClient({ journal })`, shared by any number of machines. A journal is
 * as safe as its Redis: turn on `appendonly` with `appendfsync always` and
 * `maxmemory-policy noeviction`, or use Postgres.
 *
 * @param redis - A client of `ioredis`, which stays yours to close. Redis 5 or newer.
 */
export function redisJournal(redis: RedisClient, options?: RedisJournalOptions): JournalStore {
  checkClient(redis, 'redisJournal');
  const { prefix } = readOptions(options, { prefix: text }, owner);
  const base = `{${prefix ?? 'postreel'}:journal}`;
  const call = (one: Script, args: readonly (string | number)[]) =>
    run(redis, one, [`${base}:values`, `${base}:keys`], args);
  return {
    needsGroup: prefix === undefined ? 'give `redisJournal()` a `prefix`' : undefined,
    async putIfAbsent(key, value) {
      return valueOf(String(await call(scripts.putIfAbsent, [storedKey(key), storedValue(value)])));
    },
    async put(key, value) {
      await call(scripts.put, [storedKey(key), storedValue(value)]);
    },
    async get(keys) {
      const found = new Map<string, string>();
      if (keys.length > 0) {
        const values = (await call(scripts.get, keys.map(storedKey))) as (string | null)[]; // as it answers
        for (const [index, key] of keys.entries()) {
          const value = values[index];
          if (typeof value === 'string') {
            found.set(key, valueOf(value));
          }
        }
      }
      return found;
    },
    async list(begin, { after, limit = -1 } = {}) {
      const from = storedKey(begin);
      const isBehind = after !== undefined && after >= begin;
      const args = [isBehind ? `(${storedKey(after)}` : `[${from}`, `(${from}\x7f`, limit];
      const flat = (await call(scripts.list, args)) as string[]; // keys and values in turn
      return flat.flatMap((key, index) =>
        index % 2 === 0 ? [{ key: keyOf(key), value: valueOf(flat[index + 1] ?? '') }] : [],
      );
    },
    async delete(keys) {
      if (keys.length > 0) {
        await call(scripts.remove, keys.map(storedKey));
      }
    },
    flush: () => Promise.resolve(), // what was answered is written
    async now() {
      return Number(await call(scripts.now, []));
    },
  };
}

// KEYS of every script: values, keys. ARGV of the first two: key, value.
const scripts = {
  putIfAbsent: script(`
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 1 then redis.call('ZADD', KEYS[2], 0, ARGV[1]) end
return redis.call('HGET', KEYS[1], ARGV[1])`),
  put: script(`
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], 0, ARGV[1])`),
  get: script(`
local found = {}
for index, key in ipairs(ARGV) do found[index] = redis.call('HGET', KEYS[1], key) end
return found`),
  // ARGV: from, to, how many.
  list: script(`
local items = {}
for _, key in ipairs(redis.call('ZRANGEBYLEX', KEYS[2], ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])) do
  items[#items + 1] = key
  items[#items + 1] = redis.call('HGET', KEYS[1], key)
end
return items`),
  remove: script(`
for _, key in ipairs(ARGV) do
  redis.call('HDEL', KEYS[1], key)
  redis.call('ZREM', KEYS[2], key)
end`),
  now: script(`
local time = redis.call('TIME')
return string.format('%d', time[1] * 1000 + math.floor(time[2] / 1000))`),
};
