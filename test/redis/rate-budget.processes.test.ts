import { Redis } from 'ioredis';
import { redisRateBudget, type RedisClient } from 'postreel/redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rateBudgetContract } from '../support/stores/rate-budget-contract.js';
import { noRedis, startRedis, type RedisServer } from '../support/stores/redis-server.js';

const limits = { limit: 2, windowMs: 300, headroom: 0 };
const leaseMs = 70_000;

if (noRedis !== undefined) {
  console.log(`redisRateBudget is not tested with a server: ${noRedis}.`);
}

describe.skipIf(noRedis)('redisRateBudget()', () => {
  let server: RedisServer;
  let redis: Redis;
  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url);
    redis.on('error', () => undefined); // the server is restarted
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  rateBudgetContract(() => redisRateBudget(redis) as Required<ReturnType<typeof redisRateBudget>>);

  it('uses the time of Redis: a sender whose clock is a day ahead counts like any other', async () => {
    const real = Date.now;
    Date.now = () => real() + 86_400_000;
    try {
      const store = redisRateBudget(redis);
      await store.take('skewed', { ...limits, windowMs: 60_000 }, leaseMs);
    } finally {
      Date.now = real;
    }
    const store = redisRateBudget(redis);
    await store.take('skewed', { ...limits, windowMs: 60_000 }, leaseMs);
    expect(await store.take('skewed', { ...limits, windowMs: 60_000 }, leaseMs)).toEqual({
      waitMs: 60_000,
    });
  });

  it('is closed for one window if Redis has lost the sent requests', async () => {
    const store = redisRateBudget(redis);
    await store.take('lost', limits, leaseMs);
    await store.take('lost', limits, leaseMs);
    await server.restart();
    expect(await store.take('lost', limits, leaseMs)).toEqual({
      waitMs: expect.closeTo(300, -2) as number,
    });
    expect(await redisRateBudget(redis).take('lost', limits, leaseMs)).toHaveProperty('waitMs');
    await new Promise((resolve) => setTimeout(resolve, 330));
    expect(await store.take('lost', limits, leaseMs)).toHaveProperty('slots');
  });

  it('reads numbers even if the client returns them as text', async () => {
    const texts = new Redis(server.url, { stringNumbers: true });
    const store = redisRateBudget(texts);
    const slots = await store.take('texts', limits, leaseMs, 2);
    expect('slots' in slots && slots.slots).toHaveLength(2);
    expect(await store.take('texts', limits, leaseMs)).toEqual({ waitMs: 300 });
    texts.disconnect();
  });

  it('takes one slot if a client repeats the command after a lost answer', async () => {
    const repeating: RedisClient = {
      eval: (text, count, ...args) =>
        redis.eval(text, count, ...args).then(() => redis.eval(text, count, ...args)),
      evalsha: () => Promise.reject(new Error('NOSCRIPT No matching script')),
    };
    const store = redisRateBudget(repeating);
    await store.take('repeated', limits, leaseMs);
    expect(await redis.zcard('postreel:{repeated}:slots')).toBe(1);
  });

  it('leaves no key behind without an expiry', async () => {
    const store = redisRateBudget(redis, { prefix: 'mine' });
    const answer = await store.take('idle', limits, leaseMs);
    await store.release('idle', 'slots' in answer ? (answer.slots[0] ?? '') : '', limits);
    await store.close('idle', 1_000);
    await store.lease?.('idle', 1, 2, leaseMs);
    const keys = await redis.keys('mine:{idle}:*');
    expect(keys.sort()).toEqual(
      ['closed', 'epoch', 'places', 'slots'].map((key) => `mine:{idle}:${key}`),
    );
    for (const key of keys) {
      const ttl = await redis.pttl(key);
      expect(ttl).toBeGreaterThan(0);
      expect(ttl).toBeLessThanOrEqual(leaseMs + limits.windowMs);
    }
  });
});
