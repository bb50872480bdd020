// A worker that makes the videos of a job queue, on BullMQ or pg-boss. Run as many as you like:
//   docker compose up -d
//   STORE=redis://127.0.0.1:6379 npx tsx worker.ts
//   STORE=postgres://postgres:postreel@127.0.0.1:5432/postgres npx tsx worker.ts
import { mkdir } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import PgBoss from 'pg-boss';
import { MediaClient, type AcknowledgingSource, type MediaFile } from 'postreel';
import { bullmqSource } from 'postreel/bullmq';
import { saveTo } from 'postreel/node';
import { pgBossSource } from 'postreel/pg-boss';
import { migratePostgres, postgresJournal, postgresRateBudget } from 'postreel/postgres';
import { redisJournal, redisRateBudget } from 'postreel/redis';

const store = process.env['STORE'] ?? 'redis://127.0.0.1:6379';
const { media, source } = await (store.startsWith('redis:') ? onRedis() : onPostgres());

await mkdir('videos', { recursive: true });
const save = (file: MediaFile) => saveTo(file, `videos/${file.fileId}.mp4`);
const queue = media.queue(source, { save });
process.once('SIGTERM', () => queue.drain()); // finishes what is pending, hands back the rest
for await (const { file, error } of queue) {
  console.log(file ? `${file.fileId} is saved` : error);
}
process.exit();

async function onRedis(): Promise<{ media: MediaClient; source: AcknowledgingSource }> {
  const redis = new Redis(store);
  const rateLimit = { store: redisRateBudget(redis) };
  const media = new MediaClient({ journal: redisJournal(redis, { prefix: 'films' }), rateLimit });
  return { media, source: await bullmqSource('videos', { connection: { url: store } }) };
}

async function onPostgres(): Promise<{ media: MediaClient; source: AcknowledgingSource }> {
  const pool = new Pool({ connectionString: store });
  await migratePostgres(pool);
  const boss = await new PgBoss(store).start();
  // Version 10 cannot extend a lease: it must outlast the longest job and its wait for a slot.
  const queue = { name: 'videos', retryLimit: 20, expireInSeconds: 6 * 3_600 };
  await boss.createQueue('videos', queue);
  const rateLimit = { store: postgresRateBudget(pool) };
  const media = new MediaClient({ journal: postgresJournal(pool, { name: 'films' }), rateLimit });
  return { media, source: pgBossSource(boss, 'videos') };
}
