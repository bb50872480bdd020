import { SortedTexts } from './sorted-texts.js';
import type { JournalStore } from './store.js';

/** A journal in memory: for tests, and for processes that never crash. */
export function memoryJournal(): JournalStore {
  const texts = new SortedTexts();
  return {
    putIfAbsent(key, value) {
      const standing = texts.get(key);
      if (standing === undefined) {
        texts.set(key, value);
      }
      return Promise.resolve(standing ?? value);
    },
    put(key, value) {
      texts.set(key, value);
      return Promise.resolve();
    },
    get: (keys) => Promise.resolve(texts.pick(keys)),
    list: (prefix, page) => Promise.resolve(texts.list(prefix, page)),
    delete(keys) {
      keys.forEach((key) => texts.delete(key));
      return Promise.resolve();
    },
    flush: () => Promise.resolve(),
    now: () => Promise.resolve(Date.now()),
  };
}
