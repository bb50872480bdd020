// A worker of either engine in a separate process: `engine-child.ts <engine> <store> <queue>`.
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import PgBoss from 'pg-boss';
import { MediaClient, type JournalStore } from 'postreel';
import { bullmqProcessor } from 'postreel/bullmq';
import { pgBossHandler } from 'postreel/pg-boss';
import { postgresJournal } from 'postreel/postgres';
import { redisJournal } from 'postreel/redis';

const [engine, store = '', queue = ''] = process.argv.slice(2);
const stopping = new AbortController();
const close = engine === 'bullmq' ? onRedis() : await onPostgres();
process.once('SIGTERM', () => {
  stopping.abort();
  void close().then(() => process.exit());
});

function parts(journal: JournalStore) {
  const rateLimit = { limit: 1_000, windowMs: 1_000, group: `${queue} ${queue}` };
  const media = new MediaClient({ journal, rateLimit });
  return [media, { save: () => Promise.resolve(), signal: stopping.signal }] as const;
}

function onRedis() {
  const make = bullmqProcessor(...parts(redisJournal(new Redis(store), { prefix: queue })));
  const connection = { url: store };
  const times = { lockDuration: 1_000, stalledInterval: 500 };
  const worker = new Worker(queue, make, { connection, ...times });
  return () => worker.close();
}

async function onPostgres() {
  const boss = await new PgBoss({ connectionString: store, supervise: false }).start();
  const journal = postgresJournal(new Pool({ connectionString: store }), { name: queue });
  const options = { batchSize: 1, pollingIntervalSeconds: 0.5 };
  await boss.work(queue, options, pgBossHandler(...parts(journal)));
  return () => boss.stop({ timeout: 10_000 });
}
