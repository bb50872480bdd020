import type { ItemIterator, Page } from '../contract/paginated.js';
import type { List } from '../contract/route.js';
import { cursorOf, type PageQuery } from './start.js';

/** A page that knows of the request for the one after it. */
export interface LinkedPage<T> extends Page<T> {
  /** Is the request for the next page on its way, once it was asked for? */
  readonly hasNextLeft: boolean;
  nextPage(): Promise<LinkedPage<T> | undefined>;
}

/** Where an iterator starts and how far it will go. */
export interface ItemRange {
  readonly query: PageQuery;
  readonly facts: List<unknown>;
  /** Pages that lie beyond so many items are not fetched ahead. */
  readonly max: number;
}

// Taken at import, so that a fake clock in somebody's tests cannot stop an iteration.
const real = /* @__PURE__ */ realTimers();

/** Turns of the event loop: until a request has left at most, and until its bytes are written. */
const turns = { most: 10, toWrite: 2 };

/** Goes through the items of a list, one page ahead of its consumer. */
export class Items<T> implements ItemIterator<T> {
  readonly #start: () => Promise<LinkedPage<T>>;
  readonly #range: ItemRange;
  #page: LinkedPage<T> | undefined;
  #pageQuery: string | undefined;
  #index = 0;
  #taken = 0;
  #ahead: Promise<LinkedPage<T> | undefined> | undefined;
  #turn: Promise<unknown> | undefined;
  #ended = false;

  constructor(start: () => Promise<LinkedPage<T>>, range: ItemRange) {
    this.#start = start;
    this.#range = range;
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
    this.#ahead = undefined;
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
    this.#taken++;
    return { done: false, value: page.items[this.#index++] as T }; // the index is inside
  }

  async #turnPage(): Promise<boolean> {
    const before = this.#page;
    const coming = before ? (this.#ahead ?? before.nextPage()) : this.#start();
    this.#ahead = undefined;
    const page = await coming;
    if (!page) {
      return false;
    }
    if (before) {
      this.#pageQuery = before.cursor;
    }
    this.#page = page;
    this.#index = 0;
    await this.#fetchAhead(page);
    return true;
  }

  async #fetchAhead(page: LinkedPage<T>): Promise<void> {
    if (!page.hasMore || this.#taken + page.items.length >= this.#range.max) {
      return;
    }
    const ahead = page.nextPage();
    this.#ahead = ahead;
    await onTheWire(ahead, () => page.hasNextLeft);
  }
}

// A request leaves only when the event loop turns, and a busy consumer never lets it: the consumer
// goes on when the request for the page after is on the wire. It never waits long for that, e.g.
// when the request must wait for the rate limit.
async function onTheWire(ahead: Promise<unknown>, hasLeft: () => boolean): Promise<void> {
  const load = { isOver: false };
  const end = () => {
    load.isOver = true; // a failure is reported when the turn of the page comes
  };
  ahead.then(end, end);
  for (let turn = 0; turn < turns.most && !load.isOver && !hasLeft(); turn++) {
    await nextTurn();
  }
  for (let turn = 0; turn < turns.toWrite && !load.isOver; turn++) {
    await nextTurn();
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof real.setImmediate === 'function') {
      real.setImmediate(resolve);
    } else {
      real.setTimeout(resolve, 0);
    }
  });
}

function realTimers(): Pick<typeof globalThis, 'setImmediate' | 'setTimeout'> {
  const { setImmediate, setTimeout } = globalThis;
  return { setImmediate, setTimeout };
}

function noop(): void {
  // nothing to do
}
