import { script } from './client.js';

// Every time is the server's own, so the clocks of the senders do not matter.
const now = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

// Nothing lasts longer than it could at most: the server's clock may have been set back.
const expire = `
local function expire(key, longest)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', key, '(' .. (now + longest), '+inf')) do
    redis.call('ZADD', key, now + longest, id)
  end
end`;

const keep = `
local function keep(key, ms)
  if redis.call('PTTL', key) < ms then redis.call('PEXPIRE', key, ms) end
end`;

/**
 * Takes a slot. A sorted set holds until when each slot is taken. The epoch tells whether the
 * server has lost its memory since this sender last asked: what was sent before is forgotten then,
 * so nobody sends for one window.
 *
 * KEYS: slots, closed, epoch. ARGV: id, capacity, window, lease, epoch as known, epoch if none, how
 * long an epoch is kept.
 * Answers: 1 or 0, wait, epoch.
 */
export const take = script(`${now}${expire}${keep}
local slots, closed, epoch = KEYS[1], KEYS[2], KEYS[3]
local id, capacity, window, lease = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local known, current = ARGV[5], redis.call('GET', epoch)
if not current then
  current = ARGV[6]
  redis.call('SET', epoch, current)
end
keep(epoch, tonumber(ARGV[7]))
if known ~= '' and known ~= current and redis.call('PTTL', closed) < window then
  redis.call('SET', closed, 1, 'PX', window)
end
local shut = redis.call('PTTL', closed)
if shut > 0 then return { 0, shut, current } end
expire(slots, lease)
if redis.call('ZSCORE', slots, id) then return { 1, 0, current } end
if redis.call('ZCARD', slots) >= capacity then
  local first = redis.call('ZRANGE', slots, 0, 0, 'WITHSCORES')
  return { 0, math.max(1, math.min(first[2] - now, window)), current }
end
redis.call('ZADD', slots, now + lease, id)
keep(slots, lease)
return { 1, 0, current }`);

/** Keeps slots for so long from now. KEYS: slots. ARGV: how long, ids. */
export const keepSlots = script(`${now}${keep}
for index = 2, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[index]) end
keep(KEYS[1], tonumber(ARGV[1]))`);

/** Lets nobody send for so long. KEYS: closed. ARGV: delay. */
export const close = script(`
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], 1, 'PX', ARGV[1])
end`);

/** Takes places. KEYS: places. ARGV: limit, lease, names. Answers the names that got one. */
export const lease = script(`${now}${expire}${keep}
local limit, lease, taken = tonumber(ARGV[1]), tonumber(ARGV[2]), {}
expire(KEYS[1], lease)
for index = 3, #ARGV do
  if redis.call('ZCARD', KEYS[1]) >= limit then break end
  redis.call('ZADD', KEYS[1], now + lease, ARGV[index])
  taken[#taken + 1] = ARGV[index]
end
keep(KEYS[1], lease)
return taken`);

/** Keeps places under their names. KEYS: places. ARGV: lease, how many names, names, instead. */
export const hold = script(`${now}${keep}
local lease, names = tonumber(ARGV[1]), tonumber(ARGV[2])
for index = 3, #ARGV do
  if index < 3 + names then
    redis.call('ZADD', KEYS[1], now + lease, ARGV[index])
  else
    redis.call('ZREM', KEYS[1], ARGV[index])
  end
end
keep(KEYS[1], lease)`);

/** Gives slots or places back. KEYS: slots or places. ARGV: names. */
export const free = script(`
for _, name in ipairs(ARGV) do redis.call('ZREM', KEYS[1], name) end`);
