import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileJournal } from 'postreel/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nameOf, pidScope } from '../../../src/node/pid-scope.js';
import { useRecordedDisk } from '../../support/node/recorded-disk.js';

const disk = useRecordedDisk();

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-compaction-'));
  path = join(folder, 'jobs.jsonl');
});
afterEach(() => rm(folder, { recursive: true }));

const lineOf = (...parts: unknown[]) => `${JSON.stringify(parts)}\n`;
const swapOf = (key: string, value: string) => lineOf('swap', key, null, value, Date.now());
const large = 'x'.repeat(1_200_000);
const firstLine = async () => (await readFile(path, 'utf8')).split('\n')[0];
const keys = async () => (await fileJournal(path).list('')).map(({ key }) => key);
/** Waits until a draft was written and then either renamed to the journal or deleted. */
async function waitForCompaction(): Promise<void> {
  await expect.poll(() => disk.changes).toContain('sync jobs.jsonl.*.draft');
  await expect.poll(() => readdir(folder)).toEqual(['jobs.jsonl']);
}

/** A file that is mostly obsolete once its `large` entry is removed. */
const write = (...more: string[]) =>
  writeFile(path, [lineOf('file', 'old'), swapOf('large', large), ...more].join(''));

describe('the compaction of a journal', () => {
  it('lets calls continue, and keeps their writes', async () => {
    await write(swapOf('a', '1'));
    const [journal, other] = [fileJournal(path), fileJournal(path)];
    disk.before('sync jobs.jsonl.*.draft', async () => {
      expect(await journal.swap('b', undefined, 'own')).toBe('own');
      expect(await other.swap('c', undefined, 'other')).toBe('other');
      expect(await other.swap('a', '1', '2')).toBe('2');
      expect(await journal.get('c')).toMatchObject({ value: 'other' });
    });
    await journal.swap('large', large, undefined);
    await waitForCompaction();
    expect((await stat(path)).size).toBeLessThan(1_000);
    expect(await firstLine()).toMatch(/^\["file","[0-9a-f-]{36}"\]$/);
    for (const one of [journal, other, fileJournal(path)]) {
      expect(await one.list('')).toMatchObject([
        { key: 'a', value: '2' },
        { key: 'b', value: 'own' },
        { key: 'c', value: 'other' },
      ]);
    }
    await journal.swap('d', undefined, '1');
    expect(await keys()).toEqual(['a', 'b', 'c', 'd']);
  });

  it.each([
    ['another file', lineOf('file', 'new') + swapOf('b', 'other')],
    ['an older copy of the same file', lineOf('file', 'old') + swapOf('b', 'other')],
  ])('ends if the journal was replaced by %s', async (_, content) => {
    await write();
    disk.before('sync jobs.jsonl.*.draft', () => writeFile(path, content));
    await fileJournal(path).swap('large', large, undefined);
    await waitForCompaction();
    expect(await readFile(path, 'utf8')).toBe(content);
  });

  it('does not run at the first write of a process while most of the file is current', async () => {
    await write(...Array.from({ length: 9 }, (_, index) => swapOf(`more ${index}`, large)));
    const before = (await stat(path)).ino;
    for (const key of ['a', 'b', 'c']) {
      await fileJournal(path).swap(key, undefined, '1');
    }
    expect((await stat(path)).ino).toBe(before);
    expect(disk.changes.filter((change) => change.includes('draft'))).toEqual([]);
  });

  it('removes the drafts of dead processes, and keeps an old `.tmp` file', async () => {
    await write();
    await writeFile(`${path}.${pidScope()}-${2 ** 30}-1-a.draft`, swapOf('ghost', '1'));
    await writeFile(`${path}.tmp`, swapOf('ghost', '1'));
    await fileJournal(path).swap('large', large, undefined);
    await expect.poll(() => readdir(folder)).toHaveLength(2);
    expect(await readdir(folder)).toEqual(['jobs.jsonl', 'jobs.jsonl.tmp']);
    expect(await keys()).toEqual([]);
  });

  it.each([
    ['of this machine', `${pidScope()}-${process.ppid}-1-a`],
    ['of another container', `${nameOf({ hostname: 'b', bootId: 'b', pidNamespace: 'b' })}-7-1-a`],
  ])('is left to a process %s that is writing a draft', async (_, owner) => {
    await write();
    await writeFile(`${path}.${owner}.draft`, '');
    await fileJournal(path).swap('large', large, undefined);
    await fileJournal(path).swap('a', undefined, '1');
    expect(await readdir(folder)).toEqual(['jobs.jsonl', `jobs.jsonl.${owner}.draft`]);
    expect(await firstLine()).toBe('["file","old"]');
  });
});

describe('a long journal', () => {
  it('is read in chunks, with lines of any length', async () => {
    const values = [1, 900_000, 3, 2_500_000, 40, 1_000_000].map((length) => '視'.repeat(length));
    const lines = values.map((value, index) => swapOf(`${index}`, value));
    await writeFile(path, [lineOf('file', 'old'), ...lines, '["swap","torn'].join(''));
    const items = await fileJournal(path).list('');
    expect(items.map(({ value }) => value)).toEqual(values);
    await fileJournal(path).swap('next', undefined, '1');
    expect(await keys()).toEqual(['0', '1', '2', '3', '4', '5', 'next']);
  });
});
