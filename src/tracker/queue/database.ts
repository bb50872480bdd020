import { ask } from '../send/wait.js';

/** Of the database, of its one store, and of the key for the end of a wait of every tab. */
export const NAME = 'postreel';

/** Runs one transaction; `undefined` when it fails, or when there is no database. */
export type Transact = <Answer>(
  work: (events: IDBObjectStore, resolve: (answer: Answer) => void) => void,
) => Promise<Answer | undefined>;

/** Opens IndexedDB, which survives a killed browser. Where it fails or hangs, the rest goes on. */
export const openDatabase = async (): Promise<Transact> => {
  const database = await ask<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(NAME);
    request.onupgradeneeded = () => request.result.createObjectStore(NAME);
    request.onsuccess = () => resolve(request.result);
    request.onerror = reject;
  });
  return (work) =>
    ask((resolve, reject) => {
      // eslint-disable-next-line @typescript-eslint/no-non-null-assertion -- without a database this throws, and `ask` answers `undefined`
      const transaction = database!.transaction(NAME, 'readwrite');
      transaction.oncomplete = reject;
      transaction.onabort = reject;
      work(transaction.objectStore(NAME), resolve);
    });
};
