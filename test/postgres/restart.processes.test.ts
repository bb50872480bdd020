import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { MediaJob } from 'postreel';
import { startFakeServer } from 'postreel/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { bundleScript } from '../support/node/bundled.js';
import { documents, snippetsOf } from '../support/snippets.js';
import { noPostgres, startPostgres } from '../support/stores/postgres-server.js';

const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of clean.splice(0).reverse()) {
    await step();
  }
});

describe('a documented program with a pool of pg', () => {
  it('listens for the errors of its pool', async () => {
    const examples = ['examples/worker/pg-boss.ts'];
    const programs = [
      ...documents().flatMap((path) => snippetsOf(path).map(({ code }) => code)),
      ...(await Promise.all(examples.map((path) => readFile(path, 'utf8')))),
    ].filter((code) => code.includes('new Pool('));
    expect(programs.length).toBeGreaterThanOrEqual(2);
    expect(programs.filter((code) => !code.includes("pool.on('error',"))).toEqual([]);
  });

  it.skipIf(noPostgres)('in docs/scale.md survives a restart of Postgres', async () => {
    await mkdir('test/.tmp', { recursive: true });
    const folder = await mkdtemp('test/.tmp/restart-');
    clean.push(() => rm(folder, { recursive: true, force: true }));
    const postgres = await startPostgres();
    clean.push(() => postgres.stop());
    // Long enough for the restart to come while the pool is idle.
    const fake = await startFakeServer({ media: { durations: () => 4_000, queueTime: 0 } });
    clean.push(() => fake.close());

    const [program] = snippetsOf('docs/scale.md');
    const jobs = ['a', 'b', 'c', 'd', 'e', 'f'].map((content): MediaJob => {
      return { content, voiceId: 'voice_1' };
    });
    const path = join(folder, 'makeAll.ts');
    const code = program?.code.replace('/data/', `${resolve(folder)}/saved/`);
    await writeFile(path, `${code}\nawait makeAll('${postgres.url}', ${JSON.stringify(jobs)});\n`);
    const built = await bundleScript(path);
    clean.push(() => built.remove());

    const env = {
      PATH: process.env['PATH'],
      MEDIA_BASE_URL: fake.mediaUrl,
      MEDIA_API_KEY: fake.media.apiKey,
    };
    const child = spawn(process.execPath, [built.path], { env });
    clean.push(() => child.kill('SIGKILL'));
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    }
    const ended = once(child, 'exit');
    await vi.waitFor(() => expect(fake.media.files).toHaveLength(6), 60_000);
    await postgres.restart();
    expect(await ended, output).toEqual([0, null]);
    expect(await readdir(join(folder, 'saved'))).toHaveLength(6);
    expect(fake.media.files).toHaveLength(6);
  });
});
