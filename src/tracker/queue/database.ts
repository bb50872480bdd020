import { ask } from '../send/wait.js';
import type { Tab, Work } from '../tab.js';

/** Opens IndexedDB, which survives a killed browser. Where it fails or hangs, the rest goes on. */
export const openDatabase = async (tab: Tab): Promise<void> => {
  const name = tab.prefix;
  if (tab.transact || tab.storage === 'memory') {
    return;
  }
  const database = await ask<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(name);
    request.onupgradeneeded = () => request.result.createObjectStore(name);
    request.onsuccess = () => resolve(request.result);
    request.onerror = reject;
  });
  if (!database) {
    return;
  }
  tab.transact = async <Answer>(work: Work<Answer>) => {
    let transaction: IDBTransaction | undefined;
    const answer = await ask<Answer>((resolve, reject) => {
      transaction = database.transaction(name, 'readwrite');
      tab.unfinished.add(transaction);
      transaction.onabort = reject;
      work(transaction.objectStore(name), resolve, transaction);
    });
    if (transaction) {
      tab.unfinished.delete(transaction);
    }
    return answer;
  };
};

/** The page ends: what waits for an answer must not stand before what is committed now. */
export const abortUnfinished = ({ unfinished }: Tab): void => {
  for (const transaction of unfinished) {
    try {
      transaction.abort();
    } catch {
      // Committed.
    }
  }
};
