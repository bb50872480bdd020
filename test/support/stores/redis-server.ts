import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort } from './free-port.js';

/** The path of this machine's Redis, if it has one. */
export const redisPath = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'redis-server'))
  .find((path) => existsSync(path));

/** The reason why tests with Redis cannot run on this machine; `undefined` if they can. */
export const noRedis = redisPath === undefined ? 'redis-server is not installed' : undefined;

/** A real Redis for a test, on a separate port. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /**
   * Kills the server and starts it again on the same port, with an empty memory unless it keeps a
   * log.
   */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a Redis; with `keeps`, every write is on the disk before its answer. */
export async function startRedis({ keeps = false } = {}): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'postreel-redis-'));
  const port = await freePort();
  const log = keeps ? ['--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no'];
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...log];
  const begin = async () => {
    const child = spawn('redis-server', args, { stdio: 'ignore' });
    await waitForAnswer(port, child);
    return child;
  };
  let child = await begin();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    async restart() {
      await kill(child);
      child = await begin();
    },
    async stop() {
      await kill(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function kill(child: ChildProcess): Promise<void> {
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGKILL');
  return ended;
}

async function waitForAnswer(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 250; tries++) {
    if (child.exitCode !== null) {
      throw new Error(`redis-server ended with code ${child.exitCode}.`);
    }
    if (await isAlive(port)) {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  throw new Error('redis-server did not start within 10 s.');
}

function isAlive(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' }, () => socket.write('PING\r\n'));
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString().startsWith('+PONG'));
    });
    socket.once('error', () => resolve(false));
  });
}
