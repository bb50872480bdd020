/** A list that has not been asked for yet. */
export interface Paginated<T> extends PromiseLike<Page<T>>, AsyncIterable<T> {
  /** Every item, in pages of 100 unless `limit` was given, one page ahead. */
  [Symbol.asyncIterator](): ItemIterator<T>;
  /** Page by page. */
  pages(): AsyncIterableIterator<Page<T>>;
  /** All items in an array; `max` stops there, without an error. */
  toArray(options?: { max?: number | undefined }): Promise<T[]>;
  /** The first item, or `undefined` when there is none. */
  first(): Promise<T | undefined>;
}

/** An iterator over items, with the cursor of its place. */
export interface ItemIterator<T> extends AsyncIterableIterator<T> {
  /**
   * Where to resume with `list({ cursor })`: at the page that holds the next item. Between two
   * pages nothing comes twice; inside a page its first items come again.
   */
  readonly cursor: string | undefined;
}

/** One page of a list. Iterating it goes on to the pages after it. */
export interface Page<T> extends AsyncIterable<T> {
  readonly items: readonly T[];
  /** How many items the whole list has; `undefined` where the service did not tell. */
  readonly total: number | undefined;
  readonly hasMore: boolean;
  /** Where the next page starts, for `list({ cursor })`; `undefined` on the last page. */
  readonly cursor: string | undefined;
  /** The page after this one, or `undefined` when there is none. */
  nextPage(): Promise<Page<T> | undefined>;
}
