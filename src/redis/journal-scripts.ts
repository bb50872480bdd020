import { script } from './client.js';

// KEYS of every script: intents, left, facts, claims, names, jobs, status, listed, open, named.
// `left` has the places of an intent's jobs that have no id yet; `claims` the open intents of a
// name, the last one last; `named` the files that names lead to, which are kept for good.
const common = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local intents, left, facts, claims, names = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local jobs, status, listed, open, named = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local function list(text)
  local items = {}
  for item in string.gmatch(text or '', '[^\\n]+') do items[#items + 1] = item end
  return items
end
local function fact(id)
  return cjson.decode(redis.call('HGET', facts, id) or '{"names":[],"retries":false,"at":0}')
end
local function last(name)
  local ids = list(redis.call('HGET', claims, name))
  return ids[#ids]
end
local function unclaim(name, id)
  local ids = {}
  for _, other in ipairs(list(redis.call('HGET', claims, name))) do
    if other ~= id then ids[#ids + 1] = other end
  end
  if #ids == 0 then redis.call('HDEL', claims, name)
  else redis.call('HSET', claims, name, table.concat(ids, '\\n')) end
end
local function nextPlace(key)
  local top = redis.call('ZREVRANGE', key, 0, 0, 'WITHSCORES')
  return (tonumber(top[2]) or 0) + 1
end
local function forget(id)
  for _, name in ipairs(fact(id).names) do unclaim(name, id) end
  redis.call('HDEL', intents, id)
  redis.call('HDEL', left, id)
  redis.call('HDEL', facts, id)
  redis.call('ZREM', open, id)
end`;

const know = `
local function known(name)
  local file, claim = redis.call('HGET', names, name), last(name)
  if file and not (claim and fact(claim).retries) then
    return { name, 'accepted', redis.call('HGET', jobs, file), redis.call('HGET', status, file) or '' }
  end
  if claim then return { name, 'claimed', claim, now - fact(claim).at } end
end`;

const writeIntent = `
local function write(id, raw, own, retries, count)
  local places = {}
  for place = 1, count do places[place] = place end
  redis.call('HSET', intents, id, raw)
  redis.call('HSET', left, id, table.concat(places, '\\n'))
  redis.call('HSET', facts, id, '{"names":' .. own .. ',"retries":' .. retries .. ',"at":' .. string.format('%d', now) .. '}')
  redis.call('ZADD', open, 'NX', nextPlace(open), id)
  for _, name in ipairs(cjson.decode(own)) do
    unclaim(name, id)
    local ids = list(redis.call('HGET', claims, name))
    ids[#ids + 1] = id
    redis.call('HSET', claims, name, table.concat(ids, '\\n'))
  end
end`;

/** What is known of names. ARGV: names. */
export const find = script(`${common}${know}
local found = {}
for _, name in ipairs(ARGV) do found[#found + 1] = known(name) end
return found`);

/** Writes an intent. ARGV: id, its text, its names as JSON, whether it retries, how many jobs. */
export const intent = script(`${common}${writeIntent}
write(ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]))`);

/** Writes an intent unless a name is taken; answers those. ARGV: as above. */
export const claim = script(`${common}${know}${writeIntent}
local taken = {}
for _, name in ipairs(cjson.decode(ARGV[3])) do
  local one = known(name)
  local isFailure = one and (one[4] == 'error' or one[4] == 'canceled')
  local isFree = ARGV[4] == 'true' and one and one[2] == 'accepted' and isFailure
  if one and not isFree then taken[#taken + 1] = one end
end
if #taken == 0 then write(ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])) end
return taken`);

/** The answer to an intent. ARGV: id, how many in order, then a file id and a text for each. */
export const accept = script(`${common}
local id, count = ARGV[1], tonumber(ARGV[2])
for index = 3, #ARGV, 2 do
  local file = ARGV[index]
  if file ~= '' then
    redis.call('HSET', jobs, file, ARGV[index + 1])
    redis.call('HDEL', status, file)
    redis.call('ZADD', listed, 'NX', nextPlace(listed), file)
  end
end
if redis.call('HEXISTS', intents, id) == 1 then
  local own, rest = fact(id).names, {}
  for index, place in ipairs(list(redis.call('HGET', left, id))) do
    local file = index <= count and ARGV[1 + 2 * index] or ''
    local name = own[tonumber(place)]
    if file == '' then
      rest[#rest + 1] = place
    elseif name then
      redis.call('HSET', names, name, file)
      redis.call('HSET', named, file, 1)
      unclaim(name, id)
    end
  end
  if #rest == 0 then forget(id) else redis.call('HSET', left, id, table.concat(rest, '\\n')) end
end`);

/** The call of an intent did nothing. ARGV: id. */
export const refuse = script(`${common}
forget(ARGV[1])`);

/** A file has come to its end. ARGV: file id, status, 1 when it is over. */
export const finish = script(`${common}
local file, isOver = ARGV[1], ARGV[3] == '1'
if redis.call('HEXISTS', jobs, file) == 0 then return end
local before = redis.call('HGET', status, file)
if before ~= 'error' and before ~= 'canceled' then redis.call('HSET', status, file, ARGV[2]) end
if isOver then
  redis.call('ZREM', listed, file)
  if redis.call('HEXISTS', named, file) == 0 then
    redis.call('HDEL', jobs, file)
    redis.call('HDEL', status, file)
  end
end`);

/** What is not over. Answers jobs with their status, and intents with what is left of them. */
export const pending = script(`${common}
local files, calls = {}, {}
for _, file in ipairs(redis.call('ZRANGE', listed, 0, -1)) do
  files[#files + 1] = { redis.call('HGET', jobs, file), redis.call('HGET', status, file) or '' }
end
for _, id in ipairs(redis.call('ZRANGE', open, 0, -1)) do
  calls[#calls + 1] = { redis.call('HGET', intents, id), redis.call('HGET', left, id) }
end
return { files, calls }`);
