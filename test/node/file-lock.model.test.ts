import { basename, dirname } from 'node:path';
import { expect, it, vi } from 'vitest';
import { pidScope } from '../../src/node/pid-scope.js';
import fc, { runs, type Scheduler } from '../support/property.js';

const disk = vi.hoisted(() => ({
  /** The names in each folder, with the modification times of the files. */
  folders: new Map<string, Map<string, number>>(),
  turn: (): Promise<unknown> => Promise.resolve(),
  /** The number of folder reads that succeed before one fails. */
  readsLeft: Infinity,
}));

// Each operation waits for its turn, then happens atomically, as on a disk.
vi.mock('node:fs/promises', () => {
  const { folders } = disk;
  const failing = (code: string) => Object.assign(new Error(code), { code });
  const folderOf = (path: string) => {
    const folder = folders.get(path);
    if (!folder) {
      throw failing('ENOENT');
    }
    return folder;
  };
  const inTurn =
    <T>(work: (path: string) => T) =>
    async (path: string): Promise<T> => {
      await disk.turn();
      return work(path);
    };
  return {
    mkdir: inTurn((path) => {
      if (folders.has(path)) {
        throw failing('EEXIST');
      }
      folders.set(path, new Map());
    }),
    open: inTurn((path) => {
      folderOf(dirname(path)).set(basename(path), Date.now());
      return { close: inTurn(() => undefined) };
    }),
    readdir: inTurn((path) => {
      if (disk.readsLeft-- === 0) {
        throw failing('EMFILE');
      }
      return [...folderOf(path).keys()];
    }),
    rm: inTurn((path) => void folders.get(dirname(path))?.delete(basename(path))),
    rmdir: inTurn((path) => {
      if (folderOf(path).size > 0) {
        throw failing('ENOTEMPTY');
      }
      folders.delete(path);
    }),
    stat: inTurn((path) => {
      const mtimeMs = folderOf(dirname(path)).get(basename(path));
      if (mtimeMs === undefined) {
        throw failing('ENOENT');
      }
      return { mtimeMs };
    }),
  };
});
vi.mock('node:timers/promises', () => ({ setTimeout: () => disk.turn() }));

// The setup has already loaded the module with the real disk.
vi.resetModules();
const { withLock } = await import('../../src/node/file-lock.js');

/**
 * Runs tasks under one lock; the scheduler chooses the order of all disk operations. Returns how
 * many tasks ran at the same time at most, and how many finished.
 */
async function work(scheduler: Scheduler, workers: number) {
  let turns = 0;
  disk.turn = async () => {
    await scheduler.schedule(Promise.resolve());
    if (++turns > 5_000) {
      throw new Error('Nobody gets the lock.');
    }
  };
  let inside = 0;
  let most = 0;
  const task = async () => {
    most = Math.max(most, ++inside);
    await disk.turn();
    inside--;
  };
  const done = Promise.allSettled(Array.from({ length: workers }, () => withLock('file', task)));
  const results = await scheduler.waitFor(done);
  return { most, done: results.filter(({ status }) => status === 'fulfilled').length };
}

it('a lock admits one task at a time, in every order of disk operations', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.integer({ min: 2, max: 8 }),
      fc.boolean(),
      fc.option(fc.nat({ max: 30 })),
      async (scheduler, workers, isLeft, looks) => {
        disk.folders.clear();
        disk.readsLeft = looks ?? Infinity;
        if (isLeft) {
          // The claim of a dead process.
          disk.folders.set('file.lock', new Map([[`${pidScope()}-${2 ** 30}-a`, Date.now()]]));
        }
        const { most, done } = await work(scheduler, workers);
        expect(most).toBe(1);
        expect(done).toBe(disk.readsLeft < 0 ? workers - 1 : workers);
        expect(disk.folders.size).toBe(0);
      },
    ),
    { numRuns: runs(200) },
  );
});
