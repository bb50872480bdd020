import { redisJournal, redisRateBudget, type RedisClient } from 'postreel/redis';
import { describe, expect, it } from 'vitest';

const install = 'Install `ioredis` and pass `new Redis(url)`.';
const evalsha = () => Promise.resolve(null);

describe('redisRateBudget() without a client', () => {
  it.each([undefined, null, 'redis://127.0.0.1', {}])(
    'says which package to install: %j',
    (client) => {
      expect(() => redisRateBudget(client as RedisClient)).toThrow(
        '`redisRateBudget()` needs a Redis client. Install `ioredis` and pass `new Redis(url)`.',
      );
    },
  );
});

describe('postreel/redis with a client of another package', () => {
  it.each([
    ['node-redis', { evalSha: evalsha, eval: evalsha }],
    ['node-redis in its legacy mode', { evalsha, evalSha: evalsha, eval: evalsha }],
    ['Upstash', { evalsha, eval: evalsha, createScript: () => ({}) }],
    ['Postgres', { query: evalsha }],
  ])('rejects the client of %s when the store is created', (_, client) => {
    const redis = client as unknown as RedisClient;
    expect(() => redisJournal(redis)).toThrow(install);
    expect(() => redisRateBudget(redis)).toThrow(install);
  });

  it('names the client it needs at the first call if it could not detect the package earlier', async () => {
    const callbacks = { evalsha: () => true, eval: () => true } as unknown as RedisClient;
    await expect(redisJournal(callbacks).get('a')).rejects.toMatchObject({
      code: 'REDIS_MISSING',
      message: expect.stringContaining(install) as string,
    });
  });
});
