import { fingerprint } from '../fingerprint.js';
import { ConfigurationError } from '../errors.js';

/** An entry of a journal. */
export interface JournalItem {
  readonly key: string;
  readonly value: string;
  /** How long ago the value was written, in milliseconds by the store's clock. */
  readonly ageMs: number;
}

/** The part of a list to read. */
export interface JournalPage {
  /** Only keys after this one. */
  readonly after?: string | undefined;
  /** The most items to read. @default all */
  readonly limit?: number | undefined;
}

/**
 * A store in which a client records what it is about to do once, and the outcome, so that a crash loses
 * nothing and repeats nothing. Several processes may share a store. Keys are printable ASCII, values are
 * JSON as `JSON.stringify` writes it. If you write a store, test it with `testJournal()` of
 * `postreel/testing`.
 */
export interface JournalStore {
  /**
   * Replaces the value `from` by `to`, in one atomic step; `undefined` means that the key has no value.
   * Resolves to the stored value afterwards, once it is safely written: `to`, or the value of another
   * writer.
   */
  swap(key: string, from: string | undefined, to: string | undefined): Promise<string | undefined>;
  /** Reads the entry of a key. */
  get(key: string): Promise<JournalItem | undefined>;
  /** Lists the entries whose keys begin with the prefix, in the order of the keys' code units. */
  list(prefix: string, page?: JournalPage): Promise<readonly JournalItem[]>;
  /**
   * Loads the data that the store needs before it can respond, such as a large file. A client waits for it
   * before each step, and only then limits the time of the response.
   */
  load?(): Promise<void>;
  /**
   * Set on a store that several projects are likely to share under one name. The text explains how to keep
   * them apart; a client then requires a `rateLimit.group`.
   */
  readonly needsGroup?: string | undefined;
}

// ---- in memory

/** A journal in memory, for tests and for processes that never crash. */
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

interface SortedText {
  readonly value: string;
  readonly at: number;
  /** The size of the value in its store, in bytes. */
  readonly bytes: number;
}

/** Keys and values in memory with the time of writing, listed in the order of the keys' code units. */
export class SortedTexts {
  readonly #values = new Map<string, SortedText>();
  /** All keys in order; `undefined` after a key was added or removed. */
  #keys: readonly string[] | undefined;
  #bytes = 0;

  /** The sum of the sizes that were passed to `set()`. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): string | undefined {
    return this.#values.get(key)?.value;
  }

  /** Writes a value; `undefined` removes the key. */
  set(key: string, value: string | undefined, at: number, bytes = 0): void {
    this.#bytes -= this.#values.get(key)?.bytes ?? 0;
    if (this.#values.has(key) !== (value !== undefined)) {
      this.#keys = undefined;
    }
    if (value === undefined) {
      this.#values.delete(key);
    } else {
      this.#values.set(key, { value, at, bytes });
      this.#bytes += bytes;
    }
  }

  clear(): void {
    this.#values.clear();
    this.#keys = undefined;
    this.#bytes = 0;
  }

  *[Symbol.iterator](): Generator<readonly [key: string, value: string, at: number]> {
    for (const [key, { value, at }] of this.#values) {
      yield [key, value, at];
    }
  }

  item(key: string, now: number): JournalItem | undefined {
    const own = this.#values.get(key);
    return own && { key, value: own.value, ageMs: Math.max(0, now - own.at) };
  }

  list(
    prefix: string,
    { after, limit = Number.POSITIVE_INFINITY }: JournalPage = {},
    now: number,
  ): JournalItem[] {
    this.#keys ??= [...this.#values.keys()].sort((one, other) => (one < other ? -1 : 1));
    const keys = this.#keys;
    const isBehind = after !== undefined && after >= prefix;
    const items: JournalItem[] = [];
    for (
      let place = findFirstIndex(keys, isBehind ? after : prefix, isBehind);
      place < keys.length && items.length < limit && keys[place]?.startsWith(prefix);
      place++
    ) {
      items.push(...[this.item(keys[place] ?? '', now)].filter((item) => item !== undefined));
    }
    return items;
  }
}

/** The index of the first key that is at least `text`; with `isAbove`, of the first key after it. */
function findFirstIndex(keys: readonly string[], text: string, isAbove: boolean): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const key = keys[middle] ?? '';
    if (isAbove ? key <= text : key < text) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// ---- names

const maxPartLength = 200;

/** Joins parts to one name of printable ASCII. Different parts always make different names. */
export function nameOf(parts: readonly string[]): string {
  return parts.map(escapePart).join('/');
}

function escapePart(part: string): string {
  // Escape by code unit, because most stores reject half of a surrogate pair.
  const text = part.replace(
    /[^!-~]|[%/]/g,
    (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  // Postgres can index only short keys.
  return text.length > maxPartLength ? `${text.slice(0, 150)}%%${fingerprint(part)}` : text;
}

/**
 * The name of a client's project in a journal: its address, and its group if it has one. The API key is not
 * part of the name, so that a project keeps its jobs when its key is renewed.
 */
export function scopeOf(
  { needsGroup }: JournalStore,
  { baseUrl, group }: { readonly baseUrl: string; readonly group: string | undefined },
): string {
  if (needsGroup !== undefined && group === undefined) {
    throw new ConfigurationError(
      `Several projects may share this journal: ${needsGroup}, or give the client a \`rateLimit.group\`.`,
      { code: 'JOURNAL_SHARED' },
    );
  }
  return fingerprint(JSON.stringify([baseUrl, group]));
}

/** The scope of named queues. Several projects may share it: its entries have an owner. */
export function queueScopeOf({ baseUrl }: { readonly baseUrl: string }): string {
  return fingerprint(JSON.stringify([baseUrl]));
}
