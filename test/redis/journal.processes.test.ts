import { Redis } from 'ioredis';
import type { JobJournal } from 'postreel';
import { redisJournal } from 'postreel/redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { journalContract } from '../support/stores/journal-contract.js';
import { noRedis, startRedis, type RedisServer } from '../support/stores/redis-server.js';

if (noRedis !== undefined) {
  console.log(`redisJournal is not tested with a server: ${noRedis}.`);
}

describe.skipIf(noRedis)('redisJournal', () => {
  let server: RedisServer;
  let redis: Redis;
  beforeAll(async () => {
    server = await startRedis({ keeps: true });
    redis = new Redis(server.url);
    redis.on('error', () => undefined); // it is restarted
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  journalContract((name): JobJournal => redisJournal(redis, { prefix: name }));

  it('is as it was after its server was killed', async () => {
    const journal = redisJournal(redis, { prefix: 'killed' });
    const job = { fileId: 'file_1', kind: 'video' as const };
    const at = new Date().toISOString();
    await journal.claim({ type: 'intent', id: 'call_1', at, jobs: [], names: ['queue/1'] });
    await journal.append({ type: 'accepted', id: 'call_1', jobs: [job] });
    await server.restart();
    expect(await journal.find(['queue/1'])).toEqual(
      new Map([['queue/1', { state: 'accepted', job, status: undefined }]]),
    );
  });
});
