import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createClock, startFakeServer, type FakeServer } from 'postreel/testing';
import { furnish } from './furnished-project.js';

/** How a script of its own process ended. */
export interface ScriptEnd {
  /** `null` when it was stopped: it took too long. */
  readonly code: number | null;
  /** All that it printed. */
  readonly output: string;
}

/** How long a script may take. */
export const maxMs = 90_000;

const atOnce = 2;
// The same pace as in fast-timers.mjs.
const speed = 60;

/**
 * Runs scripts, a few at a time and each with fakes and in a folder of its own; the ends come in
 * their order.
 */
export function runAll(commands: readonly (readonly string[])[]): Promise<ScriptEnd>[] {
  const waiting: (() => void)[] = [];
  let free = atOnce;
  const runInTurn = async (command: readonly string[]) => {
    if (free === 0) {
      await new Promise<void>((start) => waiting.push(start));
    }
    free -= 1;
    try {
      return await run(command);
    } finally {
      free += 1;
      waiting.shift()?.();
    }
  };
  return commands.map((command) => {
    const end = runInTurn(command);
    end.catch(noop);
    return end;
  });
}

function run(command: readonly string[]): Promise<ScriptEnd> {
  return withServices((runHere) => runHere(command));
}

// The file that the documents import.
const people = 'E-Mail,First Name,Notes,City\nzoe@example.com,Zoé,x,Paris\nno address,Bo,,Rome\n';

/** Runs scripts with fast timers in one folder, against fakes whose time runs as fast. */
export async function withServices<Result>(
  work: (
    run: (command: readonly string[], kill?: AbortSignal) => Promise<ScriptEnd>,
    fake: FakeServer,
    folder: string,
  ) => Promise<Result>,
): Promise<Result> {
  const clock = createClock({ mode: 'real', speed });
  const fake = await startFakeServer({ messaging: { clock }, media: { clock } });
  furnish(fake.messaging);
  // Inside the repository, where `postreel` means this package.
  await mkdir('test/.tmp', { recursive: true });
  const folder = resolve(await mkdtemp('test/.tmp/script-'));
  await writeFile(join(folder, 'people.csv'), people);
  const env = { ...environmentOf(fake), TMPDIR: folder };
  try {
    return await work(
      (command, kill) => execute(command, { cwd: folder, env, kill }),
      fake,
      folder,
    );
  } finally {
    await fake.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function environmentOf(fake: FakeServer): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    // The examples shall run with the built package, and not with the sources.
    TSX_TSCONFIG_PATH: resolve('tsconfig.base.json'),
    MESSAGING_BASE_URL: fake.messagingUrl,
    MESSAGING_API_KEY: fake.messaging.secretKey,
    MEDIA_BASE_URL: fake.mediaUrl,
    MEDIA_API_KEY: fake.media.apiKey,
    WEBHOOK_SECRET: 'the secret of the tests',
    OPT_IN_SECRET: 'the secret of the tests',
    UNSUBSCRIBE_SECRET: 'the secret of the tests',
  };
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

function noop(): void {
  // A script that could not run is reported where its end is awaited.
}
