// One of several processes that make the jobs of one engine. Its time runs fast: see the preload.
import { appendFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import PgBoss from 'pg-boss';
import { MediaClient, type AcknowledgingSource, type RateBudgetStore } from 'postreel';
import { bullmqSource } from 'postreel/bullmq';
import { pgBossSource } from 'postreel/pg-boss';
import { postgresJournal, postgresRateBudget } from 'postreel/postgres';
import { redisJournal, redisRateBudget } from 'postreel/redis';
import type { WorkerTask } from './crew.js';

const task = JSON.parse(process.argv[2] ?? '') as WorkerTask; // as the crew writes it
const { engine, queues, store, service, apiKey, limit, windowMs, speed, stored, lockMs } = task;

const { open, budget, journal } = engine === 'bullmq' ? onRedis() : await onPostgres();
const media = new MediaClient({
  apiKey,
  baseUrl: service,
  journal,
  rateLimit: { limit, windowMs, store: inRealTime(budget), group: 'films' },
  timeout: 30_000 * speed, // no network gets faster by the clock
});
// A file is as good as stored once its line is written.
const save = ({ fileId }: { fileId: string }, { input }: { input: object }) => {
  const { prompt } = input as { prompt: string }; // all jobs are videos
  appendFileSync(stored, `${prompt} ${fileId}\n`);
  return Promise.resolve();
};
process.once('disconnect', () => process.exit());
await Promise.all(queues.map(work));
process.exit();

/** Makes the jobs of one queue; ends when the process is asked to. */
async function work(name: string): Promise<void> {
  const queue = media.queue(await open(name), { save });
  process.once('SIGTERM', () => queue.drain());
  process.send?.('ready');
  for await (const { error } of queue) {
    if (error !== undefined) {
      process.send?.(error instanceof Error ? error.message : 'a job failed');
    }
  }
}

function onRedis() {
  // A restart takes its real time: a client that counts fast tries would give up within a moment.
  const retryStrategy = (tries: number) => Math.min(tries * 50, 2_000) * speed;
  const redis = new Redis(store, { retryStrategy });
  redis.on('error', () => undefined); // it is restarted
  const connection = { port: Number(new URL(store).port), host: '127.0.0.1', retryStrategy };
  return {
    open: (name: string): Promise<AcknowledgingSource> =>
      bullmqSource(name, { connection, lockMs }),
    budget: redisRateBudget(redis),
    journal: redisJournal(redis, { prefix: 'films' }),
  };
}

async function onPostgres() {
  const pool = new Pool({ connectionString: store, max: 4 });
  pool.on('error', () => undefined); // it is restarted
  const boss = new PgBoss({ connectionString: store, supervise: false, schedule: false, max: 3 });
  boss.on('error', () => undefined);
  await boss.start();
  return {
    open: (name: string): AcknowledgingSource => pgBossSource(boss, name),
    budget: postgresRateBudget(pool),
    journal: postgresJournal(pool, { name: 'films' }),
  };
}

// The store goes by the real time, and the leases of pending slots are meant in ours.
function inRealTime(budget: RateBudgetStore): RateBudgetStore {
  return {
    ...budget,
    lease: (group, count, most, leaseMs) =>
      budget.lease?.(group, count, most, leaseMs / speed) ?? Promise.resolve([]),
    hold: (group, names, leaseMs, instead) =>
      budget.hold?.(group, names, leaseMs / speed, instead) ?? Promise.resolve(),
  };
}
