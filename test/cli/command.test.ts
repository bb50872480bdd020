import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { startFakeServer } from '../../src/testing/index.js';

const command = fileURLToPath(new URL('../../src/cli/index.ts', import.meta.url));

let child: ChildProcess | undefined;
afterEach(() => child?.kill('SIGKILL'));

/** Runs `postreel …` and reads what it prints until it ends, or has printed enough lines. */
async function run(args: string[], lines = Infinity): Promise<{ out: string; err: string }> {
  const started = spawn(process.execPath, ['--import', 'tsx', command, ...args]);
  child = started;
  const seen = { out: '', err: '' };
  started.stderr.on('data', (chunk: Buffer) => {
    seen.err += chunk.toString();
  });
  await new Promise<void>((resolve) => {
    started.once('close', () => resolve());
    started.stdout.on('data', (chunk: Buffer) => {
      seen.out += chunk.toString();
      if (seen.out.split('\n').length > lines) {
        resolve();
      }
    });
  });
  return seen;
}

it.each(['SIGINT', 'SIGTERM'] as const)(
  'postreel fake prints addresses and keys, serves them and stops on %s',
  async (signal) => {
    const { out } = await run(['fake', '--port', '0', '--speed', '60'], 5);
    const env = Object.fromEntries(
      out
        .trim()
        .split('\n')
        .map((line) => line.split('=')),
    ) as Record<string, string>; // as: NAME=value lines
    expect(Object.keys(env)).toEqual([
      'MESSAGING_BASE_URL',
      'MESSAGING_API_KEY',
      'MESSAGING_PUBLIC_KEY',
      'MEDIA_BASE_URL',
      'MEDIA_API_KEY',
    ]);
    const response = await fetch(`${env.MESSAGING_BASE_URL}/contacts`, {
      headers: { authorization: `Bearer ${env.MESSAGING_API_KEY}` },
    });
    expect(response.status).toBe(200);
    child?.kill(signal);
    expect(await once(child!, 'exit')).toEqual([0, null]);
  },
);

it.each([
  [[]],
  [['serve']],
  [['fake', '--port', 'many']],
  [['fake', '--speed', '0']],
  [['fake', '--colour']],
])('postreel %j explains itself', async (args) => {
  const { out, err } = await run(args);
  expect([out, child?.exitCode]).toEqual(['', 2]);
  expect(err).toContain('Usage: postreel fake [--port 4010] [--host 127.0.0.1] [--speed 60]');
});

it('postreel fake says in one line why it cannot start', async () => {
  const server = await startFakeServer();
  const port = new URL(server.url).port;
  const { err } = await run(['fake', '--port', port]);
  await server.close();
  expect(child?.exitCode).toBe(1);
  expect(err).toBe(`postreel fake: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`);
});
