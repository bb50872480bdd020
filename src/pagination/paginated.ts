import type { ItemIterator, Page, Paginated } from '../contract/paginated.js';
import { atLeast, readOptions, type OptionKinds } from '../contract/options.js';
import { largestPage, type Route } from '../contract/route.js';
import { Items } from './items.js';
import { ListPage } from './page.js';
import { PagesAhead, type AheadLimits, type LinkedPage } from './pages-ahead.js';
import { listFacts, sizedQuery, startQuery, type PageQuery } from './start.js';
import { Walk, type ListEnds, type PageCall } from './walk.js';

const toArrayOptions: OptionKinds<{ max?: number | undefined }> = { max: atLeast(0) };

/** Fetches one page. */
export type FetchPage = (query: PageQuery) => PageCall;

/** A list that has not been asked for yet. Each way to read it starts anew. */
export class PagedList<T> implements Paginated<T> {
  readonly #route: Route;
  readonly #query: PageQuery;
  readonly #fetch: FetchPage;
  readonly #prefetch: number | undefined;
  readonly #ends: ListEnds;
  #first: Promise<Page<T>> | undefined;

  constructor(
    route: Route,
    query: object | undefined,
    fetch: FetchPage,
    { prefetch, ...ends }: ListEnds & { readonly prefetch?: number | undefined } = {},
  ) {
    this.#route = route;
    this.#query = startQuery({ ...query }, this.#facts);
    this.#fetch = fetch;
    this.#prefetch = prefetch;
    this.#ends = ends;
  }

  // Awaiting is one page of the size that the caller or the service chose.
  then<Value = Page<T>, Caught = never>(
    onPage?: ((page: Page<T>) => Value | PromiseLike<Value>) | null,
    onError?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Value | Caught> {
    this.#first ??= this.#start(this.#query);
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
    const ahead = new PagesAhead<T>(this.#ahead(0));
    try {
      let page: LinkedPage<T> | undefined = await this.#start(sizedQuery(this.#query, this.#facts));
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
    const { max = Number.POSITIVE_INFINITY } = readOptions(options, toArrayOptions, {
      name: '`toArray()`',
    });
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
    const query = sizedQuery(this.#query, this.#facts, Math.min(largestPage, max));
    const ahead = this.#ahead(1, max);
    return new Items(() => this.#start(query), { query, facts: this.#facts, ahead });
  }

  #ahead(usual: number, items = Number.POSITIVE_INFINITY): AheadLimits {
    return { pages: this.#prefetch ?? usual, items };
  }

  #start(query: PageQuery): Promise<ListPage<T>> {
    const walk = new Walk(this.#route, this.#fetch, this.#ahead(1), this.#ends);
    return ListPage.load<T>(walk, { query, index: 0, total: undefined });
  }

  get #facts() {
    return listFacts(this.#route);
  }
}
