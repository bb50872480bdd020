import type { TrackerOptions } from 'postreel/tracker';
import { createNativeTracker } from 'postreel/tracker/native';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { fakePage, fakeStorage } from '../support/tracker/page.js';

let page: ReturnType<typeof fakePage> | undefined;

afterEach(async () => {
  await page?.close();
  page = undefined;
});

const fails = () => {
  throw new Error('full');
};
const storageWith = (methods: object) => () =>
  Object.assign(Object.create(fakeStorage()) as object, methods);

const faults: Readonly<Record<string, () => unknown>> = {
  'is full': storageWith({ setItem: fails }),
  'cannot be read': storageWith({ getItem: fails }),
  'is forbidden': fails,
  'is null': () => null,
  'fails in every call': storageWith({ setItem: fails, getItem: fails, removeItem: fails }),
};
const storageFailed = /^The storage failed\. .+\.$/;

/** The warnings of a page that tracks three times. */
async function warningsOf(localStorage?: () => unknown, options: Partial<TrackerOptions> = {}) {
  page = fakePage();
  if (localStorage) {
    vi.stubGlobal('localStorage', undefined); // page.close() restores it
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
  expect(length, 'the tracker continues').toBe(3);
  return warnings;
}

/** The warnings of an app whose store throws on every write. */
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

describe('a tracker continues in memory and emits one warning after', () => {
  it.each(Object.entries(faults))('a localStorage that %s', async (_, localStorage) => {
    expect(await warningsOf(localStorage)).toEqual([expect.stringMatching(storageFailed)]);
  });

  it('a denial that localStorage has no room for', async () => {
    page = fakePage({ localStorage: faults['is full']!() });
    const tracker = page.start();
    const warnings: string[] = [];
    tracker.on('warning', ({ message }) => warnings.push(message));
    await Promise.all([tracker.consent.deny(), page.pass(20_000)]);
    expect(warnings.filter((message) => storageFailed.test(message))).toHaveLength(1);
  });

  it("an app's store that throws on every write", async () => {
    expect(await nativeWarnings()).toEqual([expect.stringMatching(storageFailed)]);
  });

  it('and emits no warning if its events are kept in memory anyway', async () => {
    expect(await warningsOf(undefined, { storage: 'memory' })).toEqual([]);
  });
});
