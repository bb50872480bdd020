import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode } from './file-system.js';
import { isRunning, pidScope } from './pid-scope.js';

/** What the holder of a lock can check before it does something that cannot be undone. */
export interface HeldLock {
  /** False when others took the process for dead because it stalled for too long. */
  isHeld(): Promise<boolean>;
}

// Tasks under a lock take milliseconds: a claim as old as this belongs to nobody.
const staleMs = 60_000;

/**
 * Runs a task while no other process runs one for the same file. Each claim is a file of its own
 * in `<path>.lock/`; a process that finds no claim but its own holds the lock. Names are never
 * reused, so the claim of a dead process can be removed without harm to a live one.
 */
export async function withLock<T>(path: string, task: (lock: HeldLock) => Promise<T>): Promise<T> {
  const folder = `${path}.lock`;
  const name = `${pidScope()}-${process.pid}-${randomUUID()}`;
  const claim = join(folder, name);
  for (let round = 1; !(await isTaken(folder, name, claim)); round++) {
    await sleep(Math.random() * Math.min(25, 2 + round));
  }
  try {
    return await task({ isHeld: () => exists(claim) });
  } finally {
    await leave(folder, claim);
  }
}

async function isTaken(folder: string, name: string, claim: string): Promise<boolean> {
  // Look first: a claim that cannot win gets in the way of others.
  if ((await rivals(folder, name)).length > 0) {
    return false;
  }
  await mkdir(folder).catch(unlessCode('EEXIST'));
  const handle = await open(claim, 'wx').catch(unlessCode('ENOENT'));
  if (!handle) {
    return false; // the last holder has just removed the folder
  }
  await handle.close();
  if ((await rivals(folder, name)).length === 0) {
    return true;
  }
  await leave(folder, claim);
  return false;
}

/** The claims of other processes, once those of dead ones are removed. */
async function rivals(folder: string, own: string): Promise<string[]> {
  const names = (await readdir(folder).catch(unlessCode('ENOENT'))) ?? [];
  const living: string[] = [];
  for (const name of names) {
    if (name === own) {
      continue;
    }
    if (await isDead(folder, name)) {
      await rm(join(folder, name), { force: true });
    } else {
      living.push(name);
    }
  }
  return living;
}

async function isDead(folder: string, name: string): Promise<boolean> {
  const file = await stat(join(folder, name)).catch(unlessCode('ENOENT'));
  if (!file) {
    return true;
  }
  if (Date.now() - file.mtimeMs > staleMs) {
    return true;
  }
  const [scope, pid = ''] = name.split('-');
  if (scope !== pidScope()) {
    return false; // its number means nothing here: only its age tells
  }
  // In a container a process may come back with the number it died with.
  if (pid === String(process.pid)) {
    return file.mtimeMs < Date.now() - process.uptime() * 1000;
  }
  return !isRunning(Number(pid));
}

async function leave(folder: string, claim: string): Promise<void> {
  await rm(claim, { force: true });
  await rmdir(folder).catch(() => undefined); // others have their claims in it
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(unlessCode('ENOENT'))) !== undefined;
}

function unlessCode(code: string): (error: unknown) => undefined {
  return (error) => {
    if (!hasCode(error, code)) {
      throw error;
    }
    return undefined;
  };
}
