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
import { MessagingClient, type JournalStore } from 'postreel';
import { fileJournal, fileRateBudgetStore } from 'postreel/node';
import { createFakeMessaging } from 'postreel/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
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
/** Writes a value, whatever the current value is. */
const put = async (journal: JournalStore, key: string, value?: string) =>
  journal.swap(key, (await journal.get(key))?.value, value);
/** Waits until the file is rewritten without its obsolete lines. */
const isCompacted = async () => {
  await expect.poll(async () => (await stat(path)).size).toBeLessThan(1_000);
  const open = async () => (await readdir(folder)).filter((name) => /draft|lock/.test(name));
  await expect.poll(open).toEqual([]);
};

it.each([fileJournal, fileRateBudgetStore])('%o refuses a path that was never set', (create) => {
  for (const missing of [undefined, '', null]) {
    expect(() => create(missing as unknown as string)).toThrow(
      expect.objectContaining({
        name: 'ConfigurationError',
        message: `\`${create.name}()\` needs the path of a file, but the path is empty or not a string. Check that its variable is set.`,
      }),
    );
  }
});

const large = 'x'.repeat(1_200_000);

describe('a journal in a file', () => {
  it('is empty before the first write', async () => {
    expect(await all()).toEqual({});
  });

  it('has a write in the file when its promise resolves', async () => {
    await fileJournal(path).swap('a', undefined, '1');
    expect(await readFile(path, 'utf8')).toMatch(/\n\["swap","a",null,"1",\d+\]\n$/);
  });

  it('keeps the order of writes that are made at the same time', async () => {
    const journal = fileJournal(path);
    const values = Array.from({ length: 200 }, (_, index) => String(index));
    const currentValue = await Promise.all(
      values.map((value, index) => journal.swap('a', values[index - 1], value)),
    );
    expect(currentValue.at(-1)).toBe('199');
    expect(await all()).toEqual({ a: '199' });
  });

  it('sees the writes and the compaction of another instance', async () => {
    const [one, other] = [fileJournal(path), fileJournal(path)];
    await put(one, 'a', '1');
    expect(await other.get('a')).toMatchObject({ key: 'a', value: '1' });
    await put(one, 'big', large);
    await put(fileJournal(path), 'big');
    await put(one, 'b', '2');
    await isCompacted();
    expect(await other.list('')).toMatchObject([
      { key: 'a', value: '1' },
      { key: 'b', value: '2' },
    ]);
  });

  it('keeps the ages of its entries when it is compacted', async () => {
    const at = Date.now() - 3_600_000;
    await writeFile(path, `["file","old"]\n["swap","a",null,"1",${at}]\n`);
    await put(fileJournal(path), 'big', large);
    await put(fileJournal(path), 'big');
    await isCompacted();
    const { ageMs = 0 } = (await fileJournal(path).get('a')) ?? {};
    expect(ageMs).toBeGreaterThanOrEqual(3_600_000);
  });

  it('creates its folder, and leaves no other file in it', async () => {
    const deep = join(folder, 'data', 'today');
    await put(fileJournal(join(deep, 'jobs.jsonl')), 'a', '1');
    expect(await readdir(deep)).toEqual(['jobs.jsonl']);
  });

  it('stays the same file after the working directory has changed', async () => {
    const [here, there] = [join(folder, 'here'), join(folder, 'there')];
    await Promise.all([here, there].map((at) => mkdir(at)));
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(here);
    const journal = fileJournal('jobs.jsonl');
    cwd.mockReturnValue(there);
    await put(journal, 'a', '1');
    cwd.mockRestore();
    expect(await readdir(there)).toEqual([]);
    expect(await all(join(here, 'jobs.jsonl'))).toEqual({ a: '1' });
  });

  it('rejects a call if its relative path could mean two files, and names both', async () => {
    const [here, there] = [join(folder, 'here'), join(folder, 'there')];
    await Promise.all([here, there].map((at) => mkdir(at)));
    await put(fileJournal(join(there, 'jobs.jsonl')), 'a', '1');
    const cwd = vi.spyOn(process, 'cwd').mockReturnValue(here);
    const journal = fileJournal('jobs.jsonl');
    cwd.mockReturnValue(there);
    const fake = createFakeMessaging();
    const messaging = new MessagingClient({ ...fake.options, journal });
    const mail = { from: 'a@example.com', to: 'b@example.com', subject: 'Hi', body: 'Hi' };
    for (const once of ['a', 'b']) {
      const error = await messaging.send(mail, { once }).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ name: 'ConfigurationError', outcome: 'not-sent' });
      expect(String(error)).toContain(join(here, 'jobs.jsonl'));
      expect(String(error)).toContain(join(there, 'jobs.jsonl'));
    }
    cwd.mockRestore();
    expect(fake.requests).toEqual([]);
  });

  it('is readable by its owner only', async () => {
    await put(fileJournal(path), 'a', '1');
    expect((await stat(path)).mode & 0o077).toBe(0);
  });

  it('rejects if it cannot write, and writes again once it can', async () => {
    const journal = fileJournal(join(path, 'jobs.jsonl'));
    await writeFile(path, 'a file where a folder should be');
    await expect(journal.swap('a', undefined, '1')).rejects.toThrow('jobs.jsonl');
    await rm(path);
    await journal.swap('b', undefined, '2');
    expect(await all(join(path, 'jobs.jsonl'))).toEqual({ b: '2' });
  });
});

describe('a journal behind symbolic links', () => {
  const wins = async (paths: readonly string[]) => {
    const journals = paths.map((at) => fileJournal(at));
    const keys = Array.from({ length: 20 }, (_, index) => `key ${index}`);
    const values = await Promise.all(
      journals.flatMap((journal, one) =>
        keys.map((key) => journal.swap(key, undefined, String(one))),
      ),
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
  ])('gives each key to one client, by its path and by %s', async (_, link) => {
    const other = await link();
    expect(new Set(await wins([path, other])).size).toBe(20);
    expect(await all(other)).toEqual(await all());
  });

  it('is rewritten behind its link, which stays a link', async () => {
    await symlink('jobs.jsonl', join(folder, 'link'));
    const journal = fileJournal(join(folder, 'link'));
    await put(journal, 'a', large);
    await put(fileJournal(join(folder, 'link')), 'a', '1');
    await isCompacted();
    expect(await readlink(join(folder, 'link'))).toBe('jobs.jsonl');
    expect(await all()).toEqual({ a: '1' });
  });
});

describe('a journal that a crash has truncated', () => {
  const values = fc.array(fc.string({ unit: 'grapheme', maxLength: 8 }), { maxLength: 8 });

  it('keeps every complete line wherever it was cut, and accepts new writes', async () => {
    await fc.assert(
      fc.asyncProperty(values, fc.nat(), async (written, cut) => {
        const lines = written.map((value, key) => ['swap', `${key}`, null, value, 1]);
        const text = [['file', 'id'], ...lines].map((line) => `${JSON.stringify(line)}\n`).join('');
        const bytes = Buffer.from(text);
        const left = bytes.subarray(0, cut % (bytes.length + 1));
        await writeFile(path, left);
        const whole = Math.max(0, left.toString('utf8').split('\n').length - 2);
        const expected = Object.fromEntries(written.slice(0, whole).entries());
        expect(await all()).toEqual(expected);
        await fileJournal(path).swap('next', undefined, '1');
        // A last line that lacks only its newline becomes complete with the next write.
        expect(await all()).toMatchObject({ ...expected, next: '1' });
        expect(Object.keys(await all()).length).toBeLessThanOrEqual(whole + 2);
      }),
      { numRuns: 60 },
    );
  });

  it('skips lines that it did not write', async () => {
    const strange = ['', 'null', '[]', '["swap","a"]', '{"swap":1}', '["other","a","b"]', '\u0000'];
    await appendFile(path, `${strange.join('\n')}\n["swap","a",null,"1",1]\n["sw`);
    expect(await all()).toEqual({ a: '1' });
  });
});

describe('a journal of an older version', () => {
  it.each([
    ['a claim', '["claim","job/1","{}"]'],
    ['a fact', '["put","job/1/accepted","{}"]'],
    ['a removed fact', '["delete","job/1/accepted"]'],
  ])('with %s is rejected and left unchanged, and the error says what to do', async (_, line) => {
    await writeFile(path, `["file","old"]\n${line}\n`);
    const before = await readFile(path, 'utf8');
    const journal = fileJournal(path);
    const sentence = /older version of postreel\. Let that version finish .* then delete the file/;
    await expect(journal.get('a')).rejects.toThrow(sentence);
    await expect(journal.swap('a', undefined, '1')).rejects.toThrow(sentence);
    expect(await readFile(path, 'utf8')).toBe(before);
    const fake = createFakeMessaging();
    const messaging = new MessagingClient({ ...fake.options, journal });
    const mail = { from: 'a@example.com', to: 'b@example.com', subject: 'Hi', body: 'Hi' };
    await expect(messaging.send(mail, { once: 'a' })).rejects.toMatchObject({
      name: 'ConfigurationError',
      code: 'JOURNAL_FORMAT',
      outcome: 'not-sent',
    });
    expect(fake.requests).toEqual([]);
  });
});
