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
  /** How many items came before this page; `undefined` where the walk began in the middle. */
  readonly #before: number | undefined;
  /** Does the service announce more items without a way to get them? */
  readonly #isCutOff: boolean;

  static async load<T>(walk: Walk, place: Place): Promise<ListPage<T>> {
    return new ListPage<T>(walk, place, await walk.load(place));
  }

  private constructor(walk: Walk, place: Place, raw: RawPage) {
    this.#walk = walk;
    this.#place = place;
    this.#raw = raw;
    this.#before = place.itemsBefore ?? (isStart(place.query) ? 0 : undefined);
    this.#next = nextQuery(raw, place.query, walk.facts, this.#unread);
    this.items = raw.items as readonly T[]; // the type of the row's items
    this.#isCutOff = raw.hasLostLink === true && raw.items.length > 0;
    this.hasMore = this.#next !== undefined || this.#isCutOff;
    this.cursor = this.#next && cursorOf(this.#next, walk.facts);
    this.total = place.total ?? this.#ownTotal();
    if (!this.hasMore && this.#unread > 0) {
      walk.reportShortfall(this.total ?? 0, (this.#before ?? 0) + raw.items.length);
    }
  }

  async nextPage(): Promise<ListPage<T> | undefined> {
    if (this.#isCutOff) {
      this.#walk.endEarly();
    }
    if (!this.#next) {
      return undefined;
    }
    const { total } = this;
    const index = this.#place.index + 1;
    const itemsBefore = this.#before === undefined ? undefined : this.#before + this.items.length;
    const place = { query: this.#next, index, total, before: this.#raw, itemsBefore };
    return ListPage.load<T>(this.#walk, place);
  }

  get hasNextLeft(): boolean {
    return this.#walk.hasLeft;
  }

  [Symbol.asyncIterator](): ItemIterator<T> {
    const { query } = this.#place;
    const { facts, ahead } = this.#walk;
    return new Items<T>(() => Promise.resolve(this), { query, facts, ahead });
  }

  /** How many items are missing from the total after this page. */
  get #unread(): number {
    const total = this.#place.total ?? this.#raw.total;
    const isKnown = total !== undefined && this.#before !== undefined;
    return isKnown ? Math.max(0, total - this.#before - this.#raw.items.length) : 0;
  }

  // Pages after the first report 0: it is a total only where the list starts and ends with this page.
  #ownTotal(): number | undefined {
    const { total } = this.#raw;
    const isEmptyList = this.items.length === 0 && !this.hasMore && isStart(this.#place.query);
    return total === 0 && !isEmptyList ? undefined : total;
  }
}

function isStart(query: PageQuery): boolean {
  return query['cursor'] === undefined && (query['page'] ?? 1) === 1;
}
