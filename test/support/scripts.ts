import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createClock, startFakeServer, type FakeServer } from 'postreel/testing';
import { furnish } from './furnished-project.js';

/** The end of a script that ran in a separate process. */
export interface ScriptEnd {
  /** `null` when it was stopped: it took too long. */
  readonly code: number | null;
  /** All that it printed. */
  readonly output: string;
}

/** How long a script may take. */
export const maxMs = 90_000;

// The same pace as in fast-timers.mjs.
const speed = 60;

// The file that the documents import.
const people = 'E-Mail,First Name,Notes,City\nzoe@example.com,Zoé,x,Paris\nno address,Bo,,Rome\n';

type Run = (command: readonly string[], kill?: AbortSignal) => Promise<ScriptEnd>;

/** Runs scripts with fast timers in one folder, against fakes whose time runs as fast. */
export async function withServices<Result>(
  work: (run: Run, fake: FakeServer, folder: string) => Promise<Result>,
): Promise<Result> {
  const clock = createClock({ mode: 'real', speed });
  const fake = await startFakeServer({ messaging: { clock }, media: { clock } });
  furnish(fake.messaging);
  const addresses = {
    MESSAGING_BASE_URL: fake.messagingUrl,
    MESSAGING_API_KEY: fake.messaging.secretKey,
    MEDIA_BASE_URL: fake.mediaUrl,
    MEDIA_API_KEY: fake.media.apiKey,
  };
  try {
    return await inFolder(addresses, (run, folder) => work(run, fake, folder));
  } finally {
    await fake.close();
  }
}

/** Runs scripts with fast timers in one folder, with the addresses and keys of fakes. */
export async function inFolder<Result>(
  addresses: NodeJS.ProcessEnv,
  work: (run: Run, folder: string) => Promise<Result>,
): Promise<Result> {
  // Inside the repository, where `postreel` means this package.
  await mkdir('test/.tmp', { recursive: true });
  const folder = resolve(await mkdtemp('test/.tmp/script-'));
  await writeFile(join(folder, 'people.csv'), people);
  const env = {
    PATH: process.env['PATH'],
    // The examples shall run with the built package, and not with the sources.
    TSX_TSCONFIG_PATH: resolve('tsconfig.base.json'),
    TMPDIR: folder,
    WEBHOOK_SECRET: 'the secret of the tests',
    OPT_IN_SECRET: 'the secret of the tests',
    UNSUBSCRIBE_SECRET: 'the secret of the tests',
    ...addresses,
  };
  try {
    return await work((command, kill) => execute(command, { cwd: folder, env, kill }), folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function execute(
  command: readonly string[],
  { kill, ...place }: { cwd: string; env: NodeJS.ProcessEnv; kill: AbortSignal | undefined },
): Promise<ScriptEnd> {
  const preloaded = ['fast-timers.mjs', 'short-servers.mjs'].flatMap((file) => [
    '--import',
    resolve('test/support/node', file),
  ]);
  const child = spawn(process.execPath, [...preloaded, ...command], {
    ...place,
    timeout: maxMs,
    killSignal: 'SIGKILL',
  });
  kill?.addEventListener('abort', () => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}
