import PgBoss from 'pg-boss';
import { pgBossSource, type PgBossClient } from 'postreel/pg-boss';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { engineContract, readOrThrow, speech } from '../support/stores/engine-contract.js';
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
      source: pgBossSource(boss, queue, { jobOf: readOrThrow }),
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

describe('pgBossSource while its database restarts', () => {
  it('makes the second queue when it is needed again', async () => {
    const told: string[] = [];
    let isDown = true;
    const boss: PgBossClient = {
      fetch: () => Promise.resolve([]),
      complete: (queue, id) => Promise.resolve(told.push(`${queue} ${id} completed`)),
      fail: () => Promise.resolve(),
      createQueue: () => (isDown ? Promise.reject(new Error('down')) : Promise.resolve()),
      send: (queue, _, { id }) => Promise.resolve(told.push(`${queue} ${id} sent`)),
    };
    const source = pgBossSource(boss, 'videos');
    const item = { id: 'one', job: speech('One.') };
    const setAside = () => source.fail(item, new Error('lost'), { outcome: 'unknown' });
    await expect(setAside()).rejects.toThrow('down');
    isDown = false;
    await setAside();
    expect(told).toEqual(['videos-unknown one sent', 'videos one completed']);
  });
});

describe('pgBossSource without pg-boss', () => {
  it('says what to install', () => {
    expect(() => pgBossSource(undefined as unknown as PgBossClient, 'videos')).toThrow(
      '`pgBossSource()` needs a started `PgBoss` of version 10 or later. Install `pg-boss` and pass `await boss.start()`.',
    );
  });
});
