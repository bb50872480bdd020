import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { FakeServer } from 'postreel/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { build } from 'esbuild';
import { withServices } from '../support/scripts.js';
import { programs } from '../support/snippets.js';

// Kills the programs of the documents and the examples that mail or spend, and runs them again.

/** The programs whose emails, files and created records last, and how many there are in the end. */
const once: Readonly<Record<string, number>> = {
  'examples/13-workflow.ts': 1,
  'examples/22-hundred-videos.ts': 100,
  'examples/23-resume-after-a-crash.ts': 3,
  'examples/26-newsletter.ts': 38,
  'examples/29-deploy-a-workflow.ts': 2,
  'examples/30-welcome-once.ts': 1,
  'README.md 2': 3,
  'docs/emails.md 5': 2,
  'docs/emails.md 6': 110,
  'docs/emails.md 7': 2,
  'docs/engines.md 5': 1,
  'docs/journal.md 1': 1,
  'docs/journal.md 3': 1,
  'docs/journal.md 4': 1,
  'docs/many-videos.md 1': 3,
  'docs/many-videos.md 2': 4,
  'docs/media.md 1': 1,
  'docs/node.md 2': 1,
  'docs/recipes/cron.md 1': 2,
};
const killed = programs().filter(({ name }) => name in once);

const maxMs = 240_000;
let folder = '';
beforeAll(async () => {
  await mkdir('test/.tmp', { recursive: true });
  folder = await mkdtemp(resolve('test/.tmp/killed-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a program of the documentation', () => {
  it('is in the table by its name', () => {
    expect(killed.map(({ name }) => name).sort()).toEqual(Object.keys(once).sort());
  });

  it.concurrent.each(killed)(
    '$name, run twice, has its effects once',
    async ({ name, code: source }) => {
      const script = await compileProgram(`${name} twice`, source);
      await withServices(async (run, fake) => {
        const before = madeAt(fake).length;
        await run([script]);
        const { code, output } = await run([script]);
        expect(code, output).toBe(0);
        expect(madeAt(fake).length - before).toBe(once[name]);
      });
    },
    maxMs,
  );

  it.concurrent.each(killed)(
    '$name, killed at any call and run again, repeats no effect',
    async ({ name, code: source }) => {
      const script = await compileProgram(name, source);
      let calls = 1;
      const tried = new Set<number>();
      for (const share of [0, 0.3, 0.7, 1]) {
        const at = 1 + Math.floor(share * (calls - 1));
        if (tried.has(at)) {
          continue;
        }
        tried.add(at);
        await withServices(async (run, fake) => {
          const kill = new AbortController();
          const watch = setInterval(() => {
            if (writesAt(fake) >= at) {
              kill.abort();
            }
          }, 1);
          await run([script], kill.signal);
          clearInterval(watch);
          const { code, output } = await run([script]);
          calls = writesAt(fake);
          const made = madeAt(fake);
          expect(made.filter((thing, index) => made.indexOf(thing) !== index)).toEqual([]);
          // A call that was in flight may have happened: the program names it, and does not repeat
          // it.
          expect(code === 0 || output.includes('unknown'), output).toBe(true);
        });
      }
    },
    4 * maxMs,
  );
});

/** The emails, files and created records, each with a distinct text. */
function madeAt({ messaging, media }: FakeServer): string[] {
  const { campaigns, workflows } = messaging.project;
  return [
    ...messaging.outbox.map(({ to, subject, body }) => `email to ${to}: ${subject}, ${body}`),
    ...[...campaigns.values()].map(({ name }) => `campaign ${name}`),
    ...[...workflows.values()].map(({ name }) => `workflow ${name}`),
    ...media.files.map(({ settings }) => `file of ${JSON.stringify(settings)}`),
  ];
}

function writesAt({ messaging, media }: FakeServer): number {
  return [...messaging.requests, ...media.requests].filter(({ method }) => method !== 'GET').length;
}

async function compileProgram(name: string, code: string): Promise<string> {
  const file = resolve(folder, name.replaceAll(/\W/g, '-'));
  await writeFile(`${file}.ts`, code);
  await build({ entryPoints: [`${file}.ts`], outfile: `${file}.mjs`, tsconfigRaw: {} });
  return `${file}.mjs`;
}
