/** What stands under a key of a journal. */
export interface JournalItem {
  readonly key: string;
  readonly value: string;
  /** How long ago it was written, in milliseconds by the store's own clock. */
  readonly ageMs: number;
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
 * none and repeats none. Several processes may share a store. Keys are printable ASCII and values are
 * texts; `testJournal()` of `postreel/testing` tests a store of your own.
 */
export interface JournalStore {
  /**
   * Writes `to` where `from` stands, in one atomic step; `undefined` is a key without a value. Resolves
   * to what stands afterwards, once that is safe: `to`, or what somebody else has written.
   */
  swap(key: string, from: string | undefined, to: string | undefined): Promise<string | undefined>;
  /** What stands under a key. */
  get(key: string): Promise<JournalItem | undefined>;
  /** What begins with the prefix, in the order of its keys' code units. */
  list(prefix: string, page?: JournalPage): Promise<readonly JournalItem[]>;
  /**
   * Set on a store that several projects are likely to share under one name: the text says how to tell
   * them apart. A client then needs a `rateLimit.group`.
   */
  readonly needsGroup?: string | undefined;
}
