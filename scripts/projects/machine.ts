import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How a command ended. */
export interface End {
  readonly isGood: boolean;
  readonly output: string;
}

export interface Place {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

const maxMs = 240_000;

/** Runs a command of a shell until it ends, at most four minutes. */
export async function run(command: string, place: Place): Promise<End> {
  const { child, output } = start(command, place);
  let late = '';
  const timer = setTimeout(() => {
    late = `\nstopped after ${maxMs / 1000} seconds`;
    stop(child);
  }, maxMs);
  const [code] = (await once(child, 'close')) as [number | null]; // of a child process
  clearTimeout(timer);
  return { isGood: code === 0 && late === '', output: output() + late };
}

/** Runs a command that serves on `$PORT`, and asks for a path of it. */
export async function visit(
  command: string,
  place: Place,
  ask: (url: string) => Promise<string>,
): Promise<End> {
  const port = await freePort();
  const env = { ...place.env, PORT: String(port) };
  const { child, output } = start(command, { ...place, env });
  const ended = once(child, 'close');
  try {
    const url = `http://127.0.0.1:${port}`;
    await listening(port, child);
    return { isGood: true, output: await ask(url) };
  } catch (error) {
    return { isGood: false, output: `${output()}\n${String(error)}` };
  } finally {
    stop(child);
    await ended;
  }
}

function start(command: string, { folder, env }: Place) {
  // A group of its own: whatever the command starts is stopped with it.
  const child = spawn(command, { shell: true, cwd: folder, env, detached: true });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
  return { child, output: () => Buffer.concat(chunks).toString() };
}

function stop({ pid }: ChildProcess): void {
  try {
    process.kill(-(pid ?? 0), 'SIGKILL');
  } catch {
    // It has ended.
  }
}

async function listening(port: number, child: ChildProcess): Promise<void> {
  const end = Date.now() + 60_000;
  while (Date.now() < end && child.exitCode === null) {
    const isThere = await fetch(`http://127.0.0.1:${port}/is-there`).then(
      () => true,
      () => false,
    );
    if (isThere) {
      return;
    }
    await sleep(100);
  }
  throw new Error(`Nothing listens on port ${port}.`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}
