// A worker that makes the videos of a BullMQ queue. Run as many as you like:
//   docker compose up -d redis
//   npx tsx --env-file=.env bullmq.ts
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { MediaClient } from 'postreel';
import { bullmqProcessor } from 'postreel/bullmq';
import { saveTo } from 'postreel/node';
import { redisJournal, redisRateBudget } from 'postreel/redis';

const url = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379';
const redis = new Redis(url);
const media = new MediaClient({
  rateLimit: { store: redisRateBudget(redis) }, // one limit for all workers
  journal: redisJournal(redis, { prefix: 'films' }), // so that no video is made twice
});

const stopping = new AbortController();
const make = bullmqProcessor(media, {
  save: saveTo('videos/{fileId}.mp4'),
  signal: stopping.signal,
});
const worker = new Worker('videos', make, {
  connection: { url },
  concurrency: 40, // twice as many as may be pending, so that each call is full
  maxStalledCount: 100, // a crash is not the fault of a job
});
worker.on('completed', ({ id }, { fileId }) => console.log(`job ${id} is saved as ${fileId}`));
worker.on('failed', (job, error) => console.error(`job ${job?.id}: ${error.message}`));
worker.on('error', console.error);

process.once('SIGTERM', () => void stop());

// Unfinished jobs go back to the queue; another worker continues with them.
async function stop(): Promise<void> {
  stopping.abort();
  await worker.close();
  process.exit();
}
