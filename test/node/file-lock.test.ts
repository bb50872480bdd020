import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { withLock } from '../../src/node/file-lock.js';
import { nameOf, pidScope, startToken } from '../../src/node/pid-scope.js';

let folder = '';
let path = '';
const here = pidScope();
const elsewhere = nameOf({ hostname: 'worker', bootId: 'other', pidNamespace: 'pid:[1]' });
// Far above any process number: such a process is never alive.
const deadPid = 2 ** 30;
const aDayMs = 86_400_000;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-lock-'));
  path = join(folder, 'file');
});
afterEach(async () => {
  vi.restoreAllMocks();
  skippedMs = 0;
  await rm(folder, { recursive: true });
});

let skippedMs = 0;
const now = performance.now.bind(performance);

/** Advances only the monotonic clock: the disk is a real one, and its times stay. */
function advanceClock(ms: number): void {
  skippedMs += ms;
  vi.spyOn(performance, 'now').mockImplementation(() => now() + skippedMs);
}

/** Writes the claim of another process into the folder. */
async function claim(name: string, ageMs = 0): Promise<string> {
  const file = join(`${path}.lock`, name);
  await mkdir(`${path}.lock`, { recursive: true });
  await writeFile(file, '');
  const at = new Date(Date.now() - ageMs);
  await utimes(file, at, at);
  return file;
}

/** Expects that no task gets the lock until this claim is removed. */
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
  it('admits one task at a time', async () => {
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

  it('leaves no file behind, also if the task fails', async () => {
    const failing = withLock(path, () => Promise.reject(new Error('It broke.')));
    await expect(failing).rejects.toThrow('It broke.');
    expect(await readdir(folder)).toEqual([]);
  });

  it('is taken over from a dead process', async () => {
    await claim(`${here}-${deadPid}-a`);
    expect(await withLock(path, () => Promise.resolve('done'))).toBe('done');
  });

  it('is taken over from an earlier process with the same number', async () => {
    await claim(`${here}-${process.pid}-12345-a`);
    const warn = vi.spyOn(process, 'emitWarning');
    expect(await withLock(path, () => Promise.resolve('done'))).toBe('done');
    expect(warn).not.toHaveBeenCalled(); // no task waited for a minute
  });

  it.each([
    ['of this process', process.pid, startToken()],
    ['of another running process', process.ppid, '1'],
  ])('is taken over from a dead worker thread %s', async (_, pid, start) => {
    await claim(`${here}-${pid}-${start}-t${deadPid}.1-a`);
    const warn = vi.spyOn(process, 'emitWarning');
    expect(await withLock(path, () => Promise.resolve('done'))).toBe('done');
    expect(warn).not.toHaveBeenCalled(); // no task waited for a minute
  });

  it.each([
    [
      'a running worker thread',
      `${here}-${process.pid}-${startToken()}-t${process.pid}.${startToken()}-a`,
    ],
    ['a running process', `${here}-${process.ppid}-a`],
    ['another machine or container', `${elsewhere}-${deadPid}-a`],
  ])('is not taken over from %s', async (_, name) => {
    await expectToWait(await claim(name));
  });

  it.each([-aDayMs, -50_000, 0, 50_000, aDayMs])(
    'is not taken over from a holder whose clock is %i ms behind',
    async (ms) => {
      await expectToWait(await claim(`${here}-${process.pid}-${startToken()}-a`, ms));
      await expectToWait(await claim(`${elsewhere}-${deadPid}-1-a`, ms));
    },
  );

  it.each([-aDayMs, 0, aDayMs])(
    'is taken over a minute after its claim was first seen, also from a clock %i ms behind',
    async (ms) => {
      await claim(`${elsewhere}-${deadPid}-1-a`, ms);
      await claim(`${here}-${process.ppid}-1-a`, ms);
      let isDone = false;
      const waiting = withLock(path, () => {
        isDone = true;
        return Promise.resolve();
      });
      await sleep(100);
      advanceClock(59_000);
      await sleep(100);
      expect(isDone).toBe(false);
      advanceClock(1_100);
      await waiting;
    },
  );

  it('warns its holder if another process took it over', async () => {
    await withLock(path, async (lock) => {
      expect(await lock.isHeld()).toBe(true);
      await rm(`${path}.lock`, { recursive: true });
      expect(await lock.isHeld()).toBe(false);
    });
  });
});
