import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import type { Fault, FakeServer } from 'postreel/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withServices } from '../support/scripts.js';
import { documents, snippetsOf } from '../support/snippets.js';

// Every documented program that makes media once. Each is killed in the middle and run again unchanged.

interface Program {
  readonly name: string;
  readonly code: string;
}

const chapters = documents().flatMap((path) =>
  snippetsOf(path).map(({ code }, place) => ({ name: `${path} ${place + 1}`, code })),
);
const examples = readdirSync('examples')
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, code: readFileSync(join('examples', name), 'utf8') }));
const programs = [...chapters, ...examples].filter(isOnce);

/** How many videos each makes, and the groups of its clients. */
const makes: Readonly<Record<string, { readonly files: number; readonly groups?: string[] }>> = {
  'README.md 2': { files: 3 },
  'docs/media.md 1': { files: 1 },
  'docs/many-videos.md 1': { files: 3 },
  'docs/many-videos.md 2': { files: 4, groups: ['account 0', 'account 1'] },
  '23-resume-after-a-crash.ts': { files: 3 },
};
interface Moment {
  readonly name: string;
  /** Nobody can know then what became of the request that was under way. */
  readonly isInDoubt?: boolean;
  readonly fault?: readonly [endpoint: 'POST /v1/generate/video' | 'GET /cdn/{file}', fault: Fault];
  /** Is it now? */
  readonly isNow: (fake: FakeServer, folder: string) => boolean;
}

const moments: readonly Moment[] = [
  {
    name: 'while a request is under way that comes to nothing',
    isInDoubt: true,
    fault: ['POST /v1/generate/video', { hang: true }],
    isNow: ({ media }) => media.requests.some(({ method }) => method === 'POST'),
  },
  {
    name: 'between a request that took effect and its answer',
    isInDoubt: true,
    fault: ['POST /v1/generate/video', { stall: true }],
    isNow: ({ media }) => media.files.length > 0,
  },
  {
    name: 'at the first status check',
    isNow: ({ media }) => media.requests.some(({ path }) => path.endsWith('/status')),
  },
  {
    name: 'in the middle of a download',
    fault: ['GET /cdn/{file}', { stall: true }],
    isNow: (_, folder) => namesIn(folder).some((name) => name.endsWith('.part')),
  },
  {
    name: 'when the first file is saved',
    isNow: (_, folder) => namesIn(folder).some((name) => name.endsWith('.mp4')),
  },
];
const doubt = /OUTCOME_UNKNOWN|may have been submitted|look for it/;

const maxMs = 240_000;
let scripts = '';
beforeAll(async () => {
  await mkdir('test/.tmp', { recursive: true });
  scripts = await mkdtemp(resolve('test/.tmp/killed-'));
});
afterAll(() => rm(scripts, { recursive: true, force: true }));

it('each of them is killed here', () => {
  expect(programs.map(({ name }) => name).sort()).toEqual(Object.keys(makes).sort());
});

describe.each(programs.filter(({ name }) => name in makes))('$name', (program) => {
  const { files, groups = [''] } = makes[program.name] ?? { files: 0 };

  it.each(moments)(
    'killed $name and run again, has each file once',
    async (moment) => {
      const script = await compiled(program);
      await withServices(async (run, fake, folder) => {
        await killAt(moment, { run: (kill) => run([script], kill), fake, folder });
        let { code, output } = await run([script]);
        const isInDoubt = doubt.test(output);
        if (moment.isInDoubt || files === 1) {
          expect(isInDoubt, output).toBe(moment.isInDoubt ?? false);
        }
        if (isInDoubt) {
          await settle(run, fake, { folder, groups });
          ({ code, output } = await run([script]));
        }
        expect(code, output).toBe(0);
        expectEachOnce(fake, folder, files);
      });
    },
    maxMs,
  );
});

interface Scene {
  readonly run: (kill: AbortSignal) => Promise<unknown>;
  readonly fake: FakeServer;
  readonly folder: string;
}

async function killAt({ fault, isNow }: Moment, { run, fake, folder }: Scene): Promise<void> {
  const takeBack = fault ? fake.media.fail(...fault) : undefined;
  const kill = new AbortController();
  const watch = setInterval(() => isNow(fake, folder) && kill.abort(), 1);
  await run(kill.signal);
  clearInterval(watch);
  takeBack?.();
  expect(kill.signal.aborted).toBe(true);
}

type Run = (command: readonly string[]) => Promise<{ code: number | null; output: string }>;

async function settle(
  run: Run,
  { media }: FakeServer,
  { folder, groups }: { readonly folder: string; readonly groups: readonly string[] },
): Promise<void> {
  const workspace = media.files.map(({ fileId, settings }) => ({ fileId, ...settings }));
  const journals = namesIn(folder).filter((name) => name.endsWith('.jsonl'));
  for (const journal of journals) {
    for (const group of groups) {
      const script = resolve('test/support/node/settle-unknown.mjs');
      const { code, output } = await run([script, journal, group, JSON.stringify(workspace)]);
      expect(code, output).toBe(0);
    }
  }
}

/** Nothing was paid for twice, and each file is there, whole, and once. */
function expectEachOnce({ media }: FakeServer, folder: string, count: number): void {
  const prompts = media.files.map(({ settings }) => settings['prompt']);
  expect(new Set(prompts).size).toBe(prompts.length);
  expect(prompts).toHaveLength(count);
  const saved = namesIn(folder)
    .filter((name) => name.endsWith('.mp4'))
    .map((name) => readFileSync(join(folder, name)).toString('base64'));
  const made = media.files.map(({ fileId }) => Buffer.from(media.contentOf(fileId)));
  expect(saved.sort()).toEqual(made.map((bytes) => bytes.toString('base64')).sort());
  expect(namesIn(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
}

function namesIn(folder: string): string[] {
  return readdirSync(folder);
}

/** Does it make and save media once, on this machine? */
function isOnce({ code }: Program): boolean {
  const isKeyed = /generate\.(video|audio)\([\s\S]*?once:|media\.queue\([\s\S]*?name:/.test(code);
  const isLocal = !/postreel\/(redis|postgres|bullmq|pg-boss)|export (async )?function/.test(code);
  return isKeyed && isLocal && /saveTo\([\s\S]*mp4|mp4[\s\S]*saveTo\(/.test(code);
}

async function compiled({ name, code }: Program): Promise<string> {
  const file = resolve(scripts, name.replaceAll(/\W/g, '-'));
  await writeFile(`${file}.ts`, code);
  await build({ entryPoints: [`${file}.ts`], outfile: `${file}.mjs`, tsconfigRaw: {} });
  return `${file}.mjs`;
}
