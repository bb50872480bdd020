import type { List } from '../contract/returns.js';
import type { Route } from '../contract/route.js';
import { UnexpectedResponseError } from '../errors/index.js';
import { cursorOf, type PageQuery, type RawPage } from './styles.js';

/** Where on its way through a list a page lies. */
export interface Place {
  readonly query: PageQuery;
  /** 0 for the page that the walk started with. */
  readonly index: number;
  /** The total as the first page told it. */
  readonly total: number | undefined;
  /** The page before this one, to notice a service that keeps sending the same. */
  readonly before?: RawPage;
}

/** One way through a list: loads pages and notices when it goes in circles. */
export class Walk {
  readonly facts: List<unknown>;
  readonly #route: Route;
  readonly #load: (query: PageQuery) => Promise<RawPage>;
  /** At which index each cursor was used; the same page may be loaded twice. */
  readonly #seen = new Map<string, number>();

  constructor(route: Route, load: (query: PageQuery) => Promise<RawPage>) {
    this.#route = route;
    this.facts = listFacts(route);
    this.#load = load;
  }

  /** Loads the page at a place. */
  async load(place: Place): Promise<RawPage> {
    const cursor = cursorOf(place.query, this.facts);
    if (cursor !== undefined) {
      if ((this.#seen.get(cursor) ?? place.index) !== place.index) {
        throw this.#circle('cursor');
      }
      this.#seen.set(cursor, place.index);
    }
    const page = await this.#load(place.query);
    if (place.before && repeats(page, place.before)) {
      throw this.#circle('page');
    }
    return page;
  }

  #circle(what: string): UnexpectedResponseError {
    const { method, path } = this.#route;
    return new UnexpectedResponseError(
      `${method} ${path} sent the same ${what} twice, so the list would never end. Its items so far are complete up to there.`,
      { code: 'PAGINATION_LOOP', method, path, outcome: 'rejected' },
    );
  }
}

/** The list facts of a row that answers a list. */
export function listFacts(route: Route): List<unknown> {
  if (route.returns.list === undefined) {
    throw new TypeError(`${route.path} is not a list`);
  }
  return route.returns;
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
