import { mkdir, open, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../core/async.js';
import { hasCode } from './file-system.js';
import { isOwnerDead, createOwnerName } from './pid-scope.js';

/** Lets the holder of a lock check it before a step that cannot be undone. */
export interface HeldLock {
  /** False if this process stalled for too long and another process has taken its lock. */
  isHeld(): Promise<boolean>;
}

// Tasks under a lock take milliseconds: a claim seen for longer than this was left behind.
const staleMs = 60_000;

/**
 * Runs a task while no other process runs one for the same file. Each claim is a separate file in
 * `<path>.lock/`; a process that finds only its own claim holds the lock. A name is never used twice, not
 * even by one process: so a claim of a dead owner can be removed without harm to a live one, however long the
 * disk takes.
 */
export async function withLock<T>(path: string, task: (lock: HeldLock) => Promise<T>): Promise<T> {
  const folder = `${path}.lock`;
  const claim = await acquire(folder);
  try {
    return await task({ isHeld: () => exists(claim) });
  } finally {
    await release(folder, claim);
  }
}

/** The claim that took the lock. */
async function acquire(folder: string): Promise<string> {
  for (let round = 1; ; round++) {
    const name = createOwnerName();
    if (await tryAcquire(folder, name)) {
      return join(folder, name);
    }
    await sleep(Math.random() * Math.min(25, 2 + round));
  }
}

async function tryAcquire(folder: string, name: string): Promise<boolean> {
  // Check before creating a claim: a claim that cannot win hinders the others.
  if (await isContested(folder, name)) {
    return false;
  }
  const claim = join(folder, name);
  await mkdir(folder).catch(ignoreCode('EEXIST'));
  const handle = await open(claim, 'wx').catch(ignoreCode('ENOENT'));
  if (!handle) {
    return false; // the last holder has just removed the folder
  }
  let isAlone = false;
  try {
    await handle.close();
    isAlone = !(await isContested(folder, name));
  } finally {
    if (!isAlone) {
      await release(folder, claim);
    }
  }
  return isAlone;
}

/** True if another live holder has a claim. Removes the claims of dead processes and threads. */
async function isContested(folder: string, own: string): Promise<boolean> {
  const names = (await readdir(folder).catch(ignoreCode('ENOENT'))) ?? [];
  const seenAt = recordFirstSeen(folder, names);
  for (const name of names.filter((name) => name !== own)) {
    const isDead = isOwnerDead(name);
    if (!isDead && monotonicMs() - (seenAt.get(name) ?? 0) <= staleMs) {
      return true;
    }
    await rm(join(folder, name), { force: true });
    if (!isDead) {
      process.emitWarning(
        `The lock on ${folder.slice(0, -'.lock'.length)} was held for a minute, and this process takes it over: the holder is presumed dead. The holder ran in another container, on another machine, or in a thread or process that stalled.`,
        'PostreelWarning',
      );
    }
  }
  return false;
}

const seenByFolder = new Map<string, ReadonlyMap<string, number>>();

/**
 * When this process first saw each claim in a folder, by the monotonic clock. The time of a file may come
 * from the clock of another host or container, or from before the clock was set.
 */
function recordFirstSeen(folder: string, names: readonly string[]): ReadonlyMap<string, number> {
  const now = monotonicMs();
  const before = seenByFolder.get(folder);
  const seenAt = new Map(names.map((name) => [name, before?.get(name) ?? now]));
  seenByFolder.set(folder, seenAt);
  return seenAt;
}

async function release(folder: string, claim: string): Promise<void> {
  await rm(claim, { force: true });
  await rmdir(folder).catch(() => undefined); // the folder holds the claims of others
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(ignoreCode('ENOENT'))) !== undefined;
}

function ignoreCode(code: string): (error: unknown) => undefined {
  return (error) => {
    if (!hasCode(error, code)) {
      throw error;
    }
    return undefined;
  };
}
