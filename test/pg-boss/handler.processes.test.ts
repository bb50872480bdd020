import { Pool } from 'pg';
import PgBoss from 'pg-boss';
import { pgBossHandler } from 'postreel/pg-boss';
import { migratePostgres, postgresJournal } from 'postreel/postgres';
import { afterAll, beforeAll, describe } from 'vitest';
import {
  noPostgres,
  startPostgres,
  type PostgresServer,
} from '../support/stores/postgres-server.js';
import { realEngineContract, type RealQueue } from '../support/stores/real-engine-contract.js';

if (noPostgres !== undefined) {
  console.log(`postreel/pg-boss is not tested with an engine: ${noPostgres}.`);
}

describe.skipIf(noPostgres)('pgBossHandler() on a real Postgres', () => {
  let server: PostgresServer;
  let pool: Pool;
  let boss: PgBoss;
  const newBoss = async () => {
    const made = new PgBoss({ connectionString: server.url, supervise: false, schedule: false });
    made.on('error', () => undefined); // the server is stopped below
    return made.start();
  };
  beforeAll(async () => {
    server = await startPostgres();
    pool = new Pool({ connectionString: server.url });
    pool.on('error', () => undefined);
    await migratePostgres(pool);
    boss = await newBoss();
  });
  afterAll(async () => {
    await boss.stop({ graceful: false, wait: true });
    await pool.end();
    await server.stop();
  });

  async function open(name: string): Promise<RealQueue> {
    await boss.createQueue(name, { name, expireInSeconds: 15 });
    const workers: PgBoss[] = [];
    const states = `select state, count(*)::int as count from pgboss.job where name = $1 group by state`;
    return {
      name,
      async add(jobs, tries) {
        for (const job of jobs) {
          await boss.send(name, job, { retryLimit: tries - 1 });
        }
      },
      async work(media, options) {
        const worker = await newBoss();
        workers.push(worker);
        const make = pgBossHandler(media, options);
        for (let inHand = 0; inHand < 2; inHand++) {
          await worker.work(name, { batchSize: 1, pollingIntervalSeconds: 0.5 }, make);
        }
        return () => worker.stop({ timeout: 10_000 });
      },
      async counts() {
        const { rows } = await pool.query<{ state: string; count: number }>(states, [name]);
        const of = (state: string) => rows.find((row) => row.state === state)?.count ?? 0;
        return {
          waiting: of('created') + of('retry'),
          completed: of('completed'),
          failed: of('failed'),
        };
      },
      makeAllDue: () => boss.maintain(),
      close: () => Promise.all(workers.map((worker) => worker.stop({ graceful: false }))),
    };
  }

  realEngineContract(
    () => ({
      name: 'pg-boss',
      store: server.url,
      journal: (name) => postgresJournal(pool, { name }),
      open,
    }),
    { triesOfStop: 1 },
  );
});
