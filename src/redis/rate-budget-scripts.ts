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
 * Takes slots. A sorted set holds until when each slot is taken. The epoch tells whether the server has
 * lost its memory since this sender last asked: what was sent before is forgotten then, so nothing is
 * sent for one window. While the budget is closed, one slot a window is a probe: `closed` holds when
 * it was closed or last tried.
 *
 * KEYS: slots, closed, epoch. ARGV: capacity, window, lease, epoch as known, epoch if none, how long an
 * epoch is kept, ids of slots.
 * Answers: how many of the ids were taken, wait, is it a probe, epoch.
 */
export const take = script(`${now}${expire}${keep}
local slots, closed, epoch = KEYS[1], KEYS[2], KEYS[3]
local capacity, window, lease = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local known, current = ARGV[4], redis.call('GET', epoch)
if not current then
  current = ARGV[5]
  redis.call('SET', epoch, current)
end
keep(epoch, tonumber(ARGV[6]))
if known ~= '' and known ~= current and redis.call('PTTL', closed) < window then
  redis.call('SET', closed, now, 'PX', window)
end
local wait, last = redis.call('PTTL', closed), #ARGV
local isProbe = wait > 0
if isProbe then
  local tried = now - tonumber(redis.call('GET', closed))
  if tried >= 0 and tried < window then return { 0, wait, 0, current } end
  last = 7
end
expire(slots, lease)
local taken = 0
for index = 7, last do
  local id = ARGV[index]
  if not redis.call('ZSCORE', slots, id) then
    if redis.call('ZCARD', slots) >= capacity then break end
    redis.call('ZADD', slots, now + lease, id)
  end
  taken = taken + 1
end
if taken == 0 then
  local first = redis.call('ZRANGE', slots, 0, 0, 'WITHSCORES')
  return { 0, math.max(1, math.min(first[2] - now, window)), 0, current }
end
if isProbe then redis.call('SET', closed, now, 'PX', wait) end
keep(slots, lease)
return { taken, 0, isProbe and 1 or 0, current }`);

/** Keeps slots for so long from now. KEYS: slots. ARGV: how long, ids. */
export const keepSlots = script(`${now}${keep}
for index = 2, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[index]) end
keep(KEYS[1], tonumber(ARGV[1]))`);

/** Closes the budget for so long. KEYS: closed. ARGV: delay. */
export const close = script(`${now}
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then
  redis.call('SET', KEYS[1], now, 'PX', ARGV[1])
end`);

/** Opens the budget again. KEYS: closed. */
export const reopen = script(`redis.call('DEL', KEYS[1])`);

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
