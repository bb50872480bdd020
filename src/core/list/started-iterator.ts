/**
 * Starts to read an asynchronous source at once, by requesting its first item. A call may have to load a module
 * before it reads its rows. If the source is a stream and fails in that time, its error must have a listener:
 * otherwise the process ends.
 */
export class StartedIterator<T> implements AsyncIterableIterator<T> {
  #iterator: AsyncIterator<T> | undefined;
  #first: Promise<IteratorResult<T>> | undefined;
  #isOver = false;

  constructor(items: AsyncIterable<T>) {
    this.#first = this.#step(() => {
      this.#iterator = items[Symbol.asyncIterator]();
      return this.#iterator.next();
    });
    this.#first.catch(() => undefined); // `next()` throws it
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T>> {
    const first = this.#first;
    this.#first = undefined;
    return first ?? this.#step(() => this.#iterator?.next());
  }

  /** Closes the source, unless it has ended or failed, which also closes it. */
  async return(): Promise<IteratorResult<T>> {
    if (!this.#isOver) {
      this.#isOver = true;
      await this.#iterator?.return?.();
    }
    return { done: true, value: undefined };
  }

  // Calls `next` synchronously, and turns an exception into a rejection.
  async #step(next: () => Promise<IteratorResult<T>> | undefined): Promise<IteratorResult<T>> {
    try {
      const result = await next();
      this.#isOver ||= result?.done === true;
      return result ?? { done: true, value: undefined };
    } catch (failure) {
      this.#isOver = true;
      throw failure;
    }
  }
}
