import { Redis } from 'ioredis';
import { redisJournal } from 'postreel/redis';
import { testJournal } from 'postreel/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectToCommute, histories } from '../support/laws/entries.js';
import fc, { runs } from '../support/property.js';
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

  it('is a journal', () =>
    testJournal(() => redisJournal(redis, { prefix: 'tested' }), { runs: 5 }));

  // test/journal/entries-commute.test.ts has the stores that need no server.
  it.each([false, true])(
    'takes the entries of a history in any order (at once: %s)',
    async (isAtOnce) => {
      let entries = 0;
      let count = 0;
      await fc.assert(
        fc.asyncProperty(histories, async (history) => {
          const prefix = `law 6 ${isAtOnce} ${count++}`;
          entries += await expectToCommute(
            history,
            () => redisJournal(redis, { prefix }),
            isAtOnce,
          );
        }),
        { numRuns: runs(10) },
      );
      console.log(`law 6: ${entries} entries of ${count} histories`);
    },
  );

  it('keeps any text, and lists keys by their code units', async () => {
    const journal = redisJournal(redis, { prefix: 'texts' });
    const texts = ['\u0000', '\ud83d', '😀', '\uffff', '~', 'é', 'z', '\u0001', '%', "'"];
    for (const text of texts) {
      await journal.put(text, text);
    }
    expect(await journal.list('')).toEqual([...texts].sort().map((key) => ({ key, value: key })));
  });

  it('is as it was after its server was killed', async () => {
    const journal = redisJournal(redis, { prefix: 'killed' });
    await journal.putIfAbsent('a', '1');
    await server.restart();
    expect(await journal.get(['a'])).toEqual(new Map([['a', '1']]));
  });
});
