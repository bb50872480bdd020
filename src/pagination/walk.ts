import { isRecord } from '../contract/records.js';
import type { List, Route } from '../contract/route.js';
import { UnexpectedResponseError, type FieldError } from '../errors/index.js';
import type { AheadLimits } from './pages-ahead.js';
import { cursorOf, listFacts, type PageQuery } from './start.js';
import type { RawPage } from './styles.js';

export { listFacts } from './start.js';

/** Where on its way through a list a page lies. */
export interface Place {
  readonly query: PageQuery;
  /** 0 for the page that the walk started with. */
  readonly index: number;
  /** The total of the first page. */
  readonly total: number | undefined;
  /** The page before this one, to notice a service that keeps sending the same. */
  readonly before?: RawPage;
  /** How many items the pages before this one had. */
  readonly itemsBefore?: number | undefined;
}

/** The call for one page; `hasLeft`: its request is on the way. */
export type PageCall = PromiseLike<unknown> & { readonly hasLeft?: boolean };

/** What happens where a list ends before it is over. */
export interface ListEnds {
  /** `'allow'`: a list that announces more items without a way to get them is taken as it is. */
  readonly incomplete?: 'allow' | undefined;
  /** Called where fewer items came than the list's total. */
  readonly onMismatch?: (issue: FieldError) => void;
}

// How many cursors are remembered one by one; a longer circle is found all the same.
const maxCursors = 1000;
// Enough for any list by page numbers that a program may walk; memory stays flat.
const maxRows = 100_000;
// A longer page is none that a service of these documents sends.
const maxPageRows = 1_000;
// A list may have empty pages, e.g. where items were filtered out, but not only those.
const maxEmptyPages = 100;

/** One way through a list: loads pages and notices when it goes in circles. */
export class Walk {
  readonly facts: List<unknown>;
  /** How far an iteration from a page on looks ahead. */
  readonly ahead: AheadLimits;
  readonly #route: Route;
  readonly #ends: ListEnds;
  readonly #load: (query: PageQuery) => PageCall;
  /** At which index each cursor was used; the same page may be loaded twice. */
  readonly #seen = new Map<string, number>();
  /** On which page each row of numbered pages came, to notice rows that moved meanwhile. */
  readonly #pageOf = new Map<string | number, number>();
  #hasMoved = false;
  #latest: PageCall | undefined;
  #lastFilled = 0;

  constructor(
    route: Route,
    load: (query: PageQuery) => PageCall,
    ahead: AheadLimits,
    ends: ListEnds,
  ) {
    this.#route = route;
    this.#ends = ends;
    this.facts = listFacts(route);
    this.#load = load;
    this.ahead = ahead;
  }

  /** Loads the page at a place. */
  async load(place: Place): Promise<RawPage> {
    const cursor = cursorOf(place.query, this.facts);
    if (cursor !== undefined) {
      if ((this.#seen.get(cursor) ?? place.index) !== place.index) {
        throw this.#circle('cursor');
      }
      this.#remember(cursor, place.index);
    }
    this.#latest = this.#load(place.query);
    const page = (await this.#latest) as RawPage; // read by the style of its list
    if (place.before && repeats(page, place.before)) {
      throw this.#circle('page');
    }
    this.#checkProgress(page, place.index);
    if (place.before && place.query['cursor'] === undefined && page.cursor === undefined) {
      this.#checkMoved(page, place.before, place.index);
    }
    return page;
  }

  /** Is the request for the page that was asked for last on its way? */
  get hasLeft(): boolean {
    return this.#latest?.hasLeft ?? true;
  }

  // Memory stays flat: old cursors are forgotten, but for those at powers of two. A circle of any
  // length comes back to one of these.
  #remember(cursor: string, index: number): void {
    this.#seen.set(cursor, index);
    if (this.#seen.size <= maxCursors) {
      return;
    }
    for (const [old, at] of this.#seen) {
      if (!isPowerOfTwo(at)) {
        this.#seen.delete(old);
        return;
      }
    }
  }

  #checkProgress({ items }: RawPage, index: number): void {
    if (items.length > 0) {
      this.#lastFilled = Math.max(this.#lastFilled, index);
    } else if (index - this.#lastFilled >= maxEmptyPages) {
      throw this.#circle('empty page');
    }
  }

  // A row that comes again has pushed another one out of sight, though as many come as were promised.
  #checkMoved(page: RawPage, before: RawPage, index: number): void {
    if (this.#pageOf.size < maxRows) {
      idsOf(before).forEach((id) => this.#pageOf.set(id, index - 1));
    }
    const isAgain = (id: string | number) => (this.#pageOf.get(id) ?? index) < index;
    if (!this.#hasMoved && idsOf(page).some(isAgain)) {
      this.#hasMoved = true;
      const message = 'moved while the list was read: some came twice, and others may be missing';
      this.#ends.onMismatch?.({ field: 'items', message });
    }
  }

  /** A list ended with fewer items than its total. */
  reportShortfall(total: number, came: number): void {
    const message = `said ${total}, but ${came} items came: the list may have changed while it was read`;
    this.#ends.onMismatch?.({ field: 'total', message });
  }

  /** Throws for a list that announces more items without a way to get them, unless that is allowed. */
  endEarly(): void {
    if (this.#ends.incomplete === 'allow') {
      return;
    }
    const { method, path } = this.#route;
    throw new UnexpectedResponseError(
      `${method} ${path} says that there are more items, but not how to get them. Take those so far with \`{ incomplete: 'allow' }\`.`,
      { code: 'LIST_INCOMPLETE', method, path, outcome: 'rejected' },
    );
  }

  #circle(what: string): UnexpectedResponseError {
    const { method, path } = this.#route;
    return new UnexpectedResponseError(
      `${method} ${path} sent the same ${what} twice, so the list would never end. Its items so far are complete up to there.`,
      { code: 'PAGINATION_LOOP', method, path, outcome: 'rejected' },
    );
  }
}

function isPowerOfTwo(value: number): boolean {
  return Number.isInteger(Math.log2(value));
}

// Only where pages are asked for by number: a cursor may well lead to equal items.
function repeats(page: RawPage, before: RawPage): boolean {
  if (before.cursor !== undefined || page.items.length === 0) {
    return false;
  }
  if (page.page !== undefined && page.page === before.page) {
    return true;
  }
  return (
    page.items.length === before.items.length &&
    JSON.stringify(page.items) === JSON.stringify(before.items)
  );
}

/** The ids of a page; of one that is longer than any page of the documents, none. */
function idsOf({ items }: RawPage): (string | number)[] {
  if (items.length > maxPageRows) {
    return [];
  }
  return items
    .map((item) => (isRecord(item) ? item['id'] : undefined))
    .filter((id) => typeof id === 'string' || typeof id === 'number');
}
