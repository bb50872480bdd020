import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryJournal, type JournalItem, type JournalStore } from 'postreel';
import { fileJournal } from 'postreel/node';
import { testJournal } from 'postreel/testing';
import { describe, expect, it } from 'vitest';

const older = (item: JournalItem, ageMs: number): JournalItem => ({ ...item, ageMs });

// Some of these wait for a second, until entries are old.
describe.concurrent('testJournal()', () => {
  it('accepts the journal in memory', async () => {
    const journal = memoryJournal();
    await testJournal(() => journal, { runs: 50 });
  });

  it('accepts the journal in a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'postreel-journal-'));
    try {
      await testJournal(() => fileJournal(join(folder, 'journal.jsonl')), { runs: 2 });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it.each<[string, (memory: JournalStore) => Partial<JournalStore>]>([
    [
      'writes without comparing',
      (memory) => ({
        swap: async (key, _, to) => memory.swap(key, (await memory.get(key))?.value, to),
      }),
    ],
    [
      'returns the value it was given, not the stored one',
      (memory) => ({
        swap: async (key, from, to) => {
          await memory.swap(key, from, to);
          return to;
        },
      }),
    ],
    [
      'reads and writes in two steps',
      (memory) => ({
        swap: async (key, from, to) => {
          const before = (await memory.get(key))?.value;
          await new Promise((resolve) => setImmediate(resolve));
          return before === from ? memory.swap(key, (await memory.get(key))?.value, to) : before;
        },
      }),
    ],
    [
      'keeps what is removed',
      (memory) => ({
        swap: (key, from, to) =>
          to === undefined ? Promise.resolve(undefined) : memory.swap(key, from, to),
      }),
    ],
    [
      'mixes up upper and lower case',
      (memory) => ({
        swap: (key, from, to) => memory.swap(key.toLowerCase(), from, to),
        get: (key) => memory.get(key.toLowerCase()),
      }),
    ],
    [
      'cuts long keys',
      (memory) => ({
        swap: (key, from, to) => memory.swap(key.slice(0, 255), from, to),
        get: (key) => memory.get(key.slice(0, 255)),
      }),
    ],
    [
      'lists from `after` on',
      (memory) => ({ list: (prefix, page) => memory.list(prefix, { limit: page?.limit }) }),
    ],
    [
      'lists in reverse',
      (memory) => ({ list: async (...args) => [...(await memory.list(...args))].reverse() }),
    ],
    [
      'ignores the limit',
      (memory) => ({ list: (prefix, page) => memory.list(prefix, { after: page?.after }) }),
    ],
    [
      'takes a prefix for a pattern',
      (memory) => ({
        list: async (prefix, page) => {
          const all = await memory.list('', page);
          const pattern = new RegExp(`^${prefix.replace(/_/g, '.').replace(/%/g, '.*')}`);
          return all.filter(({ key }) => pattern.test(key)).slice(0, page?.limit);
        },
      }),
    ],
    [
      'returns missing keys',
      (memory) => ({
        get: async (key) => (await memory.get(key)) ?? { key, value: '""', ageMs: 0 },
      }),
    ],
    [
      'returns ages in seconds',
      (memory) => ({
        get: async (key) => {
          const item = await memory.get(key);
          return item && older(item, item.ageMs / 1_000);
        },
      }),
    ],
    [
      'always returns the age 0',
      (memory) => ({
        get: async (key) => {
          const item = await memory.get(key);
          return item && older(item, 0);
        },
      }),
    ],
    [
      'does not reset an age when a value is written again',
      (memory) => ({
        swap: async (key, from, to) =>
          from === to ? (await memory.get(key))?.value : memory.swap(key, from, to),
      }),
    ],
  ])('rejects a store that %s', async (_, fault) => {
    const memory = memoryJournal();
    const store = { ...memory, ...fault(memory) };
    await expect(testJournal(() => store, { runs: 10 })).rejects.toThrow(
      'The journal store is wrong',
    );
  });

  it("rejects a store whose instances do not see each other's entries", async () => {
    await expect(testJournal(() => memoryJournal())).rejects.toThrow('The journal store is wrong');
  });
});
