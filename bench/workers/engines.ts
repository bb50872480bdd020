import { Queue } from 'bullmq';
import { Pool } from 'pg';
import PgBoss from 'pg-boss';
import type { VideoJob } from '../../src/index.js';
import { migratePostgres } from '../../src/postgres/index.js';
import { startPostgres } from '../../test/support/stores/postgres-server.js';
import { startRedis } from '../../test/support/stores/redis-server.js';

/** A job engine and its store, for a bench. */
export interface TestEngine {
  readonly store: string;
  add(jobs: readonly VideoJob[]): Promise<void>;
  /** The jobs that have failed for good. */
  failed(): Promise<{ readonly prompt: string; readonly reason: string }[]>;
  /** Does the regular work of the engine's supervisor: finds jobs whose lease is over. */
  supervise(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const tries = 50;

/** Distributes the jobs among its queues; the job ids of each queue begin at the same number. */
export async function bullmqEngine(queueNames: readonly string[]): Promise<TestEngine> {
  const server = await startRedis({ keeps: true });
  const connection = { port: server.port, host: '127.0.0.1' };
  const queues = queueNames.map((name) => new Queue(name, { connection }));
  queues.forEach((queue) => queue.on('error', () => undefined)); // the server is restarted
  return {
    store: server.url,
    async add(jobs) {
      for (const [place, queue] of queues.entries()) {
        const own = jobs.filter((_, index) => index % queues.length === place);
        for (let start = 0; start < own.length; start += 5_000) {
          const some = own.slice(start, start + 5_000);
          await queue.addBulk(
            some.map((data) => ({ name: 'video', data, opts: { attempts: tries } })),
          );
        }
      }
    },
    async failed() {
      const lists = await Promise.all(queues.map((queue) => queue.getFailed()));
      return lists.flat().map(({ data, failedReason }) => ({
        prompt: (data as VideoJob).prompt ?? '',
        reason: failedReason,
      }));
    },
    supervise: () => Promise.resolve(), // each worker does this
    restart: () => server.restart(),
    async stop() {
      await Promise.all(queues.map((queue) => queue.close()));
      await server.stop();
    },
  };
}

/** Distributes the jobs among its queues. */
export async function pgBossEngine(
  queueNames: readonly string[],
  leaseSeconds: number,
): Promise<TestEngine> {
  const server = await startPostgres();
  const pool = new Pool({ connectionString: server.url });
  pool.on('error', () => undefined); // the server is restarted
  await migratePostgres(pool);
  const boss = new PgBoss({ connectionString: server.url, supervise: false, schedule: false });
  boss.on('error', () => undefined);
  await boss.start();
  for (const name of queueNames) {
    await boss.createQueue(name, { name, retryLimit: tries, expireInSeconds: leaseSeconds });
  }
  return {
    store: server.url,
    async add(jobs) {
      for (let start = 0; start < jobs.length; start += 5_000) {
        const some = jobs.slice(start, start + 5_000);
        await boss.insert(
          some.map((data, index) => ({
            name: queueNames[index % queueNames.length] ?? '',
            data,
            expireInSeconds: leaseSeconds,
            retryLimit: tries,
            retryDelay: 1,
          })),
        );
      }
    },
    async failed() {
      const text = `select data->>'prompt' as prompt, output->>'message' as reason
        from pgboss.job where name = any($1) and state = 'failed'`;
      return (await pool.query<{ prompt: string; reason: string }>(text, [queueNames])).rows;
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
