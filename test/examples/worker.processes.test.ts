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
import { bundled } from '../support/node/bundled.js';
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

describe('the worker of the examples', () => {
  let script: Awaited<ReturnType<typeof bundled>>;
  let fake: FakeServer;
  let folder = '';
  beforeAll(async () => {
    script = await bundled('examples/worker/worker.ts');
    fake = await startFakeServer({ media: { durations: () => 0, queueTime: 0 } });
    folder = await mkdtemp(join(tmpdir(), 'postreel-worker-'));
  });
  afterAll(async () => {
    await fake.close();
    await Promise.all([script.remove(), rm(folder, { recursive: true, force: true })]);
  });

  /** Runs it until it has saved all files, and then stops it as a deployment would. */
  async function run(store: string): Promise<void> {
    const before = fake.media.files.length;
    const cwd = await mkdtemp(join(folder, 'run-'));
    const child = spawn(process.execPath, [script.path], {
      cwd,
      env: {
        PATH: process.env['PATH'],
        STORE: store,
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
    await expect
      .poll(() => output.match(/ is saved/g)?.length ?? 0, { timeout: 60_000, interval: 100 })
      .toBe(jobs.length);
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
        await run(redis.url);
        expect(await queue.getJobCounts('completed', 'failed')).toEqual({
          completed: jobs.length,
          failed: 0,
        });
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
        await run(postgres.url);
        expect(await boss.getQueueSize('videos', { before: 'completed' })).toBe(0);
      } finally {
        await boss.stop({ graceful: false, wait: true });
        await postgres.stop();
      }
    },
    120_000,
  );
});
