import { createHash } from 'node:crypto';
import { isRecord } from '../core/values.js';
import { ConfigurationError, isError } from '../core/errors.js';

/** The part of a Redis client that the stores use. The clients of `ioredis` have it. */
export interface RedisClient {
  /** Runs a script by its SHA-1. */
  evalsha(sha1: string, keyCount: number, ...args: (string | number)[]): Promise<unknown>;
  /** Runs a script by its text. */
  eval(script: string, keyCount: number, ...args: (string | number)[]): Promise<unknown>;
}

/** A Lua script that Redis runs as one atomic step. */
export interface RedisScript {
  readonly text: string;
  readonly sha1: string;
}

/** Creates a script from its text. */
export function createScript(text: string): RedisScript {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}

/** Runs a script by its SHA-1; sends its text only if the server does not have it yet. */
export async function runScript(
  redis: RedisClient,
  { text, sha1 }: RedisScript,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await answerOf(redis.evalsha(sha1, keys.length, ...keys, ...args));
  } catch (error) {
    if (!(isError(error) && error.message.startsWith('NOSCRIPT'))) {
      throw error;
    }
    return redis.eval(text, keys.length, ...keys, ...args);
  }
}

/** Throws for an unsupported client when the store is created, before the first call needs it. */
export function checkClient(redis: unknown, where: string): void {
  const isObject = isRecord(redis);
  const isForeign = isObject && foreignMethods.some((name) => typeof redis[name] === 'function');
  if (!isObject || isForeign || typeof redis['evalsha'] !== 'function') {
    throw clientMissing(`\`${where}()\``, isForeign);
  }
}

// Methods of clients whose `evalsha` takes or returns something else: node-redis and Upstash.
const foreignMethods = ['evalSha', 'createScript'];

// Older versions of node-redis take a callback and return nothing.
function answerOf(answer: Promise<unknown>): Promise<unknown> {
  if (!isRecord(answer) || typeof answer['then'] !== 'function') {
    throw clientMissing('A store of `postreel/redis`', true);
  }
  return answer;
}

function clientMissing(owner: string, isForeign: boolean): ConfigurationError {
  const refusal = isForeign ? ' A client of another package does not fit.' : '';
  return new ConfigurationError(
    `${owner} needs a Redis client. Install \`ioredis\` and pass \`new Redis(url)\`.${refusal}`,
    { code: 'REDIS_MISSING' },
  );
}
