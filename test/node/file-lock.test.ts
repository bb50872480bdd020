import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { withLock } from '../../src/node/file-lock.js';
import { nameOf, pidScope } from '../../src/node/pid-scope.js';

let folder = '';
let path = '';
const here = pidScope();
const elsewhere = nameOf({ hostname: 'worker', bootId: 'other', pidNamespace: 'pid:[1]' });
// The numbers of processes end far below.
const nobody = 2 ** 30;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-lock-'));
  path = join(folder, 'file');
});
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

/** Leaves the claim of another process behind. */
async function claim(name: string, ageMs = 0): Promise<string> {
  const file = join(`${path}.lock`, name);
  await mkdir(`${path}.lock`, { recursive: true });
  await writeFile(file, '');
  const at = new Date(Date.now() - ageMs);
  await utimes(file, at, at);
  return file;
}

/** Nobody gets the lock before this claim is gone. */
async function expectToWait(file: string): Promise<void> {
  let isDone = false;
  const waiting = withLock(path, () => {
    isDone = true;
    return Promise.resolve();
  });
  await sleep(100);
  expect(isDone).toBe(false);
  await rm(file);
  await waiting;
}

describe('a lock between processes', () => {
  it('lets one at a time do its work', async () => {
    let inside = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++inside);
      await sleep(1);
      inside--;
    };
    await Promise.all(Array.from({ length: 30 }, () => withLock(path, work)));
    expect(most).toBe(1);
  });

  it('leaves nothing behind, also when the work fails', async () => {
    const failing = withLock(path, () => Promise.reject(new Error('It broke.')));
    await expect(failing).rejects.toThrow('It broke.');
    expect(await readdir(folder)).toEqual([]);
  });

  it('is taken over from a process that is dead', async () => {
    await claim(`${here}-${nobody}-a`);
    expect(await withLock(path, () => Promise.resolve('done'))).toBe('done');
  });

  it('is taken over from an earlier process with the same number', async () => {
    await claim(`${here}-${process.pid}-a`, process.uptime() * 1000 + 5_000);
    expect(await withLock(path, () => Promise.resolve('done'))).toBe('done');
  });

  it.each([
    ['a process that runs', `${here}-${process.ppid}-a`],
    ['another machine or container', `${elsewhere}-${nobody}-a`],
  ])('is left to %s', async (_, name) => {
    await expectToWait(await claim(name));
  });

  it.each([50_000, -50_000])('is left to its holder when the clock is set by %i ms', async (ms) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms });
    vi.spyOn(process, 'uptime').mockReturnValue(1);
    await expectToWait(await claim(`${here}-${process.pid}-a`, Math.max(0, ms)));
  });

  it('is taken over from anybody after a minute', async () => {
    await claim(`${elsewhere}-${nobody}-a`, 61_000);
    await claim(`${here}-${process.ppid}-a`, 61_000);
    expect(await withLock(path, () => Promise.resolve('done'))).toBe('done');
  });

  it('tells its holder when others took it over', async () => {
    await withLock(path, async (lock) => {
      expect(await lock.isHeld()).toBe(true);
      await rm(`${path}.lock`, { recursive: true });
      expect(await lock.isHeld()).toBe(false);
    });
  });
});
