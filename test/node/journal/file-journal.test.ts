import {
  appendFile,
  mkdtemp,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileJournal } from 'postreel/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import fc from '../../support/property.js';

let folder = '';
let path = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-journal-'));
  path = join(folder, 'jobs.jsonl');
});
afterEach(() => rm(folder, { recursive: true }));

const all = async (at = path) =>
  Object.fromEntries((await fileJournal(at).list('')).map(({ key, value }) => [key, value]));
const lineOf = (...parts: string[]) => `${JSON.stringify(parts)}\n`;
const large = 'x'.repeat(1_200_000);

describe('a journal in a file', () => {
  it('is empty before the first write', async () => {
    expect(await all()).toEqual({});
  });

  it('has a write in the file when it resolves', async () => {
    await fileJournal(path).put('a', '1');
    expect((await readFile(path, 'utf8')).endsWith(lineOf('put', 'a', '1'))).toBe(true);
  });

  it('keeps the order of writes that come at once', async () => {
    const journal = fileJournal(path);
    await Promise.all(Array.from({ length: 200 }, (_, index) => journal.put('a', String(index))));
    expect(await all()).toEqual({ a: '199' });
  });

  it('sees what another one has written, and what it has rewritten', async () => {
    const [one, other] = [fileJournal(path), fileJournal(path)];
    await one.put('a', '1');
    expect(await other.get(['a'])).toEqual(new Map([['a', '1']]));
    await one.put('big', large);
    await fileJournal(path).delete(['big']);
    await one.put('b', '2');
    expect((await stat(path)).size).toBeLessThan(1_000);
    expect(await other.list('')).toEqual([
      { key: 'a', value: '1' },
      { key: 'b', value: '2' },
    ]);
  });

  it('makes its folder, and leaves nothing beside the file', async () => {
    const deep = join(folder, 'data', 'today');
    await fileJournal(join(deep, 'jobs.jsonl')).put('a', '1');
    expect(await readdir(deep)).toEqual(['jobs.jsonl']);
  });

  it('is for the eyes of its owner only', async () => {
    await fileJournal(path).put('a', '1');
    expect((await stat(path)).mode & 0o077).toBe(0);
  });

  it('rejects when it cannot write, and writes again when it can', async () => {
    const journal = fileJournal(join(path, 'jobs.jsonl'));
    await writeFile(path, 'a file where a folder should be');
    await expect(journal.put('a', '1')).rejects.toThrow('jobs.jsonl');
    await rm(path);
    await journal.put('b', '2');
    expect(await all(join(path, 'jobs.jsonl'))).toEqual({ b: '2' });
  });
});

describe('a journal that is reached through links', () => {
  const wins = async (paths: readonly string[]) => {
    const journals = paths.map((at) => fileJournal(at));
    const keys = Array.from({ length: 20 }, (_, index) => `key ${index}`);
    const values = await Promise.all(
      journals.flatMap((journal, one) => keys.map((key) => journal.putIfAbsent(key, String(one)))),
    );
    return values.map((value, index) => `${index % keys.length} ${value}`);
  };

  it.each([
    [
      'a link to the file',
      async () => {
        await writeFile(path, '');
        await symlink(path, join(folder, 'link'));
        return join(folder, 'link');
      },
    ],
    [
      'a link to a file that is not there yet',
      async () => {
        await symlink('jobs.jsonl', join(folder, 'link'));
        return join(folder, 'link');
      },
    ],
    [
      'a link to its folder',
      async () => {
        await mkdir(join(folder, 'data'));
        path = join(folder, 'data', 'jobs.jsonl');
        await symlink('data', join(folder, 'link'));
        return join(folder, 'link', 'jobs.jsonl');
      },
    ],
  ])('gives each key to one, by its path and by %s', async (_, link) => {
    const other = await link();
    expect(new Set(await wins([path, other])).size).toBe(20);
    expect(await all(other)).toEqual(await all());
  });

  it('is rewritten behind its link, which stays a link', async () => {
    await symlink('jobs.jsonl', join(folder, 'link'));
    const journal = fileJournal(join(folder, 'link'));
    await journal.put('a', large);
    await fileJournal(join(folder, 'link')).put('a', '1');
    expect((await stat(path)).size).toBeLessThan(1_000);
    expect(await readlink(join(folder, 'link'))).toBe('jobs.jsonl');
    expect(await all()).toEqual({ a: '1' });
  });
});

describe('a journal that a crash has torn', () => {
  const lines = fc.array(
    fc.tuple(fc.constantFrom('a', 'b', 'é'), fc.string({ unit: 'grapheme', maxLength: 8 })),
    { maxLength: 8 },
  );

  it('keeps every complete line, wherever it was cut, and goes on', async () => {
    await fc.assert(
      fc.asyncProperty(lines, fc.nat(), async (puts, cut) => {
        const bytes = Buffer.from(puts.map(([key, value]) => lineOf('put', key, value)).join(''));
        const left = bytes.subarray(0, cut % (bytes.length + 1));
        await writeFile(path, left);
        const whole = left.toString('utf8').split('\n').slice(0, -1).length;
        expect(await all()).toEqual(Object.fromEntries(puts.slice(0, whole)));
        await fileJournal(path).put('next', '1');
        expect(await all()).toMatchObject({ next: '1' });
      }),
      { numRuns: 60 },
    );
  });

  it('passes over lines that are none of its own', async () => {
    const strange = [
      '',
      'null',
      '[]',
      '["put","a"]',
      '{"put":1}',
      '["claim","a","b","c"]',
      '\u0000',
    ];
    await appendFile(path, `${strange.join('\n')}\n${lineOf('put', 'a', '1')}["pu`);
    expect(await all()).toEqual({ a: '1' });
  });
});
