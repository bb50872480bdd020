/** Those who wait, in the order they came. To join, to go and to be next costs the same for all. */
export class WaitingLine<T> implements Iterable<T> {
  /** A place that somebody left stays empty until it comes to the front. */
  #places: (T | undefined)[] = [];
  #front = 0;
  #dropped = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Joins at the end; the answer leaves again, and does nothing when it was this one's turn. */
  join(one: T): () => void {
    const place = this.#dropped + this.#places.length;
    this.#places.push(one);
    this.#size++;
    return () => this.#leave(place);
  }

  /** Takes the first out of the line. */
  next(): T | undefined {
    if (this.#size === 0) {
      return undefined;
    }
    while (this.#places[this.#front] === undefined) {
      this.#front++;
    }
    const first = this.#places[this.#front];
    this.#empty(this.#front);
    this.#front++;
    this.#compact();
    return first;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const one of this.#places.slice(this.#front)) {
      if (one !== undefined) {
        yield one;
      }
    }
  }

  #leave(place: number): void {
    const index = place - this.#dropped;
    if (this.#places[index] === undefined) {
      return;
    }
    this.#empty(index);
    this.#compact();
  }

  #empty(index: number): void {
    this.#places[index] = undefined;
    this.#size--;
  }

  #compact(): void {
    if (this.#size > 0 && this.#front < 1024) {
      return;
    }
    const gone = this.#size === 0 ? this.#places.length : this.#front;
    this.#places = this.#places.slice(gone);
    this.#dropped += gone;
    this.#front = 0;
  }
}
