import { readOptions, text } from '../core/options.js';
import type { JournalItem, JournalStore } from '../core/once/journal.js';
import {
  checkClient,
  runScript,
  createScript,
  type RedisClient,
  type RedisScript,
} from './client.js';

/** Options of {@link redisJournal}. */
export interface RedisJournalOptions {
  /**
   * The prefix of the journal's keys; each prefix is a separate journal. Without it a client needs a
   * `rateLimit.group`, since several projects may use one Redis. @default 'postreel'
   */
  prefix?: string | undefined;
}

const owner = { name: '`redisJournal()`', example: "{ prefix: 'shop' }" };

/**
 * A journal in Redis, for `new MediaClient({ journal })`, shared by any number of machines. A journal is as
 * safe as its Redis: turn on `appendonly` with `appendfsync always` and `maxmemory-policy noeviction`, or use
 * Postgres.
 *
 * @param redis - A client of `ioredis`; you close it yourself. Redis 5 or newer.
 */
export function redisJournal(redis: RedisClient, options?: RedisJournalOptions): JournalStore {
  checkClient(redis, 'redisJournal');
  const { prefix } = readOptions(options, { prefix: text }, owner);
  const base = `{${prefix ?? 'postreel'}:journal}`;
  const runJournalScript = (one: RedisScript, args: readonly (string | number)[]) =>
    runScript(redis, one, [`${base}:values`, `${base}:keys`], args);
  return {
    needsGroup: prefix === undefined ? 'give `redisJournal()` a `prefix`' : undefined,
    async swap(key, from, to) {
      // A leading letter distinguishes a value from no value.
      const encodeValue = (value: string | undefined) => (value === undefined ? '-' : `+${value}`);
      const current = await runJournalScript(scripts.swap, [
        key,
        encodeValue(from),
        encodeValue(to),
      ]);
      return typeof current === 'string' ? current : undefined;
    },
    async get(key) {
      const found = (await runJournalScript(scripts.get, [key])) as [string, string] | []; // as: the script's result
      const [value, ageMs] = found;
      return value === undefined ? undefined : { key, value, ageMs: Number(ageMs) };
    },
    async list(prefix, { after, limit = -1 } = {}) {
      const isBehind = after !== undefined && after >= prefix;
      const args = [isBehind ? `(${after}` : `[${prefix}`, `(${prefix}\x7f`, limit];
      const flat = (await runJournalScript(scripts.list, args)) as string[]; // keys, values and ages alternate
      const items: JournalItem[] = [];
      for (let place = 0; place < flat.length; place += 3) {
        const [key = '', value = '', ageMs = ''] = flat.slice(place, place + 3);
        items.push({ key, value, ageMs: Number(ageMs) });
      }
      return items;
    },
  };
}

// KEYS of every script: values, keys. A value is stored after the time of its write: `<ms> <value>`.
const now = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function split(text)
  local at, value = string.match(text, '^(%d+) (.*)$')
  return value, string.format('%d', math.max(0, now - at))
end`;
const scripts = {
  // ARGV: key, the expected value, the new value.
  swap: createScript(`${now}
local text = redis.call('HGET', KEYS[1], ARGV[1])
local stands = text and split(text)
local from = string.sub(ARGV[2], 1, 1) == '+' and string.sub(ARGV[2], 2) or false
if (stands or false) == from then
  if string.sub(ARGV[3], 1, 1) == '+' then
    stands = string.sub(ARGV[3], 2)
    redis.call('HSET', KEYS[1], ARGV[1], string.format('%d', now) .. ' ' .. stands)
    redis.call('ZADD', KEYS[2], 0, ARGV[1])
  else
    stands = false
    redis.call('HDEL', KEYS[1], ARGV[1])
    redis.call('ZREM', KEYS[2], ARGV[1])
  end
end
return stands`),
  get: createScript(`${now}
local text = redis.call('HGET', KEYS[1], ARGV[1])
if not text then return {} end
return { split(text) }`),
  // ARGV: from, to, the maximum number.
  list: createScript(`${now}
local items = {}
for _, key in ipairs(redis.call('ZRANGEBYLEX', KEYS[2], ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])) do
  local value, age = split(redis.call('HGET', KEYS[1], key))
  items[#items + 1] = key
  items[#items + 1] = value
  items[#items + 1] = age
end
return items`),
};
