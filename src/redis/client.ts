import { createHash } from 'node:crypto';
import { isRecord } from '../core/values.js';
import { ConfigurationError, isError } from '../core/errors.js';

/** What is used of a Redis client. Those of `ioredis` have it. */
export interface RedisClient {
  /** Runs a script by its SHA-1. */
  evalsha(sha1: string, keyCount: number, ...args: (string | number)[]): Promise<unknown>;
  /** Runs a script by its text. */
  eval(script: string, keyCount: number, ...args: (string | number)[]): Promise<unknown>;
}

/** A Lua script that Redis runs as one atomic step. */
export interface Script {
  readonly text: string;
  readonly sha1: string;
}

/** A script by its text. */
export function script(text: string): Script {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}

/** Runs scripts; each one's text travels once, then its name will do. */
export async function run(
  redis: RedisClient,
  { text, sha1 }: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await redis.evalsha(sha1, keys.length, ...keys, ...args);
  } catch (error) {
    if (!(isError(error) && error.message.startsWith('NOSCRIPT'))) {
      throw error;
    }
    return redis.eval(text, keys.length, ...keys, ...args);
  }
}

/** Refuses what is no Redis client, before the first call needs one. */
export function checkClient(redis: unknown, where: string): void {
  // Functions of a class lie on its prototype, so only their presence can be asked for.
  if (isRecord(redis) && typeof redis['evalsha'] === 'function') {
    return;
  }
  throw new ConfigurationError(
    `\`${where}()\` needs a Redis client. Install \`ioredis\` and pass \`new Redis(url)\`.`,
    { code: 'REDIS_MISSING' },
  );
}
