import { sleep } from '../core/async.js';
import { readOptions, wholeNumber } from '../core/options.js';
import type { JournalItem, JournalStore } from '../core/once/journal.js';

/** Options of {@link testJournal}. */
export interface TestJournalOptions {
  /** The seed of the random steps; the same seed repeats the same runs. @default 1 */
  seed?: number | undefined;
  /** Number of runs of random steps. @default 20 */
  runs?: number | undefined;
}

/**
 * Tests your journal store, in any test runner.
 *
 * Compares the store with a model over random steps, reads back the entries that another instance wrote, lets
 * many instances write one key at once, and checks that the ages of entries grow.
 *
 * @param open - Opens the store under test; each call must open the same journal, as separate processes
 *   would.
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
    await new Run(open, `test-${seed}-${run}/`, next).play();
  }
  await testAges(await open(), `test-${seed}-ages/`);
}

// The values and keys of clients: printable ASCII, up to a few hundred characters.
const texts = [
  '{}',
  '{"at":1}',
  '"é ü 漢字 😀"',
  '"\\u0000\\ud83d"',
  `"%_'\\\\$1 \\n"`,
  JSON.stringify('x'.repeat(10_000)),
];
const names = [
  'a',
  'a/1',
  'a/10',
  'a/2',
  'A',
  'b',
  'c-d',
  'c/d',
  'c_d',
  'c%d',
  '~',
  'x'.repeat(400),
];
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
    await clear(store, this.#prefix);
    for (let step = 0; step < stepsInRun; step++) {
      if (this.#next(5) === 0) {
        store = await this.#open();
      }
      await this.#step(store);
    }
    await this.#writeApart();
    await this.#race(undefined);
    await this.#race(texts[this.#next(texts.length)]);
    await this.#checkAll(await this.#open());
    await clear(store, this.#prefix);
  }

  async #step(store: JournalStore): Promise<void> {
    const key = this.#key();
    const before = this.#model.get(key);
    switch (this.#next(4)) {
      case 0:
      case 1: {
        // In two of three tries the expected value is the stored one.
        const from = this.#next(3) === 0 ? this.#text() : before;
        const to = this.#next(3) === 0 ? undefined : this.#text();
        const current = from === before ? to : before;
        same(`swap(${key})`, await store.swap(key, from, to), current);
        this.#set(key, current);
        break;
      }
      case 2: {
        const item = await store.get(key);
        same(`get(${key})`, item?.value, before);
        same(`the key of get(${key})`, item?.key, before === undefined ? undefined : key);
        same('get() of a missing key', await store.get(`${this.#prefix}none`), undefined);
        break;
      }
      default:
        await this.#checkPage(store, key);
    }
  }

  // Several instances write different keys at the same time: no write may be lost.
  async #writeApart(): Promise<void> {
    const keys = Array.from({ length: rivals }, (_, index) => `${this.#prefix}apart/${index}`);
    const stores = await Promise.all(keys.map(async () => this.#open()));
    const write = async (key: string, index: number) =>
      stores[index]?.swap(key, undefined, `"${index}"`);
    await Promise.all(keys.map(write));
    keys.forEach((key, index) => this.#set(key, `"${index}"`));
  }

  // Several instances change one key at the same time: one value wins, and all of them get that result.
  async #race(from: string | undefined): Promise<void> {
    const key = `${this.#prefix}race`;
    const first = await this.#open();
    await first.swap(key, this.#model.get(key), from);
    const stores = await Promise.all(Array.from({ length: rivals }, async () => this.#open()));
    const current = await Promise.all(
      stores.map((store, index) => store.swap(key, from, `"rival ${index}"`)),
    );
    same('the number of values after a race', new Set(current).size, 1);
    same('the value after a race', (await first.get(key))?.value, current[0]);
    this.#set(key, current[0]);
  }

  async #checkPage(store: JournalStore, after: string): Promise<void> {
    const limit = 1 + this.#next(4);
    const expected = this.#listed().filter(({ key }) => key > after);
    const page = await store.list(this.#prefix, { after, limit });
    same(`list() after ${after}`, shown(page), shown(expected.slice(0, limit)));
  }

  async #checkAll(store: JournalStore): Promise<void> {
    same('list()', shown(await store.list(this.#prefix)), shown(this.#listed()));
    for (const part of ['a/', 'c_', 'c%']) {
      const prefix = this.#prefix + part;
      const expected = this.#listed().filter(({ key }) => key.startsWith(prefix));
      same(`list() of ${prefix}`, shown(await store.list(prefix)), shown(expected));
    }
  }

  #set(key: string, value: string | undefined): void {
    if (value === undefined) {
      this.#model.delete(key);
    } else {
      this.#model.set(key, value);
    }
  }

  #key(): string {
    return this.#prefix + (names[this.#next(names.length)] ?? '');
  }

  #text(): string {
    return texts[this.#next(texts.length)] ?? '';
  }

  #listed(): Pick<JournalItem, 'key' | 'value'>[] {
    const items = [...this.#model].map(([key, value]) => ({ key, value }));
    return items.sort((one, other) => (one.key < other.key ? -1 : 1));
  }
}

/** The age of an entry grows in milliseconds until it is written again, even with the same value. */
async function testAges(store: JournalStore, prefix: string): Promise<void> {
  await clear(store, prefix);
  const key = `${prefix}claim`;
  const age = async () => {
    const [listed] = await store.list(prefix);
    const { ageMs = NaN } = (await store.get(key)) ?? {};
    const listedMs = listed?.ageMs ?? NaN;
    requireThat(
      Math.abs(listedMs - ageMs) < slackMs,
      `list() and get() must return the same age; list() returned ${listedMs} ms, get() ${ageMs} ms.`,
    );
    return ageMs;
  };
  const between = (what: string, ageMs: number, least: number) => {
    const isWithin = ageMs >= least && ageMs < least + slackMs;
    requireThat(isWithin, `${what} must have an age of about ${least} ms; got ${ageMs} ms.`);
  };
  await store.swap(key, undefined, '"1"');
  between('a new entry', await age(), 0);
  // Wait by the clock: the process may have fake timers that run fast.
  for (const from = Date.now(); Date.now() - from < oldMs;) {
    await sleep(oldMs / 10, undefined);
  }
  const before = await age();
  between(`an entry written ${oldMs} ms ago`, before, oldMs - 100);
  await store.swap(key, '"other"', '"2"');
  between('an entry after a swap that changed nothing', await age(), oldMs - 100);
  await store.swap(key, '"1"', '"1"');
  requireThat((await age()) < before, 'writing an entry again must reset its age.');
  await clear(store, prefix);
}

const oldMs = 1_000;
// The tolerance for a slow store on a busy machine.
const slackMs = 30_000;

async function clear(store: JournalStore, prefix: string): Promise<void> {
  for (const { key, value } of await store.list(prefix)) {
    await store.swap(key, value, undefined);
  }
}

function same(what: string, is: unknown, should: unknown): void {
  requireThat(is === should, `${what} is ${JSON.stringify(is)}, not ${JSON.stringify(should)}.`);
}

function requireThat(condition: boolean, message: string): void {
  if (!condition) {
    throw new Error(`The journal store is wrong: ${message}`);
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
