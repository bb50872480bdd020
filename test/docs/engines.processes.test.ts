import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeServer, type FakeServer } from 'postreel/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bundleScript } from '../support/node/bundled.js';

const page = readFileSync('docs/engines.md', 'utf8');
mkdirSync('test/.tmp', { recursive: true });
const folder = mkdtempSync('test/.tmp/scale-');
const clean: (() => unknown)[] = [];
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The code of a recipe, by its title. */
function recipe(title: string): string {
  const start = page.indexOf(`\n## ${title}\n`);
  const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(page.slice(start)) ?? [];
  expect(start, title).toBeGreaterThan(0);
  return code;
}

async function script(name: string, code: string): Promise<string> {
  const path = join(folder, name);
  writeFileSync(path, code);
  const { path: built, remove } = await bundleScript(path);
  clean.push(remove);
  return built;
}

describe('the recipes of docs/engines.md', () => {
  let fake: FakeServer;
  beforeAll(async () => {
    fake = await startFakeServer({ media: { durations: () => 2_000, queueTime: 0 } });
  });
  afterEach(() => Promise.all(clean.splice(0).map((remove) => remove())));
  afterAll(() => fake.close());

  function run(path: string) {
    const env = {
      PATH: process.env['PATH'],
      MEDIA_BASE_URL: fake.mediaUrl,
      MEDIA_API_KEY: fake.media.apiKey,
    };
    const child = spawn(process.execPath, [path], { env, cwd: folder });
    const heard = { output: '' };
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        heard.output += chunk.toString();
      });
    }
    return { child, heard, ended: once(child, 'exit') };
  }

  it('cron: overlapping runs, and a later run, submit each job once', async () => {
    const path = await script('cron.ts', recipe('Cron'));
    const before = fake.media.files.length;
    const runs = [run(path), run(path)];
    await Promise.all(runs.map(({ ended }) => ended));
    const later = run(path);
    await later.ended;
    expect(fake.media.files).toHaveLength(before + 1);
    const { fileId = '' } = fake.media.files.at(-1) ?? {};
    // A run that waits for the claim of another one emits a warning.
    const lastLines = [...runs, later].map(({ heard }) => heard.output.trim().split('\n').at(-1));
    expect(lastLines).toEqual([fileId, fileId, fileId]);
  }, 120_000);
});
