import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import PgBoss from 'pg-boss';
import type { VideoJob } from 'postreel';
import { startFakeServer, type FakeServer } from 'postreel/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleScript } from '../support/node/bundled.js';
import { noPostgres, startPostgres } from '../support/stores/postgres-server.js';
import { noRedis, startRedis } from '../support/stores/redis-server.js';

for (const [name, reason] of Object.entries({ Redis: noRedis, Postgres: noPostgres })) {
  if (reason !== undefined) {
    console.log(`The worker of the examples is not run with ${name}: ${reason}.`);
  }
}

const jobs = ['one', 'two', 'three'].map((prompt): VideoJob => ({
  workflowType: 'idea',
  workflowFormat: 'video',
  voiceId: 'voice_1',
  prompt,
}));

describe('a worker in the examples', () => {
  const scripts: Awaited<ReturnType<typeof bundleScript>>[] = [];
  let fake: FakeServer;
  let folder = '';
  beforeAll(async () => {
    fake = await startFakeServer({ media: { durations: () => 0, queueTime: 0 } });
    folder = await mkdtemp(join(tmpdir(), 'postreel-worker-'));
  });
  afterAll(async () => {
    await fake.close();
    await Promise.all(scripts.map((script) => script.remove()));
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs the worker until it has saved all files, and then stops it as a deployment would. */
  async function run(
    engine: 'bullmq' | 'pg-boss',
    store: Record<string, string>,
    isDone: () => Promise<boolean>,
  ): Promise<void> {
    const script = await bundleScript(`examples/worker/${engine}.ts`);
    scripts.push(script);
    const before = fake.media.files.length;
    const cwd = await mkdtemp(join(folder, 'run-'));
    const child = spawn(process.execPath, [script.path], {
      cwd,
      env: {
        PATH: process.env['PATH'],
        ...store,
        MEDIA_BASE_URL: fake.mediaUrl,
        MEDIA_API_KEY: fake.media.apiKey,
      },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    }
    const ended = once(child, 'exit');
    const saved = () => readdir(join(cwd, 'videos')).catch(() => []);
    const isSaved = async () => (await saved()).filter((name) => name.endsWith('.mp4')).length;
    await expect.poll(isSaved, { timeout: 60_000, interval: 100 }).toBe(jobs.length);
    await expect.poll(isDone, { timeout: 10_000, interval: 100 }).toBe(true);
    child.kill('SIGTERM');
    expect(await ended, output).toEqual([0, null]);
    expect(await readdir(join(cwd, 'videos'))).toHaveLength(jobs.length);
    expect(fake.media.files).toHaveLength(before + jobs.length);
  }

  it.skipIf(noRedis)(
    'makes the jobs of BullMQ on Redis, and stops at SIGTERM',
    async () => {
      const redis = await startRedis({ keeps: true });
      const queue = new Queue('videos', { connection: { port: redis.port, host: '127.0.0.1' } });
      try {
        await queue.addBulk(jobs.map((data) => ({ name: 'video', data, opts: { attempts: 3 } })));
        await run('bullmq', { REDIS_URL: redis.url }, async () => {
          const { completed } = await queue.getJobCounts('completed');
          return completed === jobs.length;
        });
        expect(await queue.getJobCountByTypes('failed')).toBe(0);
      } finally {
        await queue.close();
        await redis.stop();
      }
    },
    120_000,
  );

  it.skipIf(noPostgres)(
    'makes the jobs of pg-boss on Postgres, and stops at SIGTERM',
    async () => {
      const postgres = await startPostgres();
      const boss = new PgBoss({ connectionString: postgres.url, supervise: false });
      boss.on('error', () => undefined); // the server is stopped below
      await boss.start();
      try {
        await boss.createQueue('videos');
        await Promise.all(jobs.map((job) => boss.send('videos', job)));
        const isDone = async () =>
          (await boss.getQueueSize('videos', { before: 'completed' })) === 0;
        await run('pg-boss', { DATABASE_URL: postgres.url }, isDone);
      } finally {
        await boss.stop({ graceful: false, wait: true });
        await postgres.stop();
      }
    },
    120_000,
  );
});
