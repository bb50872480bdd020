import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClock, startFakeServer, type FakeServer } from 'postreel/testing';
import { manifest, repository } from './installed.js';

const execute = promisify(execFile);
const speed = 60; // the same factor as in fast-timers.mjs

/** A code block of the README, with the heading above it. */
export interface Block {
  readonly heading: string;
  readonly language: string;
  readonly code: string;
}

export function readmeBlocks(): Block[] {
  const parts = readFileSync(join(repository, 'README.md'), 'utf8').split(/^## /m);
  return parts.flatMap((part) =>
    [...part.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(([, language = '', code = '']) => ({
      heading: part.split('\n', 1)[0] ?? '',
      language,
      code,
    })),
  );
}

/** Unpacks the tarball into a project, and links the packages that npm would download. */
export async function install(tarball: string, folder: string): Promise<void> {
  const modules = join(folder, 'node_modules');
  const target = join(modules, manifest.name);
  await mkdir(target, { recursive: true });
  await mkdir(join(modules, '.bin'));
  await execute('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  for (const name of [...Object.keys(manifest.dependencies), 'express', 'tsx']) {
    await symlink(join(repository, 'node_modules', name), join(modules, name));
  }
  await symlink('../postreel/dist/cli.js', join(modules, '.bin/postreel'));
  await symlink('../tsx/dist/cli.mjs', join(modules, '.bin/tsx'));
}

/** A running program, with its output so far. */
export interface Running {
  readonly child: ChildProcess;
  readonly printed: () => string;
  readonly ended: Promise<number | null>;
}

/** Starts a shell line in a separate process group. */
export function start(line: string, cwd: string, env: Record<string, string> = {}): Running {
  const { PATH, HOME } = process.env;
  const child = spawn('sh', ['-c', line], { cwd, detached: true, env: { PATH, HOME, ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const ended = once(child, 'close').then(([code]) => code as number | null); // as: Node's event
  return { child, printed: () => output, ended };
}

/** Ends a program and all processes that it has started. */
export async function kill({ child, ended }: Running): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    process.kill(-child.pid!, 'SIGKILL');
  }
  await ended;
}

/** A new folder with the package, and fakes of the services. */
export interface Scene {
  readonly folder: string;
  readonly fake: FakeServer;
  /** Starts a line with fast timers and the addresses of the fakes. */
  readonly start: (line: string) => Running;
  /** Runs a line to its end. */
  readonly run: (
    line: string,
  ) => Promise<{ readonly code: number | null; readonly output: string }>;
}

/** Sets up a scene in which a minute takes a second, and removes it after `work`. */
export async function inScene(
  tarball: string,
  work: (scene: Scene) => Promise<void>,
): Promise<void> {
  const clock = createClock({ mode: 'real', speed });
  let videos = 0;
  const durations = () => `${++videos}m` as const;
  const fake = await startFakeServer({ messaging: { clock }, media: { clock, durations } });
  const folder = await mkdtemp(join(tmpdir(), 'postreel-readme-'));
  const started: Running[] = [];
  const env = {
    NODE_OPTIONS: ['fast-timers.mjs', 'printed-port.mjs']
      .map((file) => `--import ${join(repository, 'test/support/node', file)}`)
      .join(' '),
    MESSAGING_BASE_URL: fake.messagingUrl,
    MESSAGING_API_KEY: fake.messaging.secretKey,
    MEDIA_BASE_URL: fake.mediaUrl,
    MEDIA_API_KEY: fake.media.apiKey,
  };
  const startHere = (line: string) => {
    const running = start(line, folder, env);
    started.push(running);
    return running;
  };
  try {
    await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
    await writeFile(join(folder, '.env'), '');
    await install(tarball, folder);
    await work({
      folder,
      fake,
      start: startHere,
      run: async (line) => {
        const { ended, printed } = startHere(line);
        return { code: await ended, output: printed() };
      },
    });
  } finally {
    await Promise.all(started.map(kill));
    await fake.close();
    await rm(folder, { recursive: true, force: true });
  }
}
