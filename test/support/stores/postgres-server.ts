import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { chownSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { freePort } from './free-port.js';

const folders = existsSync('/usr/lib/postgresql')
  ? readdirSync('/usr/lib/postgresql').map((version) => `/usr/lib/postgresql/${version}/bin`)
  : [];
/** The folder of this machine's Postgres, if it has one. */
export const postgresPath = [...folders, '/usr/local/bin', '/usr/bin'].find(
  (folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')),
);

/** The user who runs the server: Postgres refuses to run as root. */
const owner = ownerOf();

/**
 * The reason why tests with a real Postgres cannot run on this machine; `undefined` if they can.
 */
export const noPostgres =
  postgresPath === undefined
    ? 'PostgreSQL is not installed'
    : owner === undefined
      ? 'PostgreSQL refuses root, and there is no user postgres or nobody'
      : undefined;

/** A real Postgres for a test, on a separate port. */
export interface PostgresServer {
  readonly url: string;
  /** Ends every connection at once and starts the server again. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a Postgres with an empty database. */
export async function startPostgres(): Promise<PostgresServer> {
  if (postgresPath === undefined || owner === undefined) {
    throw new Error(noPostgres);
  }
  const folder = await mkdtemp(join(tmpdir(), 'postreel-postgres-'));
  chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, 'data');
  const init = ['-D', data, '-U', 'postreel', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
  await promisify(execFile)(join(postgresPath, 'initdb'), init, { ...owner, cwd: folder });
  const port = await freePort();
  const url = `postgres://postreel@127.0.0.1:${port}/postgres`;
  const sets = ['listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`];
  const args = ['-D', data, '-p', `${port}`, ...sets.flatMap((set) => ['-c', set])];
  const begin = async () => {
    const child = spawn(join(postgresPath, 'postgres'), args, {
      ...owner,
      cwd: folder,
      stdio: 'ignore',
    });
    await waitForAnswer(url, child);
    return child;
  };
  let child = await begin();
  return {
    url,
    async restart() {
      await end(child);
      child = await begin();
    },
    async stop() {
      await end(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

// SIGQUIT is an immediate shutdown: like a crash, but it also ends the child processes.
function end(child: ChildProcess): Promise<void> {
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGQUIT');
  return ended;
}

async function waitForAnswer(url: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 250; tries++) {
    if (child.exitCode !== null) {
      throw new Error(`postgres ended with code ${child.exitCode}.`);
    }
    const client = new Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
  }
  throw new Error('postgres did not start within 10 s.');
}

function ownerOf(): { uid: number; gid: number } | undefined {
  const { getuid, getgid } = process;
  if (!getuid || !getgid) {
    return undefined;
  }
  if (getuid() !== 0) {
    return { uid: getuid(), gid: getgid() };
  }
  const users = existsSync('/etc/passwd') ? readFileSync('/etc/passwd', 'utf8').split('\n') : [];
  const fields = ['postgres', 'nobody']
    .map((name) => users.find((line) => line.startsWith(`${name}:`)))
    .find((line) => line !== undefined)
    ?.split(':');
  return fields && { uid: Number(fields[2]), gid: Number(fields[3]) };
}
