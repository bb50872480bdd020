import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFakeServer, type FakeServer } from 'postreel/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { endOf } from '../support/node/process-end.js';

const names = ['Cats', 'Dogs', 'Birds'];
const films = 20;
// Fast, but not so fast that a lock on the disk seems to take forever.
const speed = 20;
// Each process alone would make a call every 2.5 s: six in this window.
const limits = { limit: 4, windowMs: 5_000 };

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-queues-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('queues of three processes with one rate budget store keep both limits together', async () => {
  const server = await startFakeServer({
    media: {
      rateLimit: limits,
      durations: () => 1_000 + Math.random() * 6_000,
      queueTime: 10,
    },
  });
  try {
    const path = join(folder, 'budget.json');
    const ends = await Promise.all(names.map((name) => run(server, path, name)));
    for (const { code, output } of ends) {
      expect(code, output).toBe(0);
    }
    const fileIds = ends.flatMap(({ output }) => output.trim().split('\n'));
    expect(fileIds).toHaveLength(names.length * films);
    expect(new Set(fileIds).size).toBe(names.length * films);
    const { refused, inWindow, pending, accepted } = measureLimits(server);
    expect({ refused, accepted }).toEqual({ refused: 0, accepted: names.length * films });
    expect(pending).toBeLessThanOrEqual(20);
    // The processes did compete: the limit of one process alone is twenty pending jobs.
    expect(pending).toBeGreaterThan(15);
    expect(inWindow).toBeLessThanOrEqual(limits.limit);
  } finally {
    await server.close();
  }
}, 120_000);

/** Runs a queue in a separate process. */
function run(server: FakeServer, path: string, name: string) {
  const preload = ['--import', './test/support/node/fast-clock.mjs'];
  const shown = JSON.stringify(limits);
  const script = ['test/support/node/queue-child.mjs', path, name, String(films), shown];
  const env = {
    MEDIA_BASE_URL: server.mediaUrl,
    MEDIA_API_KEY: server.media.apiKey,
    SPEED: String(speed),
  };
  const child = spawn(process.execPath, [...preload, ...script], {
    env: { ...process.env, ...env },
  });
  return endOf(child);
}

/** Measures both limits by the requests that the service received. */
function measureLimits({ media: { requests, files } }: FakeServer) {
  const calls = requests.filter(({ method }) => method === 'POST').map(({ at }) => at);
  const inWindow = calls.map(
    (at) => calls.filter((to) => to >= at && to < at + limits.windowMs).length,
  );
  const pending = files.map(
    ({ acceptedAt: at }) =>
      files.filter(({ acceptedAt, finishesAt }) => acceptedAt <= at && at < finishesAt).length,
  );
  return {
    accepted: files.length,
    refused: requests.filter(({ status }) => status === 429).length,
    inWindow: Math.max(...inWindow),
    pending: Math.max(...pending),
  };
}
