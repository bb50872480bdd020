import type { JournalItem, JournalPage } from './store.js';

/** Keys and values in memory with the time of writing, listed in the order of the keys' code units. */
export class SortedTexts {
  readonly #values = new Map<string, { readonly value: string; readonly at: number }>();
  /** All keys in their order; `undefined` after a key has come or gone. */
  #keys: readonly string[] | undefined;

  get(key: string): string | undefined {
    return this.#values.get(key)?.value;
  }

  /** Writes a value; `undefined` removes the key. */
  set(key: string, value: string | undefined, at: number): void {
    if (this.#values.has(key) !== (value !== undefined)) {
      this.#keys = undefined;
    }
    if (value === undefined) {
      this.#values.delete(key);
    } else {
      this.#values.set(key, { value, at });
    }
  }

  clear(): void {
    this.#values.clear();
    this.#keys = undefined;
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
      let place = firstPlace(keys, isBehind ? after : prefix, isBehind);
      place < keys.length && items.length < limit && keys[place]?.startsWith(prefix);
      place++
    ) {
      items.push(...[this.item(keys[place] ?? '', now)].filter((item) => item !== undefined));
    }
    return items;
  }
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
