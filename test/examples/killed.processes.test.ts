import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { FakeServer } from 'postreel/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { build } from 'esbuild';
import { withServices } from '../support/scripts.js';
import { documents, snippetsOf } from '../support/snippets.js';

// Runs every program of the README, the recipes and the examples, and counts its emails, files and
// created records.

interface Program {
  readonly name: string;
  readonly code: string;
}

const programs: Program[] = [
  ...readdirSync('examples')
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({ name, code: readFileSync(join('examples', name), 'utf8') })),
  ...documents()
    .filter((path) => path === 'README.md' || path.startsWith('docs/recipes/'))
    .flatMap((path) =>
      snippetsOf(path).map(({ code }, place) => ({ name: `${path} ${place + 1}`, code })),
    ),
];

/** The effects last: a program that is killed and run again does only the rest. */
const once: Readonly<Record<string, number>> = {
  '13-workflow.ts': 1,
  '22-hundred-videos.ts': 100,
  '23-resume-after-a-crash.ts': 3,
  '29-deploy-a-workflow.ts': 2,
  '26-newsletter.ts': 38,
  'README.md 2': 3,
  'docs/recipes/cron.md 1': 2,
};
/** The effects happen in each run: a second run repeats them on purpose. */
const eachRun: Readonly<Record<string, number>> = {
  '01-send.ts': 1,
  '02-send-a-template.ts': 1,
  '10-campaign.ts': 112,
  '11-schedule-a-campaign.ts': 1,
  '16-video.ts': 1,
  '17-audio.ts': 1,
  '21-audio-callback-express.ts': 1,
  '27-one-click-unsubscribe.ts': 2,
  '28-double-opt-in.ts': 1,
  'README.md 1': 1,
};

const maxMs = 240_000;
let folder = '';
beforeAll(async () => {
  await mkdir('test/.tmp', { recursive: true });
  folder = await mkdtemp(resolve('test/.tmp/killed-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a program of the documentation', () => {
  it.each(programs)(
    '$name has the effects in its row',
    async ({ name, code }) => {
      const script = await compileProgram(name, code);
      await withServices(async (run, fake) => {
        const before = madeAt(fake).length;
        const { code, output } = await run([script]);
        expect(code, output).toBe(0);
        expect(madeAt(fake).length - before).toBe(once[name] ?? eachRun[name] ?? 0);
      });
    },
    maxMs,
  );

  it.each(programs.filter(({ name }) => name in once))(
    '$name, run twice, has its effects once',
    async ({ name, code }) => {
      const script = await compileProgram(name, code);
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

  it.each(programs.filter(({ name }) => name in once))(
    '$name, killed at any call and run again, repeats no effect',
    async ({ name, code: source }) => {
      const script = await compileProgram(name, source);
      let calls = 1;
      for (const share of [0, 0.3, 0.7, 1]) {
        await withServices(async (run, fake) => {
          const kill = new AbortController();
          const at = 1 + Math.floor(share * (calls - 1));
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
    ...messaging.outbox.map(({ to, subject }) => `email to ${to}: ${subject}`),
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
