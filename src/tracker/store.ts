import { type Decisions, decisionsOf, UNDECIDED } from './consent.js';
import type { EventRecord, Store } from './queue.js';

/** A store of texts that answers at once, as localStorage and MMKV do, or memory that an app saves itself. */
export interface TextStore {
  /** The names of all that is stored, those of others included. */
  keys(): readonly string[];
  /** What is stored under a name; `null` or `undefined` where nothing is. */
  get(key: string): string | null | undefined;
  /** May throw: from then on events are in memory alone. */
  set(key: string, value: string): void;
  /** Forgets what is stored under a name. */
  remove(key: string): void;
}

/** How a store is to behave, and whom it tells when it fails. */
export interface StoreOptions {
  /** What the keys of this project begin with. */
  readonly prefix: string;
  /** Opened at the first use, which may throw. */
  readonly open: () => TextStore;
  /** False: events are in memory alone, only decisions are stored. */
  readonly keepsEvents: boolean;
  readonly onFailure: () => void;
}

/** What extras of earlier versions wrote outside of any prefix. */
const OF_EXTRAS = /^postreel-(sample$|once-)/;

/**
 * One key for each event, so that tabs cannot overwrite each other, and one for what the visitor decided.
 * From the first failure on events are in memory alone; removing is still tried, and so are decisions.
 */
export function createStore({ prefix, open, keepsEvents, onFailure }: StoreOptions): Store {
  const consentKey = `${prefix}consent`;
  let isFailed = false;
  /** Characters of each event, as this tab last saw it: to add them up anew would read the host's keys. */
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
    // Reading is tried after a failure too: another tab may have the event by now.
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
      attempt((store) => store.keys().filter((key) => OF_EXTRAS.test(key)))?.forEach(remove);
      return erased.length;
    },
    decisions: () => {
      const text = attempt((store) => store.get(consentKey));
      return text ? decisionsOf(parsed(text)) : UNDECIDED;
    },
    saveDecisions: (decisions: Decisions) => {
      attempt((store) => store.set(consentKey, JSON.stringify(decisions)));
    },
  };
}

/** localStorage of the page; throws where it is forbidden, and is `null` in some web views. */
export const openLocalStorage = (): TextStore => {
  const storage = localStorage;
  return {
    keys: () => Object.keys(storage),
    get: (key) => storage.getItem(key),
    set: (key, value) => storage.setItem(key, value),
    remove: (key) => storage.removeItem(key),
  };
};

/** What a key holds, if it is an event of ours: other scripts may have left anything under our prefix. */
const recordOf = (id: string, text: string | null | undefined): EventRecord | undefined => {
  const value = text ? parsed(text) : undefined;
  const record = Object(value) as Partial<EventRecord>; // as: checked in the next line
  const isOurs =
    record.id === id && typeof record.event === 'string' && typeof record.at === 'number';
  return isOurs ? ({ ...record, owner: record.owner ?? '?' } as EventRecord) : undefined; // as: checked above
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
