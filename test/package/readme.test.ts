import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { pack } from '../../scripts/pack.js';
import { copiesIn } from '../support/snippets.js';
import { repository } from '../support/package/installed.js';
import {
  inScene,
  install,
  kill,
  readmeBlocks,
  start,
  type Running,
  type Scene,
} from '../support/package/readme.js';

const maxMs = 120_000;
const poll = { timeout: maxMs, interval: 20 };

/** The shell lines of the README, and whether and how each one is tested. */
const shellLines: Readonly<Record<string, string>> = {
  'npm ci': 'needs the registry',
  'npm run demo': 'builds what other tests read; the demo itself is run',
  'npm pack': 'builds what other tests read; the tarball is packed without that',
  'npm init -y && npm pkg set type=module': 'run',
  'npm install ../postreel/postreel-0.1.0.tgz':
    'needs the registry; the tarball is unpacked, and its dependencies are linked',
  'npx postreel fake --env .env': 'run',
  'node --env-file=.env app.js': 'run',
};

const blocks = readmeBlocks();

function program(heading: string): string {
  const found = blocks.find((block) => block.heading === heading && block.language === 'ts');
  if (!found) {
    throw new Error(`The README has no program under "${heading}".`);
  }
  return found.code;
}

let parent = '';
let tarball = '';
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'postreel-tarball-'));
  tarball = await pack(parent);
}, maxMs);
afterAll(() => rm(parent, { recursive: true, force: true }));

describe('the README', () => {
  it('has only the blocks that this test names', () => {
    const programs = blocks.filter(({ language }) => language === 'ts');
    expect(programs.map(({ heading }) => heading)).toEqual([
      'Send an email, track an event',
      'Make videos',
      'In a web page',
      'In tests',
    ]);
    const lines = blocks
      .filter(({ language }) => language !== 'ts')
      .flatMap(({ code }) => code.trim().split('\n'));
    expect(lines).toEqual(Object.keys(shellLines));
  });

  it('has a demo that ends successfully', async () => {
    const demo = start('npx tsx demo/index.ts', repository);
    onTestFinished(() => kill(demo));
    expect(await demo.ended, demo.printed()).toBe(0);
    expect(demo.printed()).toMatch(/sent to ann@example\.com[\s\S]*COMPLETED[\s\S]*saved .*\.mp4/);
    expect(demo.printed()).toContain('Next: `npx postreel fake`');
  });

  it(
    'leads from an empty folder to a fake, an email and three videos, and keeps the variables in .env',
    async () => {
      const folder = await mkdtemp(join(parent, 'project-'));
      const run = async (line: string) => {
        const { ended, printed } = start(line, folder);
        expect(await ended, printed()).toBe(0);
        return printed();
      };
      await run('npm init -y && npm pkg set type=module');
      await install(tarball, folder);
      await writeFile(join(folder, '.env'), 'KEPT=yes\n');
      const fake = start('npx postreel fake --env .env', folder);
      onTestFinished(() => kill(fake));
      const environment = () => parseEnv(readFileSync(join(folder, '.env'), 'utf8'));
      await expect.poll(environment, poll).toMatchObject({ KEPT: 'yes', MEDIA_API_KEY: /./ });

      await writeFile(join(folder, 'app.js'), program('Send an email, track an event'));
      expect(await run('node --env-file=.env app.js')).toBe('sent to ann@example.com\n');
      await writeFile(join(folder, 'app.js'), program('Make videos'));
      expect((await run('node --env-file=.env app.js')).match(/is saved/g)).toHaveLength(3);
      expect(await videosIn(folder)).toHaveLength(3);

      // The page in the README has the key and the address that the fake has printed.
      const { MESSAGING_PUBLIC_KEY, MESSAGING_BASE_URL = '' } = environment();
      const page = program('In a web page');
      expect(page).toContain(`'${MESSAGING_PUBLIC_KEY}', // MESSAGING_PUBLIC_KEY`);
      expect(page).toContain(new URL(MESSAGING_BASE_URL).pathname);
    },
    maxMs,
  );
});

describe('the program that sends an email', () => {
  const code = program('Send an email, track an event');

  it.each([
    ['a rejection', { status: 422 }, /^POST \/v1\/send was rejected \(422[^\n]*\n$/, 0],
    ['a lost response', { loseAnswer: true }, /It may have taken effect\.\n$/, 1],
  ])(
    'prints the message of %s, exits with 1, and sends no email twice',
    async (_, fault, message, emails) => {
      await inScene(tarball, async ({ folder, fake, run }) => {
        await writeFile(join(folder, 'app.js'), code);
        fake.messaging.fail('POST /v1/send', { ...fault, times: Infinity });
        const { code: exit, output } = await run('node --env-file=.env app.js');
        expect(exit, output).toBe(1);
        expect(output).toMatch(message);
        expect(fake.messaging.outbox).toHaveLength(emails);
      });
    },
  );
});

// The tracker is tested in browsers; outside a page it does nothing.
it('the program of a web page can be bundled and loaded', async () => {
  await inScene(tarball, async ({ folder, run }) => {
    await writeFile(join(folder, 'main.js'), program('In a web page'));
    const entryPoints = [join(folder, 'main.js')];
    const outfile = join(folder, 'bundle.mjs');
    await build({ entryPoints, outfile, bundle: true, format: 'esm', platform: 'browser' });
    expect(await run('node bundle.mjs')).toEqual({ code: 0, output: '' });
  });
});

describe('the server in the Express recipe', () => {
  const [app] = copiesIn('docs/recipes/express.md');
  const code = `${app?.code}\napp.listen(3000);\n`;
  const signUp = async (url: string) => {
    const body = new URLSearchParams({ email: 'cem@example.com' });
    const response = await fetch(`${url}/signup`, { method: 'POST', body });
    return [response.status, await response.text()];
  };

  it('sends the email, hides the status of the service from the visitor, and says whether the email may have been sent', async () => {
    await inScene(tarball, async ({ folder, fake, start }) => {
      await writeFile(join(folder, 'app.ts'), code);
      const server = start('npx tsx --env-file=.env app.ts');
      await expect.poll(server.printed, poll).toMatch(/listening on \d+\n/);
      const url = `http://127.0.0.1:${/listening on (\d+)/.exec(server.printed())?.[1]}`;
      expect(await signUp(url)).toEqual([202, '{"sent":1}']);
      fake.messaging.fail('POST /v1/send', { status: 401 });
      expect(await signUp(url)).toEqual([502, '{"mayBeSent":false}']);
      fake.messaging.fail('POST /v1/send', { loseAnswer: true });
      expect(await signUp(url)).toEqual([502, '{"mayBeSent":true}']);
      const recipients = fake.messaging.outbox.map(({ to }) => to);
      expect(recipients).toEqual(['cem@example.com', 'cem@example.com']);
    });
  });
});

describe('the program that makes videos', () => {
  const line = 'node --env-file=.env app.js';
  const code = program('Make videos');
  const savedIn = (output: string) => output.match(/is saved/g)?.length ?? 0;

  it.each([
    ['while its first call is under way', 2, ({ fake }: Scene) => fake.media.files.length === 1],
    [
      'while its videos are made',
      3,
      ({ folder, fake }: Scene) => {
        const journal = join(folder, 'jobs.jsonl');
        const fileId = fake.media.files[2]?.fileId;
        return fileId !== undefined && readFileSync(journal, 'utf8').includes(fileId);
      },
    ],
    [
      'after its first video is saved',
      3,
      (_: Scene, worker: Running) => savedIn(worker.printed()) > 0,
    ],
  ])(
    'killed %s and started again, submits no video twice and sends no mail',
    async (_, videos, isTime) => {
      await inScene(tarball, async (scene) => {
        const { folder, fake } = scene;
        await writeFile(join(folder, 'app.js'), code);
        if (videos === 2) {
          fake.media.fail('POST /v1/generate/video', { stall: true });
        }
        const worker = scene.start(line);
        await expect.poll(() => isTime(scene, worker), poll).toBe(true);
        await kill(worker);
        const early = savedIn(worker.printed());
        expect(early, worker.printed()).toBeLessThan(3);

        const { code: exit, output } = await scene.run(line);
        expect(exit, output).toBe(0);
        expect(fake.media.files).toHaveLength(3);
        expect(await videosIn(folder)).toHaveLength(videos);
        // The result of a call in flight is unknown: its video is named.
        expect(output.match(/OUTCOME_UNKNOWN/g)?.length ?? 0, output).toBe(3 - videos);
        expect(fake.messaging.requests).toEqual([]);
      });
    },
    maxMs,
  );

  it(
    'sends no mail if every job fails, and pays for no job again in the next run',
    async () => {
      await inScene(tarball, async ({ folder, fake, run }) => {
        await writeFile(join(folder, 'app.js'), code);
        for (let job = 0; job < 3; job++) {
          fake.media.outcome({ status: 'error', after: '5s' });
        }
        for (const time of ['first', 'second']) {
          const { code: exit, output } = await run(line);
          expect([exit, savedIn(output)], `${time}: ${output}`).toEqual([0, 0]);
          expect(output.match(/GenerationFailedError/g)?.length, output).toBeGreaterThan(0);
          expect(fake.media.files).toHaveLength(3);
        }
        expect(fake.messaging.requests).toEqual([]);
      });
    },
    maxMs,
  );
});

it('the tests pass', async () => {
  await inScene(tarball, async ({ folder, run }) => {
    await writeFile(join(folder, 'app.test.js'), program('In tests'));
    const { code, output } = await run('node --test');
    expect(code, output).toBe(0);
    expect(output).toMatch(/pass 2\n/);
  });
});

async function videosIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.mp4'));
}
