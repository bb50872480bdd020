import { Redis } from 'ioredis';
import { redisJournal } from 'postreel/redis';
import { testJournal } from 'postreel/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noRedis, startRedis, type RedisServer } from '../support/stores/redis-server.js';

if (noRedis !== undefined) {
  console.log(`redisJournal is not tested with a server: ${noRedis}.`);
}

describe.skipIf(noRedis)('redisJournal()', () => {
  let server: RedisServer;
  let redis: Redis;
  beforeAll(async () => {
    server = await startRedis({ keeps: true });
    redis = new Redis(server.url);
    redis.on('error', () => undefined); // the server is restarted
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  it('satisfies the contract of a journal', () =>
    testJournal(() => redisJournal(redis, { prefix: 'tested' }), { runs: 5 }));

  it('keeps its entries if its server is killed', async () => {
    const journal = redisJournal(redis, { prefix: 'killed' });
    await journal.swap('a', undefined, '1');
    await server.restart();
    expect(await journal.get('a')).toMatchObject({ value: '1' });
  });
});
