import type { ItemIterator, Page, Paginated } from '../contract/paginated.js';
import type { Route } from '../contract/route.js';
import { cursorOf, listFacts, sizedQuery, startQuery } from './start.js';

/** Makes a list once its part is loaded, in a box: to resolve with a list is to await its page. */
export type OpenList<T> = () => Promise<{ readonly list: Paginated<T> }>;

/** A list of a process that has read none yet: each way to read it loads what reads lists first. */
export class LaterList<T> implements Paginated<T> {
  readonly #open: OpenList<T>;
  readonly #cursor: string | undefined;
  #opening: ReturnType<OpenList<T>> | undefined;

  constructor(route: Route, query: object | undefined, open: OpenList<T>) {
    const facts = listFacts(route);
    this.#cursor = cursorOf(sizedQuery(startQuery({ ...query }, facts), facts), facts);
    this.#open = open;
  }

  then<Value = Page<T>, Caught = never>(
    onPage?: ((page: Page<T>) => Value | PromiseLike<Value>) | null,
    onError?: ((reason: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Value | Caught> {
    return this.#opened().then(({ list }) => list.then(onPage, onError), onError);
  }

  [Symbol.asyncIterator](): ItemIterator<T> {
    return new LaterItems<T>(() => this.#opened(), this.#cursor);
  }

  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    const { list } = await this.#opened();
    yield* list.pages();
  }

  async toArray(options?: { max?: number | undefined }): Promise<T[]> {
    const { list } = await this.#opened();
    return list.toArray(options);
  }

  async first(): Promise<T | undefined> {
    const { list } = await this.#opened();
    return list.first();
  }

  #opened(): ReturnType<OpenList<T>> {
    this.#opening ??= this.#open().catch((failure: unknown) => {
      this.#opening = undefined; // the next reader tries again
      throw failure;
    });
    return this.#opening;
  }
}

class LaterItems<T> implements ItemIterator<T> {
  readonly #open: OpenList<T>;
  readonly #start: string | undefined;
  #items: ItemIterator<T> | undefined;
  /** Calls that wait for the list, in their order. */
  #waiting = 0;
  #ended = false;

  constructor(open: OpenList<T>, start: string | undefined) {
    this.#open = open;
    this.#start = start;
  }

  get cursor(): string | undefined {
    return this.#items ? this.#items.cursor : this.#start;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    return this.#items && this.#waiting === 0 ? this.#items.next() : this.#later();
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#ended = true;
    return this.#items?.return?.() ?? Promise.resolve({ done: true, value: undefined });
  }

  async #later(): Promise<IteratorResult<T, undefined>> {
    this.#waiting++;
    try {
      const { list } = await this.#open();
      this.#items ??= list[Symbol.asyncIterator]();
      return this.#ended ? { done: true, value: undefined } : await this.#items.next();
    } finally {
      this.#waiting--;
    }
  }
}
