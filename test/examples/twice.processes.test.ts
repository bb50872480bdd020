import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { FakeServer } from 'postreel/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from 'esbuild';
import { withServices } from '../support/scripts.js';

const maxMs = 120_000;
let folder = '';
beforeAll(async () => {
  await mkdir('test/.tmp', { recursive: true });
  folder = await mkdtemp(resolve('test/.tmp/twice-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const named = (records: Iterable<{ name?: unknown }>, wanted: string) =>
  [...records].filter(({ name }) => name === wanted).length;

it.each([
  [
    'examples/13-workflow.ts',
    'makes one workflow',
    ({ messaging }: FakeServer) => named(messaging.project.workflows.values(), 'Welcome'),
    1,
  ],
  [
    'examples/23-resume-after-a-crash.ts',
    'pays for each video once',
    ({ media }: FakeServer) => media.files.length,
    3,
  ],
  [
    'examples/24-workflow-as-code.ts',
    'makes one workflow',
    ({ messaging }: FakeServer) => named(messaging.project.workflows.values(), 'Onboarding'),
    1,
  ],
  [
    'examples/26-newsletter.ts',
    'makes one campaign',
    ({ messaging }: FakeServer) => named(messaging.project.campaigns.values(), 'News of March'),
    1,
  ],
  [
    'docs/recipes/cron.md',
    'mails each reader once',
    ({ messaging }: FakeServer) => messaging.outbox.length,
    2,
  ],
])(
  '%s, run twice, %s',
  async (path, _, count, expected) => {
    const script = await compiled(path);
    await withServices(async (run, fake) => {
      for (const time of ['first', 'second']) {
        const { code, output } = await run([script]);
        expect(code, output).toBe(0);
        expect(count(fake), time).toBe(expected);
      }
    });
  },
  maxMs,
);

/** An example, or the one block of a page that is no copy of an example. */
async function compiled(path: string): Promise<string> {
  const text = readFileSync(path, 'utf8');
  const block = /^(?<!-->\n\n)```ts\n([\s\S]*?)^```/m.exec(text)?.[1];
  const source = resolve(folder, 'script.ts');
  await writeFile(source, path.endsWith('.md') ? (block ?? '') : text);
  const outfile = resolve(folder, `${path.replaceAll(/\W/g, '-')}.mjs`);
  await build({ entryPoints: [source], outfile, tsconfigRaw: {} });
  return outfile;
}
