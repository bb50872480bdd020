import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JournalEntry } from 'postreel';
import { fileJournal } from 'postreel/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { JournalState } from '../../../src/media/jobs/journal-state.js';
import { anyEntry, history } from '../../support/media/journal-entries.js';
import fc, { runs } from '../../support/property.js';

let folder = '';
let path = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-journal-'));
  path = join(folder, 'jobs.jsonl');
});
afterEach(() => rm(folder, { recursive: true }));

const intent = (id: string, content = 'Hello'): JournalEntry => ({
  type: 'intent',
  id,
  at: '2026-01-01T00:00:00.000Z',
  jobs: [{ content, voiceId: 'voice_1' }],
});
const accepted = (id: string, fileId: string): JournalEntry => ({
  type: 'accepted',
  id,
  jobs: [{ fileId, kind: 'audio' }],
});
const settled = (fileId: string): JournalEntry => ({ type: 'settled', fileId, status: 'success' });
const lineOf = (entry: JournalEntry) => `${JSON.stringify(entry)}\n`;
const pendingIn = (entries: readonly JournalEntry[]) => new JournalState(entries).pending();
const allNames = [1, 2, 3, 4].map((number) => `queue/${number}`);
const runOf = (entries: readonly JournalEntry[]) => new JournalState(entries).find(allNames, 0);
let ids = 0;
const compacted = (entries: readonly JournalEntry[]) =>
  new JournalState(entries).compact(() => `new_${++ids}`);

describe('a journal in a file', () => {
  it('is empty before the first entry', async () => {
    expect(await fileJournal(path).read()).toEqual([]);
  });

  it('keeps entries in their order for whoever opens it next', async () => {
    const entries = [intent('a'), accepted('a', 'file_1'), settled('file_1')];
    for (const entry of entries) {
      await fileJournal(path).append(entry);
    }
    expect(await fileJournal(path).read()).toEqual(entries);
  });

  it('has an entry in the file when append() resolves', async () => {
    await fileJournal(path).append(intent('a'));
    expect(await readFile(path, 'utf8')).toBe(lineOf(intent('a')));
  });

  it('keeps the order of entries that come at once', async () => {
    const journal = fileJournal(path);
    const entries = Array.from({ length: 200 }, (_, index) => intent(`call_${index}`));
    await Promise.all(entries.map((entry) => journal.append(entry)));
    expect(await journal.read()).toEqual(entries);
  });

  it('makes its folder, and leaves nothing beside the file', async () => {
    const deep = join(folder, 'data', 'today');
    await fileJournal(join(deep, 'jobs.jsonl')).append(intent('a'));
    expect(await readdir(deep)).toEqual(['jobs.jsonl']);
  });

  it('is for the eyes of its owner only', async () => {
    await fileJournal(path).append(intent('a'));
    expect((await stat(path)).mode & 0o077).toBe(0);
  });

  it('says so when it cannot write, and writes again when it can', async () => {
    const journal = fileJournal(join(path, 'jobs.jsonl'));
    await writeFile(path, 'a file where a folder should be');
    await expect(journal.append(intent('a'))).rejects.toThrow('jobs.jsonl');
    await rm(path);
    await journal.append(intent('b'));
    expect(await journal.read()).toEqual([intent('b')]);
  });
});

describe('a journal that a crash has torn', () => {
  it('keeps every complete entry, wherever it was cut, and goes on', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyEntry, { maxLength: 12 }), fc.nat(), async (entries, cut) => {
        const bytes = Buffer.from(entries.map(lineOf).join(''));
        const left = bytes.subarray(0, cut % (bytes.length + 1));
        await writeFile(path, left);
        // A line is complete with its last brace; the end of the line is no part of the entry.
        const whole = entries.filter((_, index) => {
          const upTo = entries
            .slice(0, index + 1)
            .map(lineOf)
            .join('');
          return Buffer.byteLength(upTo) - 1 <= left.length;
        });
        expect(await fileJournal(path).read()).toEqual(whole);
        await fileJournal(path).append(intent('next'));
        expect(await fileJournal(path).read()).toEqual([...whole, intent('next')]);
      }),
      { numRuns: runs(60) },
    );
  });

  it('passes over lines that are none of its own', async () => {
    const strange = ['', 'null', '[]', '{"type":"settled"}', '{"type":"later","id":"a"}', '\u0000'];
    await appendFile(path, `${strange.join('\n')}\n${lineOf(intent('a'))}{"type":"acc`);
    expect(await fileJournal(path).read()).toEqual([intent('a')]);
  });
});

describe('a journal that is compacted', () => {
  it('says the same as before, whatever stands in it', () => {
    fc.assert(
      fc.property(fc.array(anyEntry, { maxLength: 40 }), (entries) => {
        const short = compacted(entries);
        expect(pendingIn(short)).toEqual(pendingIn(entries));
        expect(runOf(short)).toEqual(runOf(entries));
      }),
      { numRuns: runs(400) },
    );
  });

  it('goes on as it would have without', () => {
    fc.assert(
      fc.property(history, fc.nat(40), (entries, place) => {
        const short = [...compacted(entries.slice(0, place)), ...entries.slice(place)];
        expect(pendingIn(short)).toEqual(pendingIn(entries));
        expect(runOf(short)).toEqual(runOf(entries));
      }),
      { numRuns: runs(400) },
    );
  });

  it('holds no more than what is not over', () => {
    const over = [intent('a'), accepted('a', 'file_1'), settled('file_1'), intent('b')];
    const entries: JournalEntry[] = [...over, { type: 'refused', id: 'b' }, intent('c')];
    expect(compacted(entries)).toEqual([intent('c')]);
  });

  it('is compacted by itself once it is large', async () => {
    const over = Array.from({ length: 400 }, (_, index) =>
      [
        intent(`call_${index}`, 'x'.repeat(3_000)),
        accepted(`call_${index}`, `file_${index}`),
        ...(index === 7 ? [] : [settled(`file_${index}`)]),
      ].map(lineOf),
    );
    await writeFile(path, over.flat().join(''));
    await fileJournal(path).append(intent('last'));
    expect((await stat(path)).size).toBeLessThan(1_000);
    expect(pendingIn(await fileJournal(path).read())).toEqual({
      jobs: [{ fileId: 'file_7', kind: 'audio' }],
      finished: [],
      unknown: [intent('last')],
    });
    expect(await readdir(folder)).toEqual(['jobs.jsonl']);
  });

  it('is not rewritten again and again while it cannot get smaller', async () => {
    const journal = fileJournal(path);
    await writeFile(path, lineOf(intent('large', 'x'.repeat(1_200_000))));
    await journal.append(intent('a'));
    const { ino } = await stat(path);
    for (const id of ['b', 'c', 'd']) {
      await journal.append(intent(id));
    }
    expect((await stat(path)).ino).toBe(ino);
  });
});
