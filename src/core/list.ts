import { macrotask } from './async.js';
import { readOptions, atLeast, type OptionKinds } from './options.js';
import { UnexpectedResponseError } from './errors.js';
import { largestPage, type List, type Route } from './route.js';
import type { ItemIterator, Page, Paginated } from './types.js';
import { isRecord } from './values.js';

/**
 * Lists. Three parts, from the wire to the loop: what a page says (`readList`), where the next one is
 * (`nextQuery`), and the ways to read a list (`PagedList`), one page ahead of the reader.
 */

/** The query of a page. */
export type PageQuery = Readonly<Record<string, unknown>>;

/** One page as the service sent it, whichever way it spells pages. */
export interface RawPage {
  readonly items: readonly unknown[];
  readonly cursor?: string | undefined;
  readonly hasMore?: boolean | undefined;
  readonly total?: number | undefined;
  readonly page?: number | undefined;
  readonly pageSize?: number | undefined;
  readonly totalPages?: number | undefined;
}

type ListFacts = Pick<List<unknown>, 'list' | 'sizeParameter' | 'itemsName'>;

// ---- what a page says

/**
 * Reads a list in any of its shapes: a bare array; the items under `data`, under the resource's own name, or
 * the only array there is. `undefined` when there is no list in the answer.
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
  // An envelope around the whole list; the list's own `data` is an array.
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
  // `{}` and `{ success: true }` are empty answers; anything else without a list is not one.
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

// ---- where the next page is

/**
 * The query of the page after this one, or `undefined` when this was the last. `unread` items are still
 * to come by the total, where that and the items before are known.
 */
function nextQuery(
  page: RawPage,
  query: PageQuery,
  facts: ListFacts,
  unread = 0,
): PageQuery | undefined {
  if (page.hasMore === false) {
    return undefined;
  }
  if (page.cursor !== undefined) {
    return without({ ...query, cursor: page.cursor }, 'page');
  }
  // Without a cursor a page without items is the last, whatever `hasMore` is.
  const isCursorList = query['cursor'] !== undefined && page.page === undefined;
  if (page.items.length === 0 || (isCursorList && page.hasMore !== true)) {
    return undefined;
  }
  const current = page.page ?? numberOf(query['page']) ?? 1;
  const size = page.pageSize ?? numberOf(query[facts.sizeParameter ?? '']) ?? page.items.length;
  const isNumbered =
    facts.list === 'page' || page.page !== undefined || page.pageSize !== undefined;
  // A service may well send smaller pages than it was asked for.
  const isUnread = page.total !== undefined && (current * size < page.total || unread > 0);
  const isFollowed =
    page.totalPages === undefined ? isNumbered && isUnread : current < page.totalPages;
  return page.hasMore === true || isFollowed
    ? without({ ...query, page: current + 1 }, 'cursor')
    : undefined;
}

/** Where a page starts, as one text that `list({ cursor })` takes back. */
function cursorOf(query: PageQuery, facts: ListFacts): string | undefined {
  if (typeof query['cursor'] === 'string') {
    return query['cursor'];
  }
  // A page number means nothing without the size of the pages before it.
  const [page, size] = [numberOf(query['page']), numberOf(query[facts.sizeParameter ?? ''])];
  return page === undefined ? undefined : `page:${page}${size === undefined ? '' : `/${size}`}`;
}

/** A query whose cursor may be one of ours for a numbered page. */
function startQuery(query: PageQuery, facts: ListFacts): PageQuery {
  const { cursor } = query;
  const match = typeof cursor === 'string' ? /^page:(\d+)(?:\/(\d+))?$/.exec(cursor) : null;
  if (!match) {
    return query;
  }
  const size = facts.sizeParameter && match[2] ? { [facts.sizeParameter]: Number(match[2]) } : {};
  return without({ ...size, ...query, page: Number(match[1]) }, 'cursor');
}

function isStart(query: PageQuery): boolean {
  return query['cursor'] === undefined && (query['page'] ?? 1) === 1;
}

/** A number, also one that is written as text. */
function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

function without(query: Record<string, unknown>, dropped: string): PageQuery {
  return Object.fromEntries(Object.entries(query).filter(([name]) => name !== dropped));
}

// ---- the ways to read a list

/** The call for one page; `hasLeft`: its request is on the way. */
type PageCall = PromiseLike<unknown> & { readonly hasLeft?: boolean };

/** What a list needs beside its row and query. */
interface ListParts {
  readonly fetch: (query: PageQuery) => PageCall;
  readonly prefetch?: number | undefined;
  /** Emits a `warning`. */
  readonly warn?: (message: string) => void;
}

const toArrayOptions: OptionKinds<{ max?: number | undefined }> = { max: atLeast(0) };

/** A list that has not been asked for yet. Each way to read it starts anew. */
export class PagedList<T> implements Paginated<T> {
  readonly #facts: List<unknown>;
  readonly #route: Route;
  readonly #query: PageQuery;
  readonly #parts: ListParts;
  #first: Promise<Page<T>> | undefined;

  constructor(route: Route, query: object | undefined, parts: ListParts) {
    this.#route = route;
    this.#facts = route.returns as List<unknown>; // only rows of lists come here
    this.#query = startQuery({ ...query }, this.#facts);
    this.#parts = parts;
  }

  // Awaiting is one page of the size that the caller or the service chose.
  then<Value = Page<T>, Caught = never>(
    onPage?: ((page: Page<T>) => Value | PromiseLike<Value>) | null,
    onError?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Value | Caught> {
    this.#first ??= this.#walk().load(this.#query);
    return this.#first.then(onPage, onError);
  }

  [Symbol.asyncIterator](): ItemIterator<T> {
    return this.#items(Number.POSITIVE_INFINITY);
  }

  /** For programs in plain JavaScript: neither `for … of` nor `[...list]` can wait for a page. */
  [Symbol.iterator](): never {
    throw new TypeError(
      'A list is fetched page by page: use `for await (const item of list)` or `await list.toArray()`.',
    );
  }

  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    const ahead = new Prefetcher<T>(this.#parts.prefetch ?? 0, Number.POSITIVE_INFINITY);
    try {
      let page: ListPage<T> | undefined = await this.#walk().load(this.#sized(largestPage));
      while (page) {
        await ahead.follow(page);
        yield page;
        page = await ahead.take(page);
      }
    } finally {
      ahead.stop();
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

  #items(max: number): Items<T> {
    const query = this.#sized(Math.min(largestPage, max));
    const ahead = new Prefetcher<T>(this.#parts.prefetch ?? 1, max);
    return new Items(() => this.#walk().load(query), cursorOf(query, this.#facts), ahead);
  }

  /** The query for pages of a size, unless the caller chose one. */
  #sized(size: number): PageQuery {
    const { sizeParameter } = this.#facts;
    return sizeParameter === undefined || this.#query[sizeParameter] !== undefined
      ? this.#query
      : { ...this.#query, [sizeParameter]: size };
  }

  #walk(): Walk<T> {
    return new Walk(this.#route, this.#facts, this.#parts);
  }
}

/** Where on its way through a list a page lies. */
interface Place {
  /** 0 for the page that the walk started with. */
  readonly index: number;
  /** The total of the first page: later ones report 0. */
  readonly total: number | undefined;
  readonly before: RawPage | undefined;
  /** How many items the pages before this one had; `undefined` where the walk began in the middle. */
  readonly itemsBefore: number | undefined;
}

// How many cursors are remembered; a circle of pages is far shorter.
const maxCursors = 10_000;
// A list may have empty pages, e.g. where items were filtered out, but not only those.
const maxEmptyPages = 100;

/** One way through a list: loads pages and notices when it goes in circles. */
class Walk<T> {
  readonly facts: List<unknown>;
  readonly parts: ListParts;
  readonly #route: Route;
  /** At which index each cursor was used; the same page may be loaded twice. */
  readonly #seen = new Map<string, number>();
  #latest: PageCall | undefined;
  #lastFilled = 0;

  constructor(route: Route, facts: List<unknown>, parts: ListParts) {
    this.#route = route;
    this.facts = facts;
    this.parts = parts;
  }

  async load(query: PageQuery, place?: Place): Promise<ListPage<T>> {
    const itemsBefore = isStart(query) ? 0 : undefined;
    const at = place ?? { index: 0, total: undefined, before: undefined, itemsBefore };
    this.#remember(cursorOf(query, this.facts), at.index);
    this.#latest = this.parts.fetch(query);
    const raw = (await this.#latest) as RawPage; // read by the style of its list
    if (at.before && repeats(raw, at.before)) {
      throw this.#circle('page');
    }
    if (raw.items.length > 0) {
      this.#lastFilled = Math.max(this.#lastFilled, at.index);
    } else if (at.index - this.#lastFilled >= maxEmptyPages) {
      throw this.#circle('empty page');
    }
    return new ListPage<T>(this, query, at, raw);
  }

  /** Is the request for the page that was asked for last on its way? */
  get hasLeft(): boolean {
    return this.#latest?.hasLeft ?? true;
  }

  // Memory stays flat: the oldest cursors are forgotten.
  #remember(cursor: string | undefined, index: number): void {
    if (cursor === undefined) {
      return;
    }
    if ((this.#seen.get(cursor) ?? index) !== index) {
      throw this.#circle('cursor');
    }
    this.#seen.set(cursor, index);
    if (this.#seen.size > maxCursors) {
      const [oldest = ''] = this.#seen.keys();
      this.#seen.delete(oldest);
    }
  }

  #circle(what: string): UnexpectedResponseError {
    const { method, path } = this.#route;
    return new UnexpectedResponseError(
      `${method} ${path} sent the same ${what} twice, so the list would never end. Its items so far are complete up to there.`,
      { code: 'PAGINATION_LOOP', method, path, outcome: 'rejected' },
    );
  }
}

// Only where pages are asked for by number: a cursor may well lead to equal items.
function repeats(page: RawPage, before: RawPage): boolean {
  if (before.cursor !== undefined || page.items.length === 0) {
    return false;
  }
  const isSame = page.page !== undefined && page.page === before.page;
  return isSame || JSON.stringify(page.items) === JSON.stringify(before.items);
}

/** One page, and the way to the pages after it. */
class ListPage<T> implements Page<T> {
  readonly items: readonly T[];
  readonly total: number | undefined;
  readonly hasMore: boolean;
  readonly cursor: string | undefined;
  readonly #walk: Walk<T>;
  readonly #query: PageQuery;
  readonly #place: Place;
  readonly #next: PageQuery | undefined;
  readonly #raw: RawPage;

  constructor(walk: Walk<T>, query: PageQuery, place: Place, raw: RawPage) {
    const { facts, parts } = walk;
    const total = place.total ?? raw.total;
    const isKnown = total !== undefined && place.itemsBefore !== undefined;
    const came = (place.itemsBefore ?? 0) + raw.items.length;
    const unread = isKnown ? Math.max(0, total - came) : 0;
    this.#walk = walk;
    this.#query = query;
    this.#place = place;
    this.#raw = raw;
    this.#next = nextQuery(raw, query, facts, unread);
    this.items = raw.items as readonly T[]; // the type of the row's items
    this.hasMore = this.#next !== undefined;
    this.cursor = this.#next && cursorOf(this.#next, facts);
    // Pages after the first report 0: it is a total only where the list starts and ends with this page.
    const isEmptyList = raw.items.length === 0 && !this.hasMore && isStart(query);
    this.total = place.total ?? (raw.total === 0 && !isEmptyList ? undefined : raw.total);
    if (!this.hasMore && unread > 0) {
      parts.warn?.(
        `The list ended after ${came} of ${total} items: it changed while it was read. If you change its items, collect them first: \`await list.toArray()\`.`,
      );
    }
  }

  async nextPage(): Promise<ListPage<T> | undefined> {
    const { index, itemsBefore } = this.#place;
    const before = itemsBefore === undefined ? undefined : itemsBefore + this.items.length;
    return (
      this.#next &&
      this.#walk.load(this.#next, {
        index: index + 1,
        total: this.total,
        before: this.#raw,
        itemsBefore: before,
      })
    );
  }

  /** Is the request for the page that was asked for last on its way? */
  get hasNextLeft(): boolean {
    return this.#walk.hasLeft;
  }

  [Symbol.asyncIterator](): ItemIterator<T> {
    const { facts, parts } = this.#walk;
    const ahead = new Prefetcher<T>(parts.prefetch ?? 1, Number.POSITIVE_INFINITY);
    return new Items<T>(() => Promise.resolve(this), cursorOf(this.#query, facts), ahead);
  }
}

/** Goes through the items of a list, with pages requested ahead of its consumer. */
class Items<T> implements ItemIterator<T> {
  readonly #start: () => Promise<ListPage<T>>;
  readonly #ahead: Prefetcher<T>;
  #page: ListPage<T> | undefined;
  #pageCursor: string | undefined;
  #index = 0;
  #turn: Promise<unknown> = Promise.resolve();
  #turns = 0;
  #isOver = false;

  constructor(start: () => Promise<ListPage<T>>, cursor: string | undefined, ahead: Prefetcher<T>) {
    this.#start = start;
    this.#pageCursor = cursor;
    this.#ahead = ahead;
  }

  get cursor(): string | undefined {
    const page = this.#page;
    return page && this.#index >= page.items.length ? page.cursor : this.#pageCursor;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next item. Calls that overlap are answered in order. */
  next(): Promise<IteratorResult<T, undefined>> {
    const item = this.#turns === 0 ? this.#takeItem() : undefined;
    if (item) {
      return Promise.resolve(item);
    }
    this.#turns++;
    const turn = this.#turn.then(() => this.#advance()).finally(() => this.#turns--);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#isOver = true;
    this.#ahead.stop();
    return Promise.resolve({ done: true, value: undefined });
  }

  async #advance(): Promise<IteratorResult<T, undefined>> {
    for (;;) {
      const item = this.#takeItem();
      if (item) {
        return item;
      }
      const before = this.#page;
      const page = await (before ? this.#ahead.take(before) : this.#start());
      if (!page) {
        this.#isOver = true;
        continue;
      }
      this.#pageCursor = before ? before.cursor : this.#pageCursor;
      this.#page = page;
      this.#index = 0;
      await this.#ahead.follow(page);
    }
  }

  #takeItem(): IteratorResult<T, undefined> | undefined {
    if (this.#isOver) {
      return { done: true, value: undefined };
    }
    const page = this.#page;
    return page && this.#index < page.items.length
      ? { done: false, value: page.items[this.#index++] as T } // the index is inside
      : undefined;
  }
}

/** Requests pages before they are wanted, one after the other: each leads to the next. */
class Prefetcher<T> {
  readonly #pages: number;
  /** Pages that lie beyond so many items of the list are not requested. */
  readonly #items: number;
  /** The pages that were requested and not taken yet, in their order. */
  #coming: Promise<ListPage<T> | undefined>[] = [];
  #itemCount = 0;
  #isOver = false;

  constructor(pages: number, items: number) {
    this.#pages = pages;
    this.#items = items;
  }

  /** The page after this one, which may be on its way already. */
  async take(page: ListPage<T>): Promise<ListPage<T> | undefined> {
    try {
      return await (this.#coming.shift() ?? page.nextPage());
    } catch (failure) {
      this.#coming = []; // who asks again begins with the page that failed
      throw failure;
    }
  }

  /** Requests what lies ahead of a page that is about to be read. Waits for the first to leave. */
  async follow(page: ListPage<T>): Promise<void> {
    while (this.#coming.length < this.#pages) {
      const last = this.#coming.at(-1);
      const next = last ? last.then((before) => this.#after(before)) : this.#after(page);
      if (!next) {
        return;
      }
      next.catch(() => undefined); // reported when its turn comes
      this.#coming.push(next);
    }
    // A request leaves only when the event loop turns, and a busy consumer never lets it. It never
    // waits long for that, e.g. when the request must wait for the rate limit.
    for (let turn = 0; turn < 10 && this.#coming.length > 0 && !page.hasNextLeft; turn++) {
      await macrotask();
    }
    if (this.#coming.length > 0) {
      await macrotask();
      await macrotask();
    }
  }

  /** Requests nothing more. */
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
