import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryJournal, type JournalStore } from 'postreel';
import { fileJournal } from 'postreel/node';
import { afterEach, beforeEach, describe, it } from 'vitest';
import { expectToCommute, histories } from '../support/laws/entries.js';
import fc, { runs } from '../support/property.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postreel-journal-'));
});
afterEach(() => rm(folder, { recursive: true }));

let files = 0;
/** Each opens one journal as often as it is asked to: that is a restart. */
const stores: Readonly<Record<string, () => () => JournalStore>> = {
  memory: () => {
    const journal = memoryJournal();
    return () => journal;
  },
  'a file': () => {
    const path = join(folder, `journal ${files++}.jsonl`);
    return () => fileJournal(path);
  },
};

describe.each(Object.entries(stores))('the entries of %s commute', (name, create) => {
  it.each([
    ['one by one, some twice, with restarts', false],
    ['at once', true],
  ])(
    '%s',
    async (_, isAtOnce) => {
      await fc.assert(
        fc.asyncProperty(histories, async (history) => {
          await expectToCommute(history, create(), isAtOnce);
        }),
        { numRuns: runs(name === 'memory' ? 100 : 15) },
      );
    },
    runs(180_000),
  );
});
