import { SortedTexts } from './sorted-texts.js';
import type { JournalStore } from './store.js';

/** A journal in memory: for tests, and for processes that never crash. */
export function memoryJournal(): JournalStore {
  const texts = new SortedTexts();
  return {
    swap(key, from, to) {
      if (texts.get(key) === from) {
        texts.set(key, to, Date.now());
      }
      return Promise.resolve(texts.get(key));
    },
    get: (key) => Promise.resolve(texts.item(key, Date.now())),
    list: (prefix, page) => Promise.resolve(texts.list(prefix, page, Date.now())),
  };
}
