import { KINDS, readOptions } from '../options.js';
import type { PageListener, TrackerEnvironment } from '../page.js';
import type { TextStore as NativeStorage } from '../store.js';
import type { Tabs } from '../tabs.js';
import { createTrackerIn } from '../tracker.js';
import type { AnyEvents, EventMap, Tracker, TrackerOptions } from '../types.js';

export type * from '../types.js';
export type { NativeStorage };

/**
 * Calls `leave` when the app goes to the background, and `comeBack` when it is visible again. Returns the
 * function that stops it.
 */
export type OnExit = (leave: () => void, comeBack: () => void) => () => void;

/**
 * Options of {@link createNativeTracker}: those of `createTracker`, without the browser-only ones. Times are
 * in milliseconds.
 */
export interface NativeTrackerOptions extends Omit<TrackerOptions, 'storage' | 'honorGpc'> {
  /** The storage for waiting events; no other app may use it. `memory` ends with the app. */
  readonly storage: NativeStorage | 'memory';
  /** Reports when the app is left and shown again; without it no event is sent when the app is left. */
  readonly onExit?: OnExit;
  /**
   * Returns false while there is no network: the tracker then tries once a minute. By default it assumes a
   * network.
   */
  readonly hasNetwork?: () => boolean;
}

/**
 * Creates the event tracker of an app without a `document`, such as one in React Native.
 *
 * It follows the rules of `createTracker`, with a storage and a lifecycle that you supply. Use one tracker of
 * a namespace at a time. `postreel/tracker` drops all events in such an app.
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
  if (storage !== 'memory') {
    checkStorage(storage);
  }
  const store = storage === 'memory' ? createMemoryStore() : storage;
  const environment: TrackerEnvironment = {
    openStore: () => store,
    isOnline: hasNetwork ?? (() => true),
    createTabs: createNoTabs,
    whenShown: (work) => work(),
    observe: (_, listener) => observeApp(onExit, listener),
  };
  return createTrackerIn<Events>(environment, { ...rest, honorGpc: false });
}

/** Only one app uses the storage: it takes over all stored events at once. */
const createNoTabs: TrackerEnvironment['createTabs'] = ({ queue, onChange }): Tabs => ({
  open: () => undefined,
  close: () => undefined,
  broadcast: () => undefined,
  look: () => {
    queue().claim(({ owner }) => owner !== queue().owner);
    queue().adopt();
    onChange();
  },
});

function observeApp(onExit: OnExit | undefined, listener: PageListener): () => void {
  let isLeft = false;
  const stop = onExit?.(
    () => {
      isLeft = true;
      listener.leave();
    },
    () => {
      if (isLeft) {
        isLeft = false;
        listener.comeBack();
      }
    },
  );
  // The effect may return no function to stop it.
  return () => (typeof stop === 'function' ? stop() : undefined);
}

function createMemoryStore(): NativeStorage {
  const texts = new Map<string, string>();
  return {
    keys: () => [...texts.keys()],
    get: (key) => texts.get(key),
    set: (key, value) => void texts.set(key, value),
    remove: (key) => void texts.delete(key),
  };
}

/** Throws for unsupported options, also in plain JavaScript. */
function refuseUnsupported(options: object): void {
  const { storage, honorGpc, baseUrl } = options as Record<string, unknown>; // as: read by name
  if (storage === 'durable') {
    throw new TypeError("storage: 'durable' is for browsers: give a store, or 'memory'");
  }
  if (honorGpc !== undefined) {
    throw new TypeError('honorGpc is for browsers: set consent');
  }
  if (baseUrl === '') {
    throw new TypeError('baseUrl is missing'); // an app has no page address, so a relative address cannot work
  }
}

/** Throws at once for a storage that would silently lose events later. */
function checkStorage(storage: NativeStorage): void {
  const names = ['keys', 'get', 'set', 'remove'] as const;
  const missing = names.filter((name) => !hasMethod(storage, name));
  if (missing.length) {
    throw new TypeError(`storage needs ${missing.join(', ')}`);
  }
  if (!Array.isArray(storage.keys())) {
    throw new TypeError('storage must answer at once, not with a promise');
  }
}

function hasMethod(given: unknown, name: keyof NativeStorage): boolean {
  try {
    return typeof Reflect.get(Object(given) as object, name) === 'function';
  } catch {
    return false; // a storage whose properties cannot be read is invalid
  }
}
