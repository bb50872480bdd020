import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryJournal, type JournalStore } from 'postreel';
import { fileJournal } from 'postreel/node';
import { testJournal } from 'postreel/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keyOf, storedKey, storedValue, valueOf } from '../../src/journal/stored-text.js';
import fc from '../support/property.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-journal-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('testJournal()', () => {
  it('passes the journal in memory', async () => {
    const journal = memoryJournal();
    await testJournal(() => journal, { runs: 50 });
  });

  it('passes the journal in a file', async () => {
    await testJournal(() => fileJournal(join(folder, 'jobs.jsonl')), { runs: 2 });
  });

  it.each<[string, (memory: JournalStore) => Partial<JournalStore>]>([
    [
      'writes over a claim',
      (memory) => ({ putIfAbsent: (key, value) => memory.put(key, value).then(() => value) }),
    ],
    [
      'answers a claim with its own value',
      (memory) => ({
        putIfAbsent: async (key, value) => {
          await memory.putIfAbsent(key, value);
          return value;
        },
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
    ['forgets to delete', () => ({ delete: () => Promise.resolve() })],
    [
      'answers with missing keys',
      (memory) => ({
        get: async (keys) =>
          new Map([...keys.map((key) => [key, ''] as const), ...(await memory.get(keys))]),
      }),
    ],
    ['tells the time in seconds', () => ({ now: () => Promise.resolve(Date.now() / 1000) })],
  ])('finds a store that %s', async (_, fault) => {
    const memory = memoryJournal();
    const store = { ...memory, ...fault(memory) };
    await expect(testJournal(() => store)).rejects.toThrow('The journal store is wrong');
  });
});

describe('the text of a store of UTF-8', () => {
  const anyText = fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 })
    .map((units) => String.fromCharCode(...units));

  it('is read back as it was, without U+0000 and halves of pairs', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(keyOf(storedKey(text))).toBe(text);
        expect(valueOf(storedValue(text))).toBe(text);
        expect(/\0/.test(storedKey(text) + storedValue(text))).toBe(false);
        expect(Buffer.from(storedValue(text)).toString('utf8')).toBe(storedValue(text));
      }),
    );
  });

  it('lists keys in the order of code units', () => {
    const sign = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
    fc.assert(
      fc.property(anyText, anyText, (one, other) => {
        const [a, b] = [storedKey(one), storedKey(other)].map((text) => Buffer.from(text));
        expect(Math.sign(Buffer.compare(a!, b!))).toBe(sign(one, other));
      }),
    );
  });
});
