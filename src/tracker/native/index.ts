import type { Tracker } from '../options.js';
import type { StoredRecord } from '../queue/record.js';
import { apiOf, createTab } from '../tracker.js';
import type { AnyEvents, EventMap } from '../types.js';
import type { NativeTrackerOptions } from './options.js';
import { createNativePage } from './page.js';
import { asRecord, checkStorage } from './storage.js';

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
  const { storage, onExit, hasNetwork, ...rest } = options;
  refuseUnsupported(options);
  // No store of a browser, no lock and no database: what is stored has one owner.
  const tab = createTab({ ...rest, storage: 'memory', honorGpc: false });
  if (storage !== 'memory') {
    checkStorage(storage);
    tab.local = asRecord(storage);
  }
  const { local } = tab;
  Object.assign(tab, {
    document: {},
    isAlone: true,
    isOnline: hasNetwork ?? (() => true),
    // No copy elsewhere could come back, so that no tombstone is needed.
    bury: ({ id }: StoredRecord) => Reflect.deleteProperty(local, id),
  });
  return apiOf(tab, createNativePage(tab, onExit ?? (() => () => undefined)));
}

/** What cannot be had says so, in plain JavaScript too. */
function refuseUnsupported(options: object): void {
  const { storage, honorGpc } = options as { storage?: unknown; honorGpc?: unknown };
  if (storage === 'durable') {
    throw new TypeError("storage: 'durable' is for browsers: give a store, or 'memory'");
  }
  if (honorGpc !== undefined) {
    throw new TypeError('honorGpc is for browsers: set consent');
  }
}
