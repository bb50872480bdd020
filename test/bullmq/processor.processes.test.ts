import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { bullmqProcessor } from 'postreel/bullmq';
import { redisJournal } from 'postreel/redis';
import { afterAll, beforeAll, describe } from 'vitest';
import { realEngineContract, type RealQueue } from '../support/stores/real-engine-contract.js';
import { noRedis, startRedis, type RedisServer } from '../support/stores/redis-server.js';

if (noRedis !== undefined) {
  console.log(`postreel/bullmq is not tested with an engine: ${noRedis}.`);
}

describe.skipIf(noRedis)('bullmqProcessor() on a real Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await server.stop();
  });

  function open(name: string): RealQueue {
    const connection = { url: server.url };
    const queue = new Queue(name, { connection });
    const workers: Worker[] = [];
    return {
      name,
      add: (jobs, attempts) =>
        queue.addBulk(jobs.map((data) => ({ name: 'speech', data, opts: { attempts } }))),
      async work(media, options) {
        const worker = new Worker(name, bullmqProcessor(media, options), {
          connection,
          concurrency: 2,
          lockDuration: 1_000,
          stalledInterval: 500,
        });
        workers.push(worker);
        await worker.waitUntilReady();
        return () => worker.close();
      },
      async counts() {
        const counts = await queue.getJobCounts('waiting', 'delayed', 'completed', 'failed');
        const { waiting = 0, delayed = 0, completed = 0, failed = 0 } = counts;
        return { waiting: waiting + delayed, completed, failed };
      },
      makeAllDue: () => queue.promoteJobs(),
      close: () => Promise.all([queue.close(), ...workers.map((worker) => worker.close(true))]),
    };
  }

  realEngineContract(
    () => ({
      name: 'bullmq',
      store: server.url,
      journal: (prefix) => redisJournal(redis, { prefix }),
      open: (name) => Promise.resolve(open(name)),
    }),
    { triesOfStop: 0 },
  );
});
