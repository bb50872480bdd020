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
// When this process began, by a clock that may be set later.
const startedAt = processStart();

/**
 * Runs a task while no other process runs one for the same file. Each claim is a file of its own
 * in `<path>.lock/`; a process that finds no claim but its own holds the lock. A name is never used
 * twice, not even by one process: so a claim that was found dead can be removed without harm to a
 * live one, however long the disk takes.
 */
export async function withLock<T>(path: string, task: (lock: HeldLock) => Promise<T>): Promise<T> {
  const folder = `${path}.lock`;
  const claim = await taken(folder);
  try {
    return await task({ isHeld: () => exists(claim) });
  } finally {
    await leave(folder, claim);
  }
}

/** The claim that took the lock. */
async function taken(folder: string): Promise<string> {
  for (let round = 1; ; round++) {
    const name = `${pidScope()}-${process.pid}-${randomUUID()}`;
    if (await isTaken(folder, name)) {
      return join(folder, name);
    }
    await sleep(Math.random() * Math.min(25, 2 + round));
  }
}

async function isTaken(folder: string, name: string): Promise<boolean> {
  // Look first: a claim that cannot win gets in the way of others.
  if (await hasRivals(folder, name)) {
    return false;
  }
  const claim = join(folder, name);
  await mkdir(folder).catch(unlessCode('EEXIST'));
  const handle = await open(claim, 'wx').catch(unlessCode('ENOENT'));
  if (!handle) {
    return false; // the last holder has just removed the folder
  }
  let isAlone = false;
  try {
    await handle.close();
    isAlone = !(await hasRivals(folder, name));
  } finally {
    if (!isAlone) {
      await leave(folder, claim);
    }
  }
  return isAlone;
}

/** Is there a claim of another process that lives? Those of dead ones are removed. */
async function hasRivals(folder: string, own: string): Promise<boolean> {
  const names = (await readdir(folder).catch(unlessCode('ENOENT'))) ?? [];
  for (const name of names.filter((name) => name !== own)) {
    const claim = join(folder, name);
    const file = await stat(claim).catch(unlessCode('ENOENT'));
    if (file && !isDead(name, file.mtimeMs)) {
      return true;
    }
    await rm(claim, { force: true });
  }
  return false;
}

function isDead(name: string, claimedAt: number): boolean {
  if (Date.now() - claimedAt > staleMs) {
    return true;
  }
  const [scope, pid = ''] = name.split('-');
  if (scope !== pidScope()) {
    return false; // its number means nothing here: only its age tells
  }
  // In a container a process may come back with the number it died with.
  if (pid === String(process.pid)) {
    return claimedAt < Math.min(startedAt, processStart());
  }
  return !isRunning(Number(pid));
}

function processStart(): number {
  return Date.now() - process.uptime() * 1000;
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
