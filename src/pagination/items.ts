import type { ItemIterator } from '../contract/paginated.js';
import type { List } from '../contract/route.js';
import { PagesAhead, type AheadLimits, type LinkedPage } from './pages-ahead.js';
import { cursorOf, type PageQuery } from './start.js';

/** Where an iterator starts and how far it looks ahead. */
export interface ItemRange {
  readonly query: PageQuery;
  readonly facts: List<unknown>;
  readonly ahead: AheadLimits;
}

/** Goes through the items of a list, with pages requested ahead of its consumer. */
export class Items<T> implements ItemIterator<T> {
  readonly #start: () => Promise<LinkedPage<T>>;
  readonly #ahead: PagesAhead<T>;
  #page: LinkedPage<T> | undefined;
  #pageQuery: string | undefined;
  #index = 0;
  #turn: Promise<unknown> | undefined;
  #ended = false;

  constructor(start: () => Promise<LinkedPage<T>>, range: ItemRange) {
    this.#start = start;
    this.#ahead = new PagesAhead(range.ahead);
    this.#pageQuery = cursorOf(range.query, range.facts);
  }

  get cursor(): string | undefined {
    const page = this.#page;
    return page && this.#index >= page.items.length ? page.cursor : this.#pageQuery;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next item. Calls that overlap are answered in order. */
  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#turn === undefined) {
      const item = this.#takeItem();
      if (item) {
        return Promise.resolve(item);
      }
    }
    const turn = (this.#turn ?? Promise.resolve()).then(() => this.#advance());
    const settled = turn.then(noop, noop).then(() => {
      if (this.#turn === settled) {
        this.#turn = undefined;
      }
    });
    this.#turn = settled;
    return turn;
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#ended = true;
    this.#ahead.stop();
    return Promise.resolve({ done: true, value: undefined });
  }

  async #advance(): Promise<IteratorResult<T, undefined>> {
    for (;;) {
      const item = this.#takeItem();
      if (item) {
        return item;
      }
      if (!(await this.#turnPage())) {
        this.#ended = true;
        return { done: true, value: undefined };
      }
    }
  }

  #takeItem(): IteratorResult<T, undefined> | undefined {
    if (this.#ended) {
      return { done: true, value: undefined };
    }
    const page = this.#page;
    if (!page || this.#index >= page.items.length) {
      return undefined;
    }
    return { done: false, value: page.items[this.#index++] as T }; // the index is inside
  }

  async #turnPage(): Promise<boolean> {
    const before = this.#page;
    const page = await (before ? this.#ahead.take(before) : this.#start());
    if (!page) {
      return false;
    }
    if (before) {
      this.#pageQuery = before.cursor;
    }
    this.#page = page;
    this.#index = 0;
    await this.#ahead.follow(page);
    return true;
  }
}

function noop(): void {
  // nothing to do
}
