import { memoryJournal, type JournalStore } from 'postreel';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/async.js';
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

it('keeps a bounded number of facts that an outage kept from being written', async () => {
  const memory = memoryJournal();
  let isDown = true;
  let written = 0;
  const put: JournalStore['put'] = (key, value) => {
    written += isDown ? 0 : 1;
    return isDown ? Promise.reject(new Error('gone')) : memory.put(key, value);
  };
  const atOnce = (_: number, task: () => void) => {
    queueMicrotask(task);
    return () => undefined;
  };
  const journal = new Journal({
    store: { ...memory, put },
    prefix: 'e/',
    clock: { ...systemClock, at: atOnce },
    onTrouble: () => undefined,
  });
  const names = Array.from({ length: 10_200 }, (_, index) => `person ${index}`);
  const refused = names.map((name) => journal.write({ name, number: 1 }, 'refused', { at: 1 }));
  await Promise.all(refused);
  await expect(journal.flush()).rejects.toThrow('gone');
  isDown = false;
  await journal.find(names, () => false);
  expect(written).toBe(10_000);
});
