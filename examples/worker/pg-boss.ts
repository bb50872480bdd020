// A worker that makes the videos of a pg-boss queue. Run as many as you like:
//   docker compose up -d postgres
//   npx tsx --env-file=.env pg-boss.ts
import { Pool } from 'pg';
import PgBoss from 'pg-boss';
import { MediaClient } from 'postreel';
import { saveTo } from 'postreel/node';
import { pgBossHandler } from 'postreel/pg-boss';
import { migratePostgres, postgresJournal, postgresRateBudget } from 'postreel/postgres';

const connectionString =
  process.env['DATABASE_URL'] ?? 'postgres://postgres:postreel@127.0.0.1:5432/postgres';
const pool = new Pool({ connectionString });
pool.on('error', (error) => console.error(error.message)); // a restart of Postgres ends its connections
await migratePostgres(pool);
const media = new MediaClient({
  rateLimit: { store: postgresRateBudget(pool) }, // one limit for all workers
  journal: postgresJournal(pool, { name: 'films' }), // so that no video is made twice
});

const boss = new PgBoss(connectionString);
boss.on('error', console.error);
await boss.start();
// pg-boss counts an attempt each time it hands a job to a worker, also after a stop or a crash.
const queue = { name: 'videos', retryLimit: 50, retryDelay: 30, expireInSeconds: 3_600 };
await boss.createQueue('videos', queue);

const stopping = new AbortController();
const make = pgBossHandler(media, {
  save: saveTo('videos/{fileId}.mp4'),
  signal: stopping.signal,
});
// Twice as many as may be pending, so that each call is full.
for (let inHand = 0; inHand < 40; inHand++) {
  await boss.work('videos', { batchSize: 1 }, make);
}

process.once('SIGTERM', () => void stop());

// Unfinished jobs go back to the queue; another worker continues with them.
async function stop(): Promise<void> {
  stopping.abort();
  await boss.stop({ timeout: 60_000 });
  process.exit();
}
