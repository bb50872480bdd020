import { Queue } from 'bullmq';
import { bullmqSource, type BullmqSource } from 'postreel/bullmq';
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { engineContract, readOrThrow } from '../support/stores/engine-contract.js';
import { noRedis, startRedis, type RedisServer } from '../support/stores/redis-server.js';

if (noRedis !== undefined) {
  console.log(`postreel/bullmq is not tested with an engine: ${noRedis}.`);
}

describe.skipIf(noRedis)('bullmqSource', () => {
  let server: RedisServer;
  const parties: (Queue | BullmqSource)[] = [];
  let count = 0;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterEach(async () => {
    await Promise.all(parties.splice(0).map((party) => party.close()));
  });
  afterAll(() => server.stop());

  engineContract(async () => {
    const name = `videos-${++count}`;
    const connection = { port: server.port, host: '127.0.0.1' };
    const queue = new Queue(name, { connection });
    const unknown = new Queue(`${name}-unknown`, { connection });
    const source = await bullmqSource(name, { connection, jobOf: readOrThrow });
    parties.push(queue, unknown, source);
    return {
      source,
      async add(jobs) {
        await queue.addBulk(jobs.map((data) => ({ name: 'speech', data, opts: { attempts: 3 } })));
      },
      unknown: () => unknown.getJobs(),
      async counts() {
        const { waiting = 0, completed = 0 } = await queue.getJobCounts('waiting', 'completed');
        return { waiting, completed };
      },
    };
  });
});
