import PgBoss from 'pg-boss';
import { pgBossSource, type PgBossClient } from 'postreel/pg-boss';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engineContract } from '../support/stores/engine-contract.js';
import {
  noPostgres,
  startPostgres,
  type PostgresServer,
} from '../support/stores/postgres-server.js';

if (noPostgres !== undefined) {
  console.log(`postreel/pg-boss is not tested with an engine: ${noPostgres}.`);
}

describe.skipIf(noPostgres)('pgBossSource', () => {
  let server: PostgresServer;
  let boss: PgBoss;
  let count = 0;
  beforeAll(async () => {
    server = await startPostgres();
    boss = new PgBoss({ connectionString: server.url, supervise: false, schedule: false });
    boss.on('error', () => undefined);
    await boss.start();
  });
  afterAll(async () => {
    await boss.stop({ graceful: false, wait: true });
    await server.stop();
  });

  engineContract(async () => {
    const queue = `videos-${++count}`;
    await boss.createQueue(queue, { name: queue, retryLimit: 3, expireInSeconds: 3_600 });
    return {
      source: pgBossSource(boss, queue),
      async add(jobs) {
        for (const job of jobs) {
          await boss.send(queue, job);
        }
      },
      unknown: () => boss.fetch(`${queue}-unknown`, { batchSize: 10 }),
      async counts() {
        const waiting = await boss.getQueueSize(queue);
        const all = await boss.getQueueSize(queue, { before: 'failed' });
        return { waiting, completed: all - waiting };
      },
    };
  });
});

describe('pgBossSource without pg-boss', () => {
  it('says what to install', () => {
    expect(() => pgBossSource(undefined as unknown as PgBossClient, 'videos')).toThrow(
      '`pgBossSource()` needs a started `PgBoss`. Install `pg-boss` and pass `await boss.start()`.',
    );
  });
});
