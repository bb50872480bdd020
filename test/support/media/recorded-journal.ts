import { memoryJournal, type JournalStore } from 'postreel';

/** A journal in memory, with the names of the facts that were written to it, in their order. */
export function recordedJournal(): { journal: JournalStore; facts: string[] } {
  const memory = memoryJournal();
  const facts: string[] = [];
  const note = (key: string) => {
    const fact = key.split('/').at(-1) ?? '';
    // Beside facts there is the place of each file.
    if (/^[a-z]+$/.test(fact)) {
      facts.push(fact);
    }
  };
  const journal: JournalStore = {
    ...memory,
    async putIfAbsent(key, value) {
      const stands = await memory.putIfAbsent(key, value);
      note(key);
      return stands;
    },
    async put(key, value) {
      await memory.put(key, value);
      if (!key.endsWith('/claim')) {
        note(key); // a claim that is shortened is no news
      }
    },
  };
  return { journal, facts };
}

/** A journal whose writes fail like this. */
export function failingJournal(isFailing: (key: string) => boolean): JournalStore {
  const memory = memoryJournal();
  const write = <T>(key: string, task: () => Promise<T>) =>
    isFailing(key) ? Promise.reject(new Error('disk full')) : task();
  return {
    ...memory,
    putIfAbsent: (key, value) => write(key, () => memory.putIfAbsent(key, value)),
    put: (key, value) => write(key, () => memory.put(key, value)),
  };
}
