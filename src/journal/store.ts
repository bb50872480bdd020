/** A key of a journal and its value. */
export interface JournalItem {
  readonly key: string;
  readonly value: string;
}

/** Which part of a list to read. */
export interface JournalPage {
  /** Only keys behind this one. */
  readonly after?: string | undefined;
  /** The most items to read. @default all */
  readonly limit?: number | undefined;
}

/**
 * Where jobs and emails are written down before and after they are handed in, so that a crash loses
 * none and repeats none. Several processes may share a store. Each method is one atomic step, and
 * what it wrote is safe when it resolves; a write that failed may be made again. Keys are printable
 * ASCII and values are JSON; `testJournal()` of `postreel/testing` tests a store of your own.
 */
export interface JournalStore {
  /** Writes a value unless the key has one. Resolves to the value that stands. */
  putIfAbsent(key: string, value: string): Promise<string>;
  /** Writes a value over the one that stands, if any. */
  put(key: string, value: string): Promise<void>;
  /** The values of keys; keys without one are left out. */
  get(keys: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** What begins with the prefix, in the order of its keys' code units. */
  list(prefix: string, page?: JournalPage): Promise<readonly JournalItem[]>;
  /** Removes keys. */
  delete(keys: readonly string[]): Promise<void>;
  /** Resolves when all that was written is safe. */
  flush(): Promise<void>;
  /** Milliseconds since 1970 by the store's own clock. */
  now(): Promise<number>;
  /**
   * Set on a store that several projects are likely to share under one name: the text says how to tell
   * them apart. A client then needs a `rateLimit.group`.
   */
  readonly needsGroup?: string | undefined;
}
