import { memoryJournal, type JournalStore } from 'postreel';

type Verb = 'swap' | 'get' | 'list';

/** A journal in memory whose steps a test can watch, delay and make fail. */
export function watchedJournal() {
  const memory = memoryJournal();
  const steps: string[] = [];
  const texts: string[] = [];
  let before: (verb: Verb, to: string | undefined) => Promise<void> | undefined = () => undefined;
  const step = async <T>(verb: Verb, key: string, run: () => Promise<T>, to?: string) => {
    if (!key.startsWith('once/')) {
      return run(); // reads when old keys were last removed
    }
    await before(verb, to);
    const result = await run();
    steps.push(verb === 'swap' ? stateOf(to) : verb);
    return result;
  };
  const journal: JournalStore = {
    swap: (key, from, to) => {
      texts.push(to ?? '');
      return step('swap', key, () => memory.swap(key, from, to), to);
    },
    get: (key) => step('get', key, () => memory.get(key)),
    list: (prefix, page) => step('list', prefix, () => memory.list(prefix, page)),
  };
  return {
    journal,
    memory,
    /** The steps in order: `get`, `list`, or the state that was written. */
    steps,
    /** The texts passed to `swap`. */
    texts,
    written: () => steps.filter((one) => one !== 'get' && one !== 'list'),
    /** Sets a function that runs before each step: it may throw or take its time. */
    before: (run: typeof before) => {
      before = run;
    },
  };
}

function stateOf(text: string | undefined): string {
  return text === undefined ? 'free' : (JSON.parse(text) as { state: string }).state;
}
