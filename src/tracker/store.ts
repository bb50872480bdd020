import { type Decisions, decisionsOf, UNDECIDED } from './consent.js';
import type { EventRecord, EventStore } from './queue.js';

/** A synchronous key-value store of strings: localStorage, MMKV, or memory that an app saves itself. */
export interface TextStore {
  /** All keys in the store, including those of other scripts. */
  keys(): readonly string[];
  /** The value of a key; `null` or `undefined` if there is none. */
  get(key: string): string | null | undefined;
  /** Writes a value. May throw: from then on events are kept in memory only. */
  set(key: string, value: string): void;
  /** Removes a key and its value. */
  remove(key: string): void;
}

/** The options of {@link createStore}. */
export interface StoreOptions {
  /** The prefix of this project's storage keys. */
  readonly prefix: string;
  /** Opens the store, at its first use. May throw. */
  readonly open: () => TextStore;
  /** False: events are kept in memory only; decisions are still stored. */
  readonly keepsEvents: boolean;
  readonly onFailure: () => void;
}

/** The keys that extras of earlier versions wrote without a prefix. */
const OLD_EXTRA_KEYS = /^postreel-(sample$|once-)/;

/**
 * Creates the store of a tracker. It has one key per event, so that tabs cannot overwrite each other's
 * events, and one key for the visitor's decisions.
 * After the first failure events are kept in memory only; the store still tries to remove keys and to save
 * decisions.
 */
export function createStore({ prefix, open, keepsEvents, onFailure }: StoreOptions): EventStore {
  const consentKey = `${prefix}consent`;
  let isFailed = false;
  /**
   * The length of each event in characters, as this tab last read it. Adding up the stored texts each time
   * would read all keys of the host page.
   */
  const lengths = new Map<string, number>();
  const attempt = <Result>(work: (store: TextStore) => Result): Result | undefined => {
    try {
      return work(open());
    } catch {
      if (!isFailed) {
        isFailed = true;
        onFailure();
      }
      return undefined;
    }
  };
  const isKept = () => keepsEvents && !isFailed;
  const keys = () => attempt((store) => store.keys().filter((key) => key.startsWith(prefix))) ?? [];
  const remove = (key: string) => {
    lengths.delete(key);
    attempt((store) => store.remove(key));
  };
  const get = (id: string): EventRecord | undefined => {
    // Read even after a failure: another tab may own the event by now.
    const text = keepsEvents ? attempt((store) => store.get(id)) : undefined;
    lengths.set(id, text?.length ?? 0);
    return recordOf(id, text);
  };
  return {
    get keepsEvents() {
      return isKept();
    },
    get,
    set: (record) => {
      const text = JSON.stringify(record);
      if (isKept()) {
        attempt((store) => store.set(record.id, text));
        lengths.set(record.id, text.length);
      }
      return isKept();
    },
    remove,
    length: () => [...lengths.values()].reduce((sum, length) => sum + length, 0),
    all: () => {
      lengths.clear();
      return isKept() ? keys().flatMap((key) => get(key) ?? []) : [];
    },
    erase: () => {
      const erased = keys().filter((key) => key !== consentKey);
      erased.forEach(remove);
      attempt((store) => store.keys().filter((key) => OLD_EXTRA_KEYS.test(key)))?.forEach(remove);
      return erased.length;
    },
    decisions: () => {
      const text = attempt((store) => store.get(consentKey));
      return text ? decisionsOf(parseJson(text)) : UNDECIDED;
    },
    saveDecisions: (decisions: Decisions) => {
      attempt((store) => store.set(consentKey, JSON.stringify(decisions)));
    },
  };
}

/** The page's localStorage. Throws where it is forbidden; in some web views it is `null`. */
export const openLocalStorage = (): TextStore => {
  const storage = localStorage;
  return {
    keys: () => Object.keys(storage),
    get: (key) => storage.getItem(key),
    set: (key, value) => storage.setItem(key, value),
    remove: (key) => storage.removeItem(key),
  };
};

/**
 * Parses a stored event; `undefined` if the value is not one, because other scripts may use the same prefix.
 */
const recordOf = (id: string, text: string | null | undefined): EventRecord | undefined => {
  const value = text ? parseJson(text) : undefined;
  const record = Object(value) as Partial<EventRecord>; // as: checked in the next line
  const isOurs =
    record.id === id && typeof record.event === 'string' && typeof record.at === 'number';
  return isOurs ? ({ ...record, owner: record.owner ?? '?' } as EventRecord) : undefined; // as: checked above
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
