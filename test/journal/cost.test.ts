import { memoryJournal, type JournalStore } from 'postreel';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/async/clock.js';
import { Journal } from '../../src/journal/journal.js';

it('a claim costs the same however many names the journal has', async () => {
  const memory = memoryJournal();
  let keys = 0;
  let lists = 0;
  const store: JournalStore = {
    ...memory,
    get(asked) {
      keys += asked.length;
      return memory.get(asked);
    },
    list(prefix, page) {
      lists++;
      return memory.list(prefix, page);
    },
  };
  const journal = new Journal({
    store,
    prefix: 'e/',
    clock: systemClock,
    onTrouble: () => undefined,
  });
  const costs: number[] = [];
  for (let start = 0; start < 2_000; start += 10) {
    const names = Array.from({ length: 10 }, (_, index) => `person ${start + index}`);
    keys = 0;
    const found = await journal.find(names, () => false);
    for (const attempt of found.values()) {
      const claim = { id: attempt.name, call: 'c', place: 0, print: 'p', owner: 'me', at: 1 };
      await journal.claim(attempt, claim);
      await journal.write(attempt, 'accepted', { at: 2, record: 'sent' });
    }
    costs.push(keys);
  }
  expect(new Set(costs).size).toBe(1);
  expect(lists).toBe(0);
});
