import type { JournalItem, JournalPage } from './store.js';

/** Keys and values in memory, listed in the order of the keys' code units. */
export class SortedTexts {
  readonly #values = new Map<string, string>();
  /** All keys in their order; `undefined` after a key has come or gone. */
  #keys: readonly string[] | undefined;

  get size(): number {
    return this.#values.size;
  }

  get(key: string): string | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: string): void {
    if (!this.#values.has(key)) {
      this.#keys = undefined;
    }
    this.#values.set(key, value);
  }

  delete(key: string): void {
    if (this.#values.delete(key)) {
      this.#keys = undefined;
    }
  }

  clear(): void {
    this.#values.clear();
    this.#keys = undefined;
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.#values.entries();
  }

  pick(keys: readonly string[]): Map<string, string> {
    const found = new Map<string, string>();
    for (const key of keys) {
      const value = this.#values.get(key);
      if (value !== undefined) {
        found.set(key, value);
      }
    }
    return found;
  }

  list(
    prefix: string,
    { after, limit = Number.POSITIVE_INFINITY }: JournalPage = {},
  ): JournalItem[] {
    this.#keys ??= [...this.#values.keys()].sort(byCodeUnits);
    const keys = this.#keys;
    const items: JournalItem[] = [];
    const isBehind = after !== undefined && after >= prefix;
    let place = firstPlace(keys, isBehind ? after : prefix, isBehind);
    for (; place < keys.length && items.length < limit; place++) {
      const key = keys[place] ?? '';
      if (!key.startsWith(prefix)) {
        break;
      }
      items.push({ key, value: this.#values.get(key) ?? '' });
    }
    return items;
  }
}

function byCodeUnits(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The place of the first key that is not below a text, or that is above it. */
function firstPlace(keys: readonly string[], text: string, isAbove: boolean): number {
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
