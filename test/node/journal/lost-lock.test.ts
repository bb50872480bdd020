import { appendFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileJournal } from 'postreel/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { useRecordedDisk } from '../../support/node/recorded-disk.js';

const disk = useRecordedDisk();

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-lost-lock-'));
  path = join(folder, 'jobs.jsonl');
});
afterEach(() => rm(folder, { recursive: true }));

const lineOf = (...parts: unknown[]) => `${JSON.stringify(parts)}\n`;
const swapOf = (key: string, value: string) => lineOf('swap', key, null, value, Date.now());
const large = 'x'.repeat(1_200_000);
/**
 * Stalls this process before the change until other processes take it for dead, then runs `others`.
 */
const stallBefore = (change: string, others: () => Promise<void>) =>
  disk.before(change, async () => {
    await rm(`${path}.lock`, { recursive: true });
    await others();
  });

describe('a process that stalled while it held the lock of a journal', () => {
  it('does not claim a key that another process claimed in the replaced file', async () => {
    stallBefore('sync jobs.jsonl', async () => {
      await rm(path);
      await writeFile(path, lineOf('file', 'new') + swapOf('a', 'other'));
    });
    expect(await fileJournal(path).swap('a', undefined, 'own')).toBe('other');
  });

  it('claims a key that has no other claim', async () => {
    stallBefore('sync jobs.jsonl', () => Promise.resolve());
    expect(await fileJournal(path).swap('a', undefined, 'own')).toBe('own');
  });

  it('repeats a write that went to a replaced file', async () => {
    stallBefore('sync jobs.jsonl', () => writeFile(path, ''));
    await fileJournal(path).swap('a', undefined, 'own');
    expect(await fileJournal(path).get('a')).toMatchObject({ value: 'own' });
  });

  it('does not replace a journal that others have written to', async () => {
    await writeFile(path, swapOf('a', large));
    const draft = 'sync jobs.jsonl.*.draft';
    // Lines written during the copy are added under the lock: there the process stalls.
    disk.before(draft, async () => {
      await fileJournal(path).swap('b', undefined, 'other');
      stallBefore(draft, () => appendFile(path, swapOf('c', 'other')));
    });
    await fileJournal(path).swap('a', large, undefined);
    const syncs = () => disk.changes.filter((change) => change === draft);
    await expect.poll(syncs).toHaveLength(2);
    await expect.poll(() => readdir(folder)).toEqual(['jobs.jsonl']);
    const keys = (await fileJournal(path).list('')).map(({ key }) => key);
    expect(keys).toEqual(['b', 'c']);
  });
});
