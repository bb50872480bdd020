import { Queue } from 'bullmq';
import { Pool } from 'pg';
import PgBoss from 'pg-boss';
import type { VideoJob } from '../../src/index.js';
import { migratePostgres } from '../../src/postgres/index.js';
import { startPostgres } from '../../test/support/stores/postgres-server.js';
import { startRedis } from '../../test/support/stores/redis-server.js';

/** A job engine with its store, as a bench sees it. */
export interface TestEngine {
  readonly store: string;
  add(jobs: readonly VideoJob[]): Promise<void>;
  /** The prompts of the jobs in the second queue. */
  unknown(): Promise<string[]>;
  /** What a supervisor of the engine does now and then: finds jobs whose lease is over. */
  supervise(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export const queueName = 'videos';
const tries = 50;

export async function bullmqEngine(): Promise<TestEngine> {
  const server = await startRedis({ keeps: true });
  const connection = { port: server.port, host: '127.0.0.1' };
  const queue = new Queue(queueName, { connection });
  const unknown = new Queue(`${queueName}-unknown`, { connection });
  for (const party of [queue, unknown] as const) {
    party.on('error', () => undefined); // it is restarted
  }
  return {
    store: server.url,
    async add(jobs) {
      for (let start = 0; start < jobs.length; start += 5_000) {
        const some = jobs.slice(start, start + 5_000);
        await queue.addBulk(
          some.map((data) => ({ name: 'video', data, opts: { attempts: tries } })),
        );
      }
    },
    unknown: async () =>
      (await unknown.getJobs()).map(({ data }) => (data as { job: VideoJob }).job.prompt ?? ''),
    supervise: () => Promise.resolve(), // each worker does
    restart: () => server.restart(),
    async stop() {
      await Promise.all([queue.close(), unknown.close()]);
      await server.stop();
    },
  };
}

export async function pgBossEngine(leaseSeconds: number): Promise<TestEngine> {
  const server = await startPostgres();
  const pool = new Pool({ connectionString: server.url });
  pool.on('error', () => undefined); // it is restarted
  await migratePostgres(pool);
  const boss = new PgBoss({ connectionString: server.url, supervise: false, schedule: false });
  boss.on('error', () => undefined);
  await boss.start();
  const options = { name: queueName, retryLimit: tries, expireInSeconds: leaseSeconds };
  await boss.createQueue(queueName, options);
  return {
    store: server.url,
    async add(jobs) {
      for (let start = 0; start < jobs.length; start += 5_000) {
        const some = jobs.slice(start, start + 5_000);
        await boss.insert(
          some.map((data) => ({
            name: queueName,
            data,
            expireInSeconds: leaseSeconds,
            retryLimit: tries,
          })),
        );
      }
    },
    async unknown() {
      const text = `select data->'job'->>'prompt' as prompt from pgboss.job where name = $1`;
      const { rows } = await pool.query<{ prompt: string }>(text, [`${queueName}-unknown`]);
      return rows.map(({ prompt }) => prompt);
    },
    supervise: () => boss.maintain(),
    restart: () => server.restart(),
    async stop() {
      await boss.stop({ graceful: false, wait: true });
      await pool.end();
      await server.stop();
    },
  };
}
