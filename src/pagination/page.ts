import type { ItemIterator } from '../contract/paginated.js';
import { Items } from './items.js';
import type { LinkedPage } from './pages-ahead.js';
import { cursorOf, type PageQuery } from './start.js';
import { nextQuery, type RawPage } from './styles.js';
import type { Place, Walk } from './walk.js';

/** One page, and the way to the pages after it. */
export class ListPage<T> implements LinkedPage<T> {
  readonly items: readonly T[];
  readonly total: number | undefined;
  readonly hasMore: boolean;
  readonly cursor: string | undefined;
  readonly #walk: Walk;
  readonly #place: Place;
  readonly #next: PageQuery | undefined;
  readonly #raw: RawPage;

  static async load<T>(walk: Walk, place: Place): Promise<ListPage<T>> {
    return new ListPage<T>(walk, place, await walk.load(place));
  }

  private constructor(walk: Walk, place: Place, raw: RawPage) {
    this.#walk = walk;
    this.#place = place;
    this.#raw = raw;
    this.#next = nextQuery(raw, place.query, walk.facts);
    this.items = raw.items as readonly T[]; // the row says what its items are
    this.hasMore = this.#next !== undefined;
    this.cursor = this.#next && cursorOf(this.#next, walk.facts);
    this.total = place.total ?? this.#ownTotal();
  }

  async nextPage(): Promise<ListPage<T> | undefined> {
    if (!this.#next) {
      return undefined;
    }
    const { total } = this;
    const index = this.#place.index + 1;
    return ListPage.load<T>(this.#walk, { query: this.#next, index, total, before: this.#raw });
  }

  get hasNextLeft(): boolean {
    return this.#walk.hasLeft;
  }

  [Symbol.asyncIterator](): ItemIterator<T> {
    const { query } = this.#place;
    const { facts, ahead } = this.#walk;
    return new Items<T>(() => Promise.resolve(this), { query, facts, ahead });
  }

  // Pages after the first report 0, which says nothing: 0 counts only where the list starts and ends.
  #ownTotal(): number | undefined {
    const { total } = this.#raw;
    const isEmptyList = this.items.length === 0 && !this.hasMore && isStart(this.#place.query);
    return total === 0 && !isEmptyList ? undefined : total;
  }
}

function isStart(query: PageQuery): boolean {
  return query['cursor'] === undefined && (query['page'] ?? 1) === 1;
}
