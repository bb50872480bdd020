import { readOptions, wholeNumber } from '../../core/options.js';
import type { JournalItem, JournalStore } from '../../core/journal.js';

/** How long a journal is tested. */
export interface TestJournalOptions {
  /** The same seed makes the same runs. @default 1 */
  seed?: number | undefined;
  /** How many runs of random steps. @default 20 */
  runs?: number | undefined;
}

/**
 * Tests a journal store of your own, in any test runner: compares it with one in memory over random
 * steps, lets many claim one key at once, and reads back what another instance wrote.
 *
 * @param open - Opens the store that is tested; each time it must be the same journal, as in
 *   processes of their own.
 * @throws an `Error` that says what the store did and what it should have done
 */
export async function testJournal(
  open: () => Promise<JournalStore> | JournalStore,
  options?: TestJournalOptions,
): Promise<void> {
  const { seed = 1, runs = 20 } = readOptions(
    options,
    { seed: wholeNumber(0), runs: wholeNumber(0) },
    { name: '`testJournal()`', example: '{ runs: 100 }' },
  );
  const next = randomNumbers(seed);
  for (let run = 0; run < runs; run++) {
    await new Run(open, `test-${seed}-${run}-`, next).play();
  }
}

const texts = ['', '{"at":1}', 'é ü 漢字 😀', '"\\u0000\\ud83d"', '%_\\\'"$1', 'x'.repeat(10_000)];
const stepsInRun = 30;
const rivals = 8;

class Run {
  readonly #open: () => Promise<JournalStore> | JournalStore;
  readonly #prefix: string;
  readonly #next: (below: number) => number;
  readonly #model = new Map<string, string>();

  constructor(
    open: () => Promise<JournalStore> | JournalStore,
    prefix: string,
    next: (below: number) => number,
  ) {
    this.#open = open;
    this.#prefix = prefix;
    this.#next = next;
  }

  async play(): Promise<void> {
    let store = await this.#open();
    await this.#clear(store);
    for (let step = 0; step < stepsInRun; step++) {
      if (this.#next(5) === 0) {
        store = await this.#open();
      }
      await this.#step(store);
    }
    await this.#race();
    await this.#checkAll(await this.#open());
    await this.#clear(store);
  }

  async #step(store: JournalStore): Promise<void> {
    const key = this.#key();
    const value = texts[this.#next(texts.length)] ?? '';
    const before = this.#model.get(key);
    switch (this.#next(4)) {
      case 0:
      case 1: {
        // What is expected stands in two of three tries.
        const from = this.#next(3) === 0 ? texts[this.#next(texts.length)] : before;
        const to = this.#next(3) === 0 ? undefined : value;
        const stands = from === before ? to : before;
        same(`swap(${key})`, await store.swap(key, from, to), stands);
        this.#set(key, stands);
        break;
      }
      case 2: {
        same(`get(${key})`, (await store.get(key))?.value, before);
        same('get() of no key', await store.get(`${this.#prefix}none`), undefined);
        break;
      }
      default:
        await this.#checkPage(store, key);
    }
  }

  // Many claim one key at once: one value stands, and all of them hear it.
  async #race(): Promise<void> {
    const key = `${this.#prefix}race`;
    const stores = await Promise.all(Array.from({ length: rivals }, async () => this.#open()));
    const stands = await Promise.all(
      stores.map((store, index) => store.swap(key, undefined, `rival ${index}`)),
    );
    same('values that stand after a race', new Set(stands).size, 1);
    this.#model.set(key, stands[0] ?? '');
  }

  async #checkPage(store: JournalStore, after: string): Promise<void> {
    const limit = 1 + this.#next(4);
    const expected = this.#listed().filter(({ key }) => key > after);
    const page = await store.list(this.#prefix, { after, limit });
    same(`list() after ${after}`, shown(page), shown(expected.slice(0, limit)));
  }

  async #checkAll(store: JournalStore): Promise<void> {
    const items = await store.list(this.#prefix, { limit: 1_000 });
    same('list()', shown(items), shown(this.#listed()));
    same(
      'list() of another prefix',
      (await store.list(`${this.#prefix}~`, { limit: 9 })).length,
      0,
    );
  }

  async #clear(store: JournalStore): Promise<void> {
    for (const { key, value, ageMs } of await store.list(this.#prefix, { limit: 1_000 })) {
      same(`the age of ${key} in milliseconds`, ageMs >= 0 && ageMs < 3_600_000, true);
      await store.swap(key, value, undefined);
    }
    this.#model.clear();
  }

  #set(key: string, value: string | undefined): void {
    if (value === undefined) {
      this.#model.delete(key);
    } else {
      this.#model.set(key, value);
    }
  }

  #key(): string {
    const names = ['a', 'a/1', 'a/10', 'a/2', 'B', 'b', 'c-d', 'c/d', 'c_d', 'c%d'];
    return this.#prefix + (names[this.#next(names.length)] ?? '');
  }

  #listed(): Pick<JournalItem, 'key' | 'value'>[] {
    const items = [...this.#model].map(([key, value]) => ({ key, value }));
    return items.sort((one, other) => (one.key < other.key ? -1 : 1));
  }
}

function same(what: string, is: unknown, should: unknown): void {
  if (is !== should) {
    throw new Error(
      `The journal store is wrong: ${what} is ${JSON.stringify(is)}, not ${JSON.stringify(should)}.`,
    );
  }
}

function shown(items: readonly Pick<JournalItem, 'key' | 'value'>[]): string {
  return items.map(({ key, value }) => `${key}=${value}`).join('\n');
}

function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return Math.floor(((state >>> 0) / 4_294_967_296) * below);
  };
}
