import type { Database, Tab } from '../tab.js';
import { mayClaim } from './adoption.js';
import type { StoredRecord } from './record.js';
import { Life } from './state.js';

/** What one transaction does. True: it goes on, and tells `answer` before it ends. */
type Work<Answer> = (records: IDBObjectStore, answer: (answer: Answer) => void) => unknown;

/** Opens IndexedDB, which survives a killed browser. Where it fails or hangs, the rest goes on. */
export const openDatabase = async (tab: Tab): Promise<Database | undefined> => {
  const { prefix } = tab;
  const opened = await ask<IDBDatabase>(
    (resolve, reject) => {
      const request = indexedDB.open(prefix);
      request.onupgradeneeded = () => request.result.createObjectStore(prefix);
      request.onsuccess = () => resolve(request.result);
      request.onerror = reject;
      // A machine that is busy opens it late, and without it a killed browser forgets. But Chromium
      // lets a page hang for minutes whose predecessor was left while it made the database.
    },
    tab.life === Life.Open ? 3000 : 10_000,
  );
  if (!opened) {
    return undefined;
  }
  const database = databaseOf(opened, prefix);
  if (tab.life !== Life.Starting) {
    // So late that events were sent without it: localStorage alone knows of them.
    for (const { isStored, record } of tab.entries) {
      void (isStored && database.claim(record, record));
    }
  }
  return database;
};

const databaseOf = (database: IDBDatabase, prefix: string): Database => {
  /** Transactions that have not told their answer yet. */
  const unfinished = new Set<IDBTransaction | undefined>();
  const transact = async <Answer = true>(work: Work<Answer>): Promise<Answer | undefined> => {
    let transaction: IDBTransaction | undefined;
    const answer = await ask<Answer>((resolve, reject) => {
      transaction = database.transaction(prefix, 'readwrite');
      unfinished.add(transaction);
      run(transaction, work, resolve);
      transaction.onabort = reject;
    });
    unfinished.delete(transaction);
    return answer;
  };
  return {
    put: (records) =>
      transact((events) => {
        for (const record of records) {
          events.put(record, record.id);
        }
      }),
    claim: (record, seen) => transact(claim(record, seen, prefix)),
    clear: (erasure) =>
      transact((events) => {
        events.clear();
        events.put(erasure, erasure.id);
      }),
    readAll: () =>
      transact<StoredRecord[]>((events, answer) => {
        const request = events.getAll() as IDBRequest<StoredRecord[]>;
        request.onsuccess = () => answer(request.result);
        return true;
      }),
    remove: (id) => transact((events) => void events.delete(id)),
    abort: () => unfinished.forEach(abort),
  };
};

/** One transaction, so that of two tabs that want the same event exactly one gets it. */
const claim =
  (record: StoredRecord, seen: StoredRecord, prefix: string): Work<boolean> =>
  (events, answer) => {
    // Only this module fills the database.
    const erasure = events.get(prefix) as IDBRequest<StoredRecord | undefined>;
    const request = events.get(record.id) as IDBRequest<StoredRecord | undefined>;
    request.onsuccess = () => {
      const isWon = mayClaim(seen, request.result, erasure.result);
      answer(isWon);
      if (isWon) {
        events.put(record, record.id);
      }
    };
    return true;
  };

const run = <Answer>(
  transaction: IDBTransaction,
  work: Work<Answer>,
  resolve: (answer: Answer) => void,
): void => {
  // Work that tells nothing has `true` for its answer.
  let result = true as Answer;
  transaction.oncomplete = () => resolve(result);
  const isMore = work(transaction.objectStore(transaction.objectStoreNames[0] ?? ''), (told) => {
    result = told;
  });
  if (!isMore) {
    // At once, so that the end of the page does not undo it. Absent in old browsers.
    (transaction as Partial<IDBTransaction>).commit?.();
  }
};

const abort = (transaction: IDBTransaction | undefined): void => {
  try {
    transaction?.abort();
  } catch {
    // Committed.
  }
};

/** Asks the browser for something that may throw, fail or never come: then it is `undefined`. */
const ask = <Answer>(
  request: (resolve: (answer?: Answer) => void, reject: () => void) => void,
  longestMs = 3000,
): Promise<Answer | undefined> =>
  Promise.race([
    new Promise<Answer | undefined>(request),
    new Promise<undefined>((resolve) => setTimeout(resolve, longestMs)),
  ]).catch(() => undefined);
