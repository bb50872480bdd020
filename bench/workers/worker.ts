// One of several processes that make the jobs of one engine. Its clock runs fast: see the preload.
import { appendFileSync } from 'node:fs';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import PgBoss from 'pg-boss';
import { MediaClient, type JournalStore, type MediaFile, type RateBudgetStore } from 'postreel';
import { bullmqProcessor } from 'postreel/bullmq';
import { pgBossHandler } from 'postreel/pg-boss';
import { postgresJournal, postgresRateBudget } from 'postreel/postgres';
import { redisJournal, redisRateBudget } from 'postreel/redis';
import type { WorkerTask } from './crew.js';

const task = JSON.parse(process.argv[2] ?? '') as WorkerTask; // as: the crew writes it
const { engine, queues, store, service, apiKey, limit, windowMs, speed, stored, lockMs } = task;

// Twice as many as there are slots.
const inHand = Math.ceil(40 / queues.length);
const stopping = new AbortController();
process.once('disconnect', () => process.exit());
process.once('SIGTERM', () => void stop());
const close = engine === 'bullmq' ? onRedis() : await onPostgres();
process.send?.('ready');

async function stop(): Promise<void> {
  stopping.abort();
  await close();
  process.exit();
}

function options(budget: RateBudgetStore, journal: JournalStore) {
  const media = new MediaClient({
    apiKey,
    baseUrl: service,
    journal,
    rateLimit: { limit, windowMs, store: inRealTime(budget), group: apiKey },
    timeout: 30_000 * speed, // the network does not get faster with the clock
  });
  // A file counts as stored once its line is written.
  const save = async ({ fileId }: MediaFile, { data }: { readonly data: unknown }) => {
    const { prompt } = data as { prompt: string }; // as: all jobs are videos
    appendFileSync(stored, `${prompt} ${fileId}\n`);
    return Promise.resolve();
  };
  return [media, { save, signal: stopping.signal }] as const;
}

function onRedis() {
  // A restart takes real time: a client that retries on the fast clock would give up too soon.
  const retryStrategy = (tries: number) => Math.min(tries * 50, 2_000) * speed;
  const redis = new Redis(store, { retryStrategy });
  redis.on('error', () => undefined); // the server is restarted
  const make = bullmqProcessor(
    ...options(redisRateBudget(redis), redisJournal(redis, { prefix: 'films' })),
  );
  const workers = queues.map((name) => {
    const worker = new Worker(name, make, {
      connection: { port: Number(new URL(store).port), host: '127.0.0.1', retryStrategy },
      concurrency: inHand,
      maxStalledCount: 1_000,
      lockRenewTime: (lockMs / 3) * speed,
      // Redis measures these in real time.
      lockDuration: lockMs,
      stalledInterval: lockMs,
    });
    worker.on('error', () => undefined);
    worker.on('failed', (_, error) => process.send?.(error.message));
    return worker;
  });
  return () => Promise.all(workers.map((worker) => worker.close()));
}

async function onPostgres() {
  const pool = new Pool({ connectionString: store, max: 4 });
  pool.on('error', () => undefined); // the server is restarted
  const boss = new PgBoss({ connectionString: store, supervise: false, schedule: false, max: 4 });
  boss.on('error', () => undefined);
  await boss.start();
  const make = pgBossHandler(
    ...options(postgresRateBudget(pool), postgresJournal(pool, { name: 'films' })),
  );
  for (const name of queues) {
    for (let count = 0; count < inHand; count++) {
      // pg-boss measures this in real time.
      await boss.work(name, { batchSize: 1, pollingIntervalSeconds: 0.5 }, make);
    }
  }
  return () => boss.stop({ timeout: 30_000 });
}

// The store measures in real time, but the leases of pending slots are given in the worker's time.
function inRealTime(budget: RateBudgetStore): RateBudgetStore {
  return {
    ...budget,
    lease: (group, count, most, leaseMs) =>
      budget.lease?.(group, count, most, leaseMs / speed) ?? Promise.resolve([]),
    hold: (group, names, leaseMs, instead) =>
      budget.hold?.(group, names, leaseMs / speed, instead) ?? Promise.resolve(),
  };
}
