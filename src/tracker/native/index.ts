import type { Tracker } from '../options.js';
import { KINDS, readOptions } from '../settings.js';
import { apiOf, createTab, setContact } from '../tracker.js';
import type { AnyEvents, EventMap } from '../types.js';
import type { Channel } from '../tab.js';
import type { NativeTrackerOptions } from './options.js';
import { createNativePage } from './page.js';
import { asRecord, checkStorage } from './storage.js';

export type * from '../public.js';
export type { NativeTrackerOptions, OnExit } from './options.js';
export type { NativeStorage } from './storage.js';

/**
 * The event tracker for places without a `document`, such as React Native: the same rules, with a
 * storage and a lifecycle that you give. One tracker of a namespace at a time. `postreel/tracker`
 * takes nothing in there.
 *
 * @example
 * const tracker = createNativeTracker({ publicKey: 'pk_…', baseUrl, storage, onExit });
 */
export function createNativeTracker<Events extends EventMap<Events> = AnyEvents>(
  options: NativeTrackerOptions,
): Tracker<Events> {
  const { storage, onExit, hasNetwork, ...rest } = readOptions(options, {
    ...KINDS,
    storage: 'any',
    honorGpc: 'any',
    onExit: 'function',
    hasNetwork: 'function',
  });
  refuseUnsupported({ ...rest, storage });
  if (rest.baseUrl === '') {
    throw new TypeError('baseUrl is missing'); // an app has no address of its own
  }
  // No store of a browser, no lock and no database: what is stored has one owner.
  const tab = createTab({ ...rest, storage: 'memory', honorGpc: false });
  if (storage !== 'memory') {
    checkStorage(storage);
    tab.local = asRecord(storage);
    tab.origin = tab.local;
    setContact(tab);
  }
  const { local } = tab;
  const removeRecord = (id: string) => Reflect.deleteProperty(local, id);
  Object.assign(tab, {
    document: {},
    isAlone: true,
    isOnline: hasNetwork ?? (() => true),
    removeRecord,
    // No copy elsewhere could come back, so that no tombstone is needed.
    deleteRecord: ({ id }: { id: string }) => removeRecord(id),
    channel: NO_CHANNEL,
  });
  return apiOf(tab, createNativePage(tab, onExit ?? (() => () => undefined)));
}

/** There are no other tabs. */
const NO_CHANNEL: Channel = {
  open: () => undefined,
  close: () => undefined,
  tell: () => undefined,
  findSilent: () => Promise.resolve(undefined),
};

/** Refuses what is not supported, in plain JavaScript too. */
function refuseUnsupported(options: object): void {
  const { storage, honorGpc } = options as { storage?: unknown; honorGpc?: unknown };
  if (storage === 'durable') {
    throw new TypeError("storage: 'durable' is for browsers: give a store, or 'memory'");
  }
  if (honorGpc !== undefined) {
    throw new TypeError('honorGpc is for browsers: set consent');
  }
}
