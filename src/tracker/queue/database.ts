import { type Database, type Tab, warn } from '../tab.js';
import { within } from '../wait.js';
import { mayClaim } from './adoption.js';
import { type Decisions, decisionsOf, isAhead, merge, UNDECIDED } from './decisions.js';
import type { StoredRecord } from './record.js';
import { Life } from './state.js';

/** What one transaction does. True: it goes on, and hands `answer` its result before it ends. */
type Work<Answer> = (records: IDBObjectStore, answer: (answer: Answer) => void) => unknown;

/** Longest time for a transaction, and to open the database in a page that is sending already. */
const MAX_ANSWER = 3000;
/** Longest time to open it at first: a busy machine opens it late. */
const MAX_FIRST_OPEN = 10_000;
const FAILED = 'IndexedDB failed. A browser that is killed may lose events, or send some twice.';

/**
 * Opens IndexedDB, which survives a killed browser. Where it fails or hangs, the rest goes on.
 *
 * @param mustExist Leaves an origin without a database as it is.
 */
export const openDatabase = async (tab: Tab, mustExist = false): Promise<Database | undefined> => {
  const { prefix } = tab;
  // Chromium lets a page hang for minutes whose predecessor was left while it made the database.
  const limitMs = tab.life === Life.Open ? MAX_ANSWER : MAX_FIRST_OPEN;
  const opened = await openWithin(limitMs, prefix, mustExist);
  if (!opened) {
    if (!mustExist) {
      failed(tab);
    }
    return undefined;
  }
  const database = databaseOf(opened, tab);
  if (!tab.isDurable || mustExist) {
    // For a moment only; it must not block the host either.
    opened.onversionchange = () => opened.close();
    return database;
  }
  reopenWhenClosed(tab, opened, database);
  if (tab.life !== Life.Starting) {
    // So late that events were sent without it: localStorage alone knows of them.
    for (const { isStored, record } of tab.entries) {
      void (isStored && database.claim(record, record));
    }
  }
  return database;
};

/** A page that is left ends its transactions itself. */
const failed = (tab: Tab): void => {
  if (tab.isDurable && tab.life !== Life.Left) {
    warn(tab, FAILED);
  }
};

const openWithin = (
  limitMs: number,
  name: string,
  mustExist: boolean,
): Promise<IDBDatabase | undefined> => {
  let isLate = false;
  const opening = new Promise<IDBDatabase>((resolve, reject) => {
    const request = indexedDB.open(name);
    request.onupgradeneeded = () => {
      if (mustExist) {
        request.transaction?.abort();
      } else {
        request.result.createObjectStore(name);
      }
    };
    request.onsuccess = () => {
      // A connection without an owner would block the host that deletes the database.
      if (isLate) {
        request.result.close();
      }
      resolve(request.result);
    };
    request.onerror = () => reject(new Error('IndexedDB'));
  });
  return within(limitMs, opening).finally(() => {
    isLate = true;
  });
};

/** The host may delete the database: it is let go of at once, and made anew. */
const reopenWhenClosed = (tab: Tab, opened: IDBDatabase, database: Database): void => {
  const reopen = () => {
    opened.close();
    if (tab.database !== database) {
      return;
    }
    tab.database = undefined;
    if (tab.life !== Life.Open) {
      return; // opened when the page comes back
    }
    void openDatabase(tab).then((next) => {
      tab.database ??= next;
      void next?.saveDecisions(tab.decisions);
    });
  };
  opened.onversionchange = reopen;
  // `Clear-Site-Data`, and the settings of the browser.
  opened.onclose = reopen;
};

const databaseOf = (database: IDBDatabase, tab: Tab): Database => {
  const { prefix } = tab;
  const decisionsKey = `${prefix}consent`;
  /** Transactions that have not told their answer yet. */
  const unfinished = new Set<IDBTransaction | undefined>();
  const transact = async <Answer = true>(work: Work<Answer>): Promise<Answer | undefined> => {
    let transaction: IDBTransaction | undefined;
    const answering = new Promise<Answer>((resolve, reject) => {
      transaction = database.transaction(prefix, 'readwrite');
      unfinished.add(transaction);
      run(transaction, work, resolve);
      transaction.onabort = () => reject(new Error('IndexedDB'));
    });
    const answer = await within(MAX_ANSWER, answering);
    unfinished.delete(transaction);
    if (answer === undefined) {
      failed(tab);
    }
    return answer;
  };
  return {
    put: (records) =>
      transact((events) => {
        for (const record of records) {
          events.put(record, record.id);
        }
      }),
    claim: (record, seen) => transact(claim(record, seen, tab)),
    clear: (decisions) => transact(decide(decisions, decisionsKey, true)),
    saveDecisions: (decisions) => transact(decide(decisions, decisionsKey, false)),
    readDecisions: () =>
      transact<Decisions>((events, answer) => {
        const request = events.get(decisionsKey);
        request.onsuccess = () => answer(decisionsOf(request.result));
        return true;
      }),
    readAll: () =>
      transact<StoredRecord[]>((events, answer) => {
        // Only this module fills the database.
        const request = events.getAll() as IDBRequest<StoredRecord[]>;
        request.onsuccess = () => answer(request.result);
        return true;
      }),
    remove: (id) => transact((events) => void events.delete(id)),
    abort: () => unfinished.forEach(abort),
    close: () => database.close(),
  };
};

/** Adds decisions to those that are there; an erasure removes all the rest. */
const decide =
  (decisions: Decisions, decisionsKey: string, isErasure: boolean): Work<true> =>
  (events) => {
    const request = events.get(decisionsKey);
    request.onsuccess = () => {
      const all = merge(decisionsOf(request.result), decisions);
      if (isErasure) {
        events.clear();
      }
      if (isAhead(all, UNDECIDED)) {
        events.put({ ...all, id: decisionsKey, version: 0 }, decisionsKey);
      }
      commit(events.transaction);
    };
    return true;
  };

/** One transaction, so that of two tabs that want the same event exactly one gets it. */
const claim =
  (record: StoredRecord, seen: StoredRecord, tab: Tab): Work<boolean> =>
  (events, answer) => {
    const decisions = events.get(`${tab.prefix}consent`);
    // Only this module fills the database.
    const request = events.get(record.id) as IDBRequest<StoredRecord | undefined>;
    request.onsuccess = () => {
      const isWon = mayClaim(tab, seen, {
        copy: request.result,
        decisions: decisionsOf(decisions.result),
      });
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
  // Work that hands over nothing has `true` for its answer.
  let result = true as Answer;
  transaction.oncomplete = () => resolve(result);
  const isMore = work(transaction.objectStore(transaction.objectStoreNames[0] ?? ''), (told) => {
    result = told;
  });
  if (!isMore) {
    commit(transaction);
  }
};

/** At once, so that the end of the page does not undo it. Absent in old browsers. */
const commit = (transaction: IDBTransaction): void =>
  (transaction as Partial<IDBTransaction>).commit?.();

const abort = (transaction: IDBTransaction | undefined): void => {
  try {
    transaction?.abort();
  } catch {
    // Committed.
  }
};
