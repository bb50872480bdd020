import type { TrackerOptions } from 'postreel/tracker';
import { createNativeTracker } from 'postreel/tracker/native';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { fakePage } from '../support/tracker/page.js';

let page: ReturnType<typeof fakePage> | undefined;

afterEach(async () => {
  await page?.close();
  page = undefined;
});

const fails = () => {
  throw new Error('full');
};
const full = () => new Proxy({}, { set: fails });
const noAnswer = () => ({});
/** Opens at once; what is done with it then is up to the test. */
const opens = (transaction: () => unknown) => () => {
  const request: { result: unknown; onsuccess?: () => void } = {
    result: { transaction, close: () => undefined },
  };
  queueMicrotask(() => request.onsuccess?.());
  return request;
};

/** What a page may have for its two stores; `undefined` is a sound localStorage, or no IndexedDB. */
interface Stores {
  readonly localStorage?: () => unknown;
  readonly open?: () => unknown;
}

const storageFailed = /^The storage failed\. .+\.$/;
const databaseFailed = /^IndexedDB failed\. .+\.$/;

const faults: Readonly<Record<string, Stores & { readonly told: RegExp }>> = {
  'localStorage that is full': { localStorage: full, told: storageFailed },
  'localStorage that is forbidden': { localStorage: fails, told: storageFailed },
  'localStorage that is null': { localStorage: () => null, told: storageFailed },
  'IndexedDB that is not there': { told: databaseFailed },
  'IndexedDB that is forbidden': { open: fails, told: databaseFailed },
  'IndexedDB that does not open': { open: noAnswer, told: databaseFailed },
  'IndexedDB whose transactions fail': { open: opens(fails), told: databaseFailed },
  'IndexedDB whose transactions hang': {
    open: opens(() => ({
      objectStoreNames: [],
      objectStore: () => ({ get: noAnswer, put: noAnswer }),
    })),
    told: databaseFailed,
  },
};

/** The warnings of a page that tracks three times. */
async function warningsOf({ localStorage, open }: Stores, options: Partial<TrackerOptions> = {}) {
  page = fakePage({ indexedDB: open && { open } });
  if (localStorage) {
    vi.stubGlobal('localStorage', undefined); // it is put back at the end
    Object.defineProperty(globalThis, 'localStorage', { get: localStorage, configurable: true });
  }
  const tracker = page.start(options);
  const warnings: string[] = [];
  tracker.on('warning', ({ message }) => warnings.push(message));
  for (let count = 0; count < 3; count++) {
    tracker.track('x');
    await page.pass(20_000);
  }
  const { length } = page.sent;
  tracker.dispose();
  await page.close();
  expect(length, 'the work goes on').toBe(3);
  return warnings;
}

/** The warnings of an app whose store takes nothing. */
async function nativeWarnings() {
  page = fakePage();
  const warnings: string[] = [];
  const tracker = createNativeTracker({
    publicKey: 'pk_test',
    baseUrl: 'https://service.test',
    email: 'ann@example.com',
    storage: { keys: () => [], get: () => null, set: fails, remove: () => undefined },
    fetch: () => Promise.resolve(Response.json({ success: true })),
  });
  tracker.on('warning', ({ message }) => warnings.push(message));
  tracker.track('x');
  tracker.track('x');
  await page.pass(5_000);
  tracker.dispose();
  return warnings;
}

describe('a page goes on without a store, and is told so once', () => {
  it.each(Object.entries(faults))('%s', async (_, { told, ...stores }) => {
    const warnings = await warningsOf(stores);
    expect(warnings.filter((message) => told.test(message))).toHaveLength(1);
  });

  it('a denial that localStorage has no room for', async () => {
    page = fakePage({ localStorage: full() });
    const tracker = page.start();
    const warnings: string[] = [];
    tracker.on('warning', ({ message }) => warnings.push(message));
    await Promise.all([tracker.consent.deny(), page.pass(20_000)]);
    expect(warnings.filter((message) => storageFailed.test(message))).toHaveLength(1);
  });

  it('the store of an app that takes nothing', async () => {
    expect(await nativeWarnings()).toEqual([expect.stringMatching(storageFailed)]);
  });

  it('but for one whose events are to stay in memory', async () => {
    expect(await warningsOf({}, { storage: 'memory' })).toEqual([]);
  });
});
