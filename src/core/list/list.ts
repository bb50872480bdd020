import { macrotask } from '../async.js';
import { readOptions, atLeast, type OptionKinds } from '../options.js';
import { UnexpectedResponseError } from '../errors.js';
import { largestPage, type ListResult, type Route } from '../call/route.js';
import type { ItemIterator, Page, Paginated } from '../types.js';
import { isRecord } from '../values.js';

/**
 * Lists. Three parts, from the response to the loop: reading a page (`readList`), finding the next page
 * (`nextQueryOf`), and the ways to read a whole list (`PagedList`), with pages requested in advance.
 */

/** The query of one page. */
export type PageQuery = Readonly<Record<string, unknown>>;

/** One page, with its position in the names of this library, however the service numbers its pages. */
export interface RawPage {
  readonly items: readonly unknown[];
  readonly cursor?: string | undefined;
  readonly hasMore?: boolean | undefined;
  readonly total?: number | undefined;
  readonly page?: number | undefined;
  readonly pageSize?: number | undefined;
  readonly totalPages?: number | undefined;
}

type ListFacts = Pick<ListResult<unknown>, 'list' | 'sizeParameter' | 'itemsName'>;

// ---- reading a page

/**
 * Reads a list in any of its forms: a bare array; the items under `data` or under the resource's name; or
 * the only array in the body. `undefined` if the response contains no list.
 */
export function readList(body: unknown, facts: ListFacts): RawPage | undefined {
  if (body === undefined || body === null || body === true) {
    return { items: [] };
  }
  if (Array.isArray(body)) {
    return { items: body as unknown[] };
  }
  if (!isRecord(body)) {
    return undefined;
  }
  // The whole list may be wrapped in an envelope. The list's own `data` is an array.
  const list = isRecord(body['data']) ? body['data'] : body;
  const items = itemsOf(list, facts.itemsName);
  return items && { items, ...positionOf(list) };
}

function itemsOf(body: Record<string, unknown>, name = 'data'): unknown[] | undefined {
  const named = ['data', name].map((one) => body[one]).find(Array.isArray);
  if (named) {
    return named as unknown[];
  }
  const arrays = Object.values(body).filter(Array.isArray) as unknown[][];
  if (arrays.length === 1) {
    return arrays[0];
  }
  // `{}` and `{ success: true }` are empty lists. Any other body without an array is not a list.
  const isEmpty = Object.keys(body).every((field) => field === 'success');
  return isEmpty ? [] : undefined;
}

function positionOf(body: Record<string, unknown>): Omit<RawPage, 'items'> {
  const { cursor, hasMore, total, page, pageSize, totalPages } = body;
  return {
    cursor: typeof cursor === 'string' && cursor !== '' ? cursor : undefined,
    hasMore: typeof hasMore === 'boolean' ? hasMore : undefined,
    total: numberOf(total),
    page: numberOf(page),
    pageSize: numberOf(pageSize),
    totalPages: numberOf(totalPages),
  };
}

// ---- finding the next page

/**
 * The query of the next page; `undefined` if this page is the last. `unread` is the number of items that are
 * still missing from the total, if the total and the number of earlier items are known.
 */
function nextQueryOf(
  page: RawPage,
  query: PageQuery,
  facts: ListFacts,
  unread = 0,
): PageQuery | undefined {
  if (page.hasMore === false) {
    return undefined;
  }
  if (page.cursor !== undefined) {
    return omitField({ ...query, cursor: page.cursor }, 'page');
  }
  // Without a cursor, a page without items is the last, even if `hasMore` is true.
  const isCursorList = query['cursor'] !== undefined && page.page === undefined;
  if (page.items.length === 0 || (isCursorList && page.hasMore !== true)) {
    return undefined;
  }
  const current = page.page ?? numberOf(query['page']) ?? 1;
  const size = page.pageSize ?? numberOf(query[facts.sizeParameter ?? '']) ?? page.items.length;
  const isNumbered =
    facts.list === 'page' || page.page !== undefined || page.pageSize !== undefined;
  // A service may send smaller pages than were requested.
  const isUnread = page.total !== undefined && (current * size < page.total || unread > 0);
  const isFollowed =
    page.totalPages === undefined ? isNumbered && isUnread : current < page.totalPages;
  return page.hasMore === true || isFollowed
    ? omitField({ ...query, page: current + 1 }, 'cursor')
    : undefined;
}

/** The start of a page as one text, which `list({ cursor })` accepts. */
function cursorOf(query: PageQuery, facts: ListFacts): string | undefined {
  if (typeof query['cursor'] === 'string') {
    return query['cursor'];
  }
  // A page number means nothing without the page size.
  const [page, size] = [numberOf(query['page']), numberOf(query[facts.sizeParameter ?? ''])];
  return page === undefined ? undefined : `page:${page}${size === undefined ? '' : `/${size}`}`;
}

/** Replaces a cursor of `cursorOf()` by its page number and size. */
function resolveCursor(query: PageQuery, facts: ListFacts): PageQuery {
  const { cursor } = query;
  const match = typeof cursor === 'string' ? /^page:(\d+)(?:\/(\d+))?$/.exec(cursor) : null;
  if (!match) {
    return query;
  }
  const size = facts.sizeParameter && match[2] ? { [facts.sizeParameter]: Number(match[2]) } : {};
  return omitField({ ...size, ...query, page: Number(match[1]) }, 'cursor');
}

function isStart(query: PageQuery): boolean {
  return query['cursor'] === undefined && (query['page'] ?? 1) === 1;
}

/** Reads a number, including one written as text. */
function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

function omitField(query: Record<string, unknown>, dropped: string): PageQuery {
  return Object.fromEntries(Object.entries(query).filter(([name]) => name !== dropped));
}

// ---- the ways to read a list

/** The call for one page. `isSent`: has its request been sent? */
type PageCall = PromiseLike<unknown> & { readonly isSent?: boolean };

/** The dependencies of a list, in addition to its row and query. */
interface ListParts {
  readonly fetch: (query: PageQuery) => PageCall;
  readonly prefetch?: number | undefined;
  /** Emits a `warning`. */
  readonly warn?: (message: string) => void;
}

const toArrayOptions: OptionKinds<{ max?: number | undefined }> = { max: atLeast(0) };

/** A list whose pages are requested on demand. Each way to read it starts at its first page. */
export class PagedList<T> implements Paginated<T> {
  readonly #facts: ListResult<unknown>;
  readonly #route: Route;
  readonly #query: PageQuery;
  readonly #parts: ListParts;
  #first: Promise<Page<T>> | undefined;

  constructor(route: Route, query: object | undefined, parts: ListParts) {
    this.#route = route;
    this.#facts = route.returns as ListResult<unknown>; // as: only rows of lists get here
    this.#query = resolveCursor({ ...query }, this.#facts);
    this.#parts = parts;
  }

  // `await list` resolves to one page, of the size that the caller or the service chose.
  then<Value = Page<T>, Caught = never>(
    onPage?: ((page: Page<T>) => Value | PromiseLike<Value>) | null,
    onError?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Value | Caught> {
    this.#first ??= this.#createLoader().load(this.#query);
    return this.#first.then(onPage, onError);
  }

  [Symbol.asyncIterator](): ItemIterator<T> {
    return this.#items(Number.POSITIVE_INFINITY);
  }

  /** Throws. For programs in plain JavaScript: neither `for … of` nor `[...list]` can wait for a page. */
  [Symbol.iterator](): never {
    throw new TypeError(
      'A list is fetched page by page: use `for await (const item of list)` or `await list.toArray()`.',
    );
  }

  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    const prefetcher = new Prefetcher<T>(this.#parts.prefetch ?? 0, Number.POSITIVE_INFINITY);
    try {
      let page: ListPage<T> | undefined = await this.#createLoader().load(
        this.#withSize(largestPage),
      );
      while (page) {
        await prefetcher.follow(page);
        yield page;
        page = await prefetcher.take(page);
      }
    } finally {
      prefetcher.stop();
    }
  }

  async toArray(options?: { max?: number | undefined }): Promise<T[]> {
    const owner = { name: '`toArray()`' };
    const { max = Number.POSITIVE_INFINITY } = readOptions(options, toArrayOptions, owner);
    const items: T[] = [];
    if (max <= 0) {
      return items;
    }
    for await (const item of this.#items(max)) {
      items.push(item);
      if (items.length >= max) {
        break;
      }
    }
    return items;
  }

  async first(): Promise<T | undefined> {
    const [first] = await this.toArray({ max: 1 });
    return first;
  }

  #items(max: number): PagedItems<T> {
    const query = this.#withSize(Math.min(largestPage, max));
    const prefetcher = new Prefetcher<T>(this.#parts.prefetch ?? 1, max);
    return new PagedItems(
      () => this.#createLoader().load(query),
      cursorOf(query, this.#facts),
      prefetcher,
    );
  }

  /** The query for pages of this size, unless the caller chose a size. */
  #withSize(size: number): PageQuery {
    const { sizeParameter } = this.#facts;
    return sizeParameter === undefined || this.#query[sizeParameter] !== undefined
      ? this.#query
      : { ...this.#query, [sizeParameter]: size };
  }

  #createLoader(): PageLoader<T> {
    return new PageLoader(this.#route, this.#facts, this.#parts);
  }
}

/** The position of a page in the list. */
interface PagePosition {
  /** 0 for the first page that was loaded. */
  readonly index: number;
  /** The total of the first page: later pages report 0. */
  readonly total: number | undefined;
  readonly before: RawPage | undefined;
  /** The number of items on the pages before this one; `undefined` if the first loaded page is in the middle. */
  readonly itemsBefore: number | undefined;
}

// How many cursors are remembered. A loop of pages is far shorter.
const maxCursors = 10_000;
// A list may have empty pages, e.g. where the service filtered items out, but not this many in a row.
const maxEmptyPages = 100;

/** Loads the pages of a list, one after another, and detects loops. */
class PageLoader<T> {
  readonly facts: ListResult<unknown>;
  readonly parts: ListParts;
  readonly #route: Route;
  /** The page index at which each cursor was used: the same page may be loaded twice. */
  readonly #seen = new Map<string, number>();
  #latest: PageCall | undefined;
  #lastFilled = 0;

  constructor(route: Route, facts: ListResult<unknown>, parts: ListParts) {
    this.#route = route;
    this.facts = facts;
    this.parts = parts;
  }

  async load(query: PageQuery, position?: PagePosition): Promise<ListPage<T>> {
    const itemsBefore = isStart(query) ? 0 : undefined;
    const at = position ?? { index: 0, total: undefined, before: undefined, itemsBefore };
    this.#remember(cursorOf(query, this.facts), at.index);
    this.#latest = this.parts.fetch(query);
    const raw = (await this.#latest) as RawPage; // as: read by `readList()`
    if (at.before && isRepeated(raw, at.before)) {
      throw this.#loopError('sent the same page twice');
    }
    if (raw.items.length > 0) {
      this.#lastFilled = Math.max(this.#lastFilled, at.index);
    } else if (at.index - this.#lastFilled >= maxEmptyPages) {
      throw this.#loopError(`sent ${maxEmptyPages} empty pages in a row`);
    }
    return new ListPage<T>(this, query, at, raw);
  }

  /** Has the latest page's request been sent? */
  get isSent(): boolean {
    return this.#latest?.isSent ?? true;
  }

  // Forgets the oldest cursors, so that memory stays constant.
  #remember(cursor: string | undefined, index: number): void {
    if (cursor === undefined) {
      return;
    }
    if ((this.#seen.get(cursor) ?? index) !== index) {
      throw this.#loopError('sent the same cursor twice');
    }
    this.#seen.set(cursor, index);
    if (this.#seen.size > maxCursors) {
      const [oldest = ''] = this.#seen.keys();
      this.#seen.delete(oldest);
    }
  }

  #loopError(problem: string): UnexpectedResponseError {
    const { method, path } = this.#route;
    return new UnexpectedResponseError(
      `${method} ${path} ${problem}, so the list would never end. The items before that page are complete.`,
      { code: 'PAGINATION_LOOP', method, path, outcome: 'rejected' },
    );
  }
}

// Compares only pages that are requested by number: two cursors may lead to equal items without a loop.
function isRepeated(page: RawPage, before: RawPage): boolean {
  if (before.cursor !== undefined || page.items.length === 0) {
    return false;
  }
  const isSame = page.page !== undefined && page.page === before.page;
  return isSame || JSON.stringify(page.items) === JSON.stringify(before.items);
}

/** One page, and the way to the next one. */
class ListPage<T> implements Page<T> {
  readonly items: readonly T[];
  readonly total: number | undefined;
  readonly hasMore: boolean;
  readonly cursor: string | undefined;
  readonly #loader: PageLoader<T>;
  readonly #query: PageQuery;
  readonly #position: PagePosition;
  readonly #next: PageQuery | undefined;
  readonly #raw: RawPage;

  constructor(loader: PageLoader<T>, query: PageQuery, position: PagePosition, raw: RawPage) {
    const { facts, parts } = loader;
    const total = position.total ?? raw.total;
    const isKnown = total !== undefined && position.itemsBefore !== undefined;
    const came = (position.itemsBefore ?? 0) + raw.items.length;
    const unread = isKnown ? Math.max(0, total - came) : 0;
    this.#loader = loader;
    this.#query = query;
    this.#position = position;
    this.#raw = raw;
    this.#next = nextQueryOf(raw, query, facts, unread);
    this.items = raw.items as readonly T[]; // as: the row's type of items
    this.hasMore = this.#next !== undefined;
    this.cursor = this.#next && cursorOf(this.#next, facts);
    // Pages after the first report 0: it is a total only if the list starts and ends with this page.
    const isEmptyList = raw.items.length === 0 && !this.hasMore && isStart(query);
    this.total = position.total ?? (raw.total === 0 && !isEmptyList ? undefined : raw.total);
    if (!this.hasMore && unread > 0) {
      parts.warn?.(
        `The list ended after ${came} of ${total} items: it changed while it was read. If you change its items, collect them first: \`await list.toArray()\`.`,
      );
    }
  }

  async nextPage(): Promise<ListPage<T> | undefined> {
    const { index, itemsBefore } = this.#position;
    const before = itemsBefore === undefined ? undefined : itemsBefore + this.items.length;
    return (
      this.#next &&
      this.#loader.load(this.#next, {
        index: index + 1,
        total: this.total,
        before: this.#raw,
        itemsBefore: before,
      })
    );
  }

  /** Has the latest page's request been sent? */
  get isNextSent(): boolean {
    return this.#loader.isSent;
  }

  [Symbol.asyncIterator](): ItemIterator<T> {
    const { facts, parts } = this.#loader;
    const prefetcher = new Prefetcher<T>(parts.prefetch ?? 1, Number.POSITIVE_INFINITY);
    return new PagedItems<T>(() => Promise.resolve(this), cursorOf(this.#query, facts), prefetcher);
  }
}

/** Iterates over the items of a list, with pages requested before its consumer needs them. */
class PagedItems<T> implements ItemIterator<T> {
  readonly #start: () => Promise<ListPage<T>>;
  readonly #prefetcher: Prefetcher<T>;
  #page: ListPage<T> | undefined;
  #pageCursor: string | undefined;
  #index = 0;
  /** Resolves when every call of `next()` so far is done. `#runningCalls` counts the calls that are not. */
  #lastCall: Promise<unknown> = Promise.resolve();
  #runningCalls = 0;
  #isOver = false;

  constructor(
    start: () => Promise<ListPage<T>>,
    cursor: string | undefined,
    prefetcher: Prefetcher<T>,
  ) {
    this.#start = start;
    this.#pageCursor = cursor;
    this.#prefetcher = prefetcher;
  }

  get cursor(): string | undefined {
    const page = this.#page;
    return page && this.#index >= page.items.length ? page.cursor : this.#pageCursor;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next item. Overlapping calls are answered in order. */
  next(): Promise<IteratorResult<T, undefined>> {
    const item = this.#runningCalls === 0 ? this.#takeItem() : undefined;
    if (item) {
      return Promise.resolve(item);
    }
    this.#runningCalls++;
    const call = this.#lastCall.then(() => this.#advance()).finally(() => this.#runningCalls--);
    this.#lastCall = call.catch(() => undefined);
    return call;
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#isOver = true;
    this.#prefetcher.stop();
    return Promise.resolve({ done: true, value: undefined });
  }

  async #advance(): Promise<IteratorResult<T, undefined>> {
    for (;;) {
      const item = this.#takeItem();
      if (item) {
        return item;
      }
      const before = this.#page;
      const page = await (before ? this.#prefetcher.take(before) : this.#start());
      if (!page) {
        this.#isOver = true;
        continue;
      }
      this.#pageCursor = before ? before.cursor : this.#pageCursor;
      this.#page = page;
      this.#index = 0;
      await this.#prefetcher.follow(page);
    }
  }

  #takeItem(): IteratorResult<T, undefined> | undefined {
    if (this.#isOver) {
      return { done: true, value: undefined };
    }
    const page = this.#page;
    return page && this.#index < page.items.length
      ? { done: false, value: page.items[this.#index++] as T } // as: the index is in range
      : undefined;
  }
}

/** Requests pages before they are needed, one after the other, because each page names the next. */
class Prefetcher<T> {
  readonly #pages: number;
  /** Stops requesting once this many items of the list have been loaded. */
  readonly #items: number;
  /** Pages that were requested and not taken yet, in order. */
  #coming: Promise<ListPage<T> | undefined>[] = [];
  #itemCount = 0;
  #isOver = false;

  constructor(pages: number, items: number) {
    this.#pages = pages;
    this.#items = items;
  }

  /** The page after this one. It may have been requested already. */
  async take(page: ListPage<T>): Promise<ListPage<T> | undefined> {
    try {
      return await (this.#coming.shift() ?? page.nextPage());
    } catch (failure) {
      this.#coming = []; // the next `take()` requests the failed page again
      throw failure;
    }
  }

  /**
   * Requests the pages after a page that is about to be read. Waits until the first request has been sent.
   */
  async follow(page: ListPage<T>): Promise<void> {
    while (this.#coming.length < this.#pages) {
      const last = this.#coming.at(-1);
      const next = last ? last.then((before) => this.#after(before)) : this.#after(page);
      if (!next) {
        return;
      }
      next.catch(() => undefined); // `take()` reports the failure
      this.#coming.push(next);
    }
    // A request is sent only when the event loop turns, which a busy consumer prevents. The wait here is at
    // most ten turns, because the request may have to wait for the rate limit.
    for (let turn = 0; turn < 10 && this.#coming.length > 0 && !page.isNextSent; turn++) {
      await macrotask();
    }
    if (this.#coming.length > 0) {
      await macrotask();
      await macrotask();
    }
  }

  /** Requests no more pages. */
  stop(): void {
    this.#isOver = true;
    this.#coming = [];
  }

  #after(page: ListPage<T> | undefined): Promise<ListPage<T> | undefined> | undefined {
    this.#itemCount += page?.items.length ?? 0;
    const isWanted = !this.#isOver && this.#itemCount < this.#items;
    return page?.hasMore && isWanted ? page.nextPage() : undefined;
  }
}
