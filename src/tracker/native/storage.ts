/** A store of texts that answers at once, as MMKV does, or memory that you save yourself. */
export interface NativeStorage {
  /** The names of all that is stored, those of others included. */
  keys(): readonly string[];
  /** What is stored under a name; `null` or `undefined` where nothing is. */
  get(key: string): string | null | undefined;
  /** May throw where there is no room: the event is kept in memory then. */
  set(key: string, value: string): void;
  /** Forgets what is stored under a name. */
  remove(key: string): void;
}

/** Refuses at once what would lose events in silence later. */
export function checkStorage(storage: NativeStorage): void {
  const names = ['keys', 'get', 'set', 'remove'] as const;
  // Plain JavaScript may leave it out.
  const given = storage as Partial<NativeStorage> | undefined;
  const missing = names.filter((name) => !hasMethod(given, name));
  if (missing.length) {
    throw new TypeError(`storage needs ${missing.join(', ')}`);
  }
  if (!Array.isArray(storage.keys())) {
    throw new TypeError('storage must answer at once, not with a promise');
  }
}

function hasMethod(given: Partial<NativeStorage> | undefined, name: keyof NativeStorage): boolean {
  try {
    return typeof given?.[name] === 'function';
  } catch {
    return false; // whatever it is, it is no store
  }
}

/** The same store as an object whose properties are what is stored. */
export function asRecord(storage: NativeStorage): Record<string, string | undefined> {
  return new Proxy<Record<string, string | undefined>>(
    {},
    {
      get: (_, key) => storage.get(String(key)) ?? undefined,
      set: (_, key, value) => {
        storage.set(String(key), String(value));
        return true;
      },
      deleteProperty: (_, key) => {
        storage.remove(String(key));
        return true;
      },
      ownKeys: () => [...storage.keys()],
      // Without it no key counts as one of the object's own.
      getOwnPropertyDescriptor: (_, key) => {
        return { value: storage.get(String(key)), configurable: true, enumerable: true };
      },
    },
  );
}
