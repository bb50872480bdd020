import { redisRateBudget, type RedisClient } from 'postreel/redis';
import { describe, expect, it } from 'vitest';

describe('redisRateBudget without a client', () => {
  it.each([undefined, null, 'redis://127.0.0.1', {}])('says what to install: %j', (client) => {
    expect(() => redisRateBudget(client as RedisClient)).toThrow(
      '`redisRateBudget()` needs a Redis client. Install `ioredis` and pass `new Redis(url)`.',
    );
  });
});
