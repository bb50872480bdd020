import type { JournalStore } from 'postreel';
import type { RateBudgetStore } from '../../../../src/core/rate-store.js';
import { keyOf, storedKey, storedValue, valueOf } from '../../../../src/journal/stored-text.js';
import type { Random } from './random.js';
import type { VirtualTime } from './time.js';

/** How the store of a world behaves. */
export type StoreHabit = 'none' | 'good' | 'slow' | 'hangs' | 'fails' | 'lies';

/** A store of pending slots on virtual time, good or bad; several runs may share it. */
export function modelStore(
  habit: StoreHabit,
  time: VirtualTime,
  random: Random,
): RateBudgetStore | undefined {
  if (habit === 'none') {
    return undefined;
  }
  const leases = new Map<string, number>();
  let names = 0;
  const lease = (count: number, limit: number, leaseMs: number): string[] => {
    for (const [name, until] of leases) {
      if (until <= time.now()) {
        leases.delete(name);
      }
    }
    const free = Math.max(0, Math.min(count, limit - leases.size));
    const taken = Array.from({ length: free }, () => `lease ${++names}`);
    taken.forEach((name) => leases.set(name, time.now() + leaseMs));
    return taken;
  };
  /** Now and then it is as bad as it can be; a liar says that all is taken, or gives too much. */
  const answer = async <T>(honest: () => T, lie: () => NoInfer<T>): Promise<T> => {
    const isBad = random.chance(0.3);
    await time.sleep(habit === 'slow' ? random.next() * 8_000 : random.next() * 20);
    if (habit === 'hangs' && isBad) {
      return new Promise(() => undefined);
    }
    if (habit === 'fails' && isBad) {
      throw new Error('the store is gone');
    }
    return habit === 'lies' && isBad ? lie() : honest();
  };
  const nothing = () => undefined;
  const tooMany = () => Array.from({ length: 30 }, () => `lease ${++names}`);
  return {
    take: () => Promise.resolve({ slots: ['slot'] }),
    release: () => Promise.resolve(),
    cancel: () => Promise.resolve(),
    close: () => Promise.resolve(),
    lease: (_, count, limit, leaseMs) =>
      answer(
        () => lease(count, limit, leaseMs),
        () => (random.chance(0.5) ? [] : tooMany()),
      ),
    hold: (_, held, leaseMs, instead) =>
      answer(() => {
        instead.forEach((name) => leases.delete(name));
        held.forEach((name) => leases.set(name, time.now() + leaseMs));
      }, nothing),
    giveBack: (_, places) => answer(() => places.forEach((name) => leases.delete(name)), nothing),
  };
}

const halfOfPair = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** A store of UTF-8, as Redis or Postgres are: it refuses half an emoji and U+0000, so they are written out. */
export function utf8Store(store: JournalStore): JournalStore {
  const kept = (text: string) => {
    if (text.includes('\0') || halfOfPair.test(text)) {
      throw new Error('the store refuses this text');
    }
    return text;
  };
  const key = (text: string) => kept(storedKey(text));
  const value = (text: string) => kept(storedValue(text));
  return {
    ...store,
    putIfAbsent: async (at, text) => valueOf(await store.putIfAbsent(key(at), value(text))),
    put: (at, text) => store.put(key(at), value(text)),
    get: async (keys) => {
      const found = await store.get(keys.map(key));
      return new Map([...found].map(([at, text]) => [keyOf(at), valueOf(text)]));
    },
    list: async (prefix, { after, limit } = {}) => {
      const page = { after: after === undefined ? undefined : key(after), limit };
      const items = await store.list(key(prefix), page);
      return items.map((item) => ({ key: keyOf(item.key), value: valueOf(item.value) }));
    },
    delete: (keys) => store.delete(keys.map(key)),
  };
}

/** A journal that lags, loses replies of what it did, or fails; what it answered stands. */
export function modelJournal(
  store: JournalStore,
  time: VirtualTime,
  random: Random,
): { readonly store: JournalStore; readonly isReliable: boolean } {
  const isBad = random.chance(0.3);
  const badness = isBad ? random.pick(['lags', 'loses', 'fails', 'hangs'] as const) : 'good';
  const answer = async <T>(ask: () => Promise<T>): Promise<T> => {
    const isNow = badness !== 'good' && random.chance(badness === 'lags' ? 1 : 0.05);
    if (isNow && badness === 'lags') {
      await time.sleep(random.next() * 2_000);
    }
    if (isNow && badness === 'hangs') {
      return new Promise(() => undefined);
    }
    if (isNow && badness === 'fails') {
      throw new Error('the journal is gone');
    }
    const result = await ask();
    if (isNow && badness === 'loses') {
      throw new Error('the reply is lost');
    }
    return result;
  };
  const own: JournalStore = {
    putIfAbsent: (key, value) => answer(() => store.putIfAbsent(key, value)),
    put: (key, value) => answer(() => store.put(key, value)),
    get: (keys) => answer(() => store.get(keys)),
    list: (prefix, page) => store.list(prefix, page),
    delete: (keys) => answer(() => store.delete(keys)),
    flush: () => Promise.resolve(),
    now: () => store.now(),
  };
  return { store: own, isReliable: badness === 'good' || badness === 'lags' };
}

/** The journal of a process that may die: then it is not heard of again. */
export function dying(store: JournalStore, isDead: () => boolean): JournalStore {
  const alive = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (isDead()) {
      return new Promise<never>(() => undefined);
    }
    const result = await ask();
    return isDead() ? new Promise<never>(() => undefined) : result;
  };
  return {
    putIfAbsent: (key, value) => alive(() => store.putIfAbsent(key, value)),
    put: (key, value) => alive(() => store.put(key, value)),
    get: (keys) => alive(() => store.get(keys)),
    list: (prefix, page) => alive(() => store.list(prefix, page)),
    delete: (keys) => alive(() => store.delete(keys)),
    flush: () => alive(() => store.flush()),
    now: () => alive(() => store.now()),
  };
}
