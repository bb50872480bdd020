import { isRecord } from '../contract/records.js';
import { numberOf, without, type ListFacts, type PageQuery } from './start.js';

export { cursorOf, startQuery, type PageQuery } from './start.js';

/** One page as the service sent it, whichever way it spells pages. */
export interface RawPage {
  readonly items: readonly unknown[];
  readonly cursor?: string | undefined;
  readonly hasMore?: boolean | undefined;
  readonly total?: number | undefined;
  readonly page?: number | undefined;
  readonly pageSize?: number | undefined;
  readonly totalPages?: number | undefined;
  /** Is there a link to the next page that holds neither a cursor nor a page number? */
  readonly hasLostLink?: boolean | undefined;
}

/** Reads a list in any of its shapes; `undefined` when there is no list in the answer. */
export function readList(body: unknown, facts: ListFacts): RawPage | undefined {
  if (body === undefined || body === null || body === true) {
    return { items: [] };
  }
  if (Array.isArray(body)) {
    return { items: body as unknown[] };
  }
  if (!isRecord(body)) {
    return undefined;
  }
  // An envelope around the whole list; the list's own `data` is an array.
  const list = isRecord(body['data']) ? body['data'] : body;
  const items = itemsOf(list, facts.itemsName);
  return items && { items, ...positionOf(list) };
}

/**
 * The query of the page after this one, or `undefined` when this was the last. `unread` items are still
 * to come by the total, where that and the items before are known.
 */
export function nextQuery(
  page: RawPage,
  query: PageQuery,
  facts: ListFacts,
  unread = 0,
): PageQuery | undefined {
  if (page.hasMore === false || page.hasLostLink) {
    return undefined;
  }
  if (page.cursor !== undefined) {
    return without({ ...query, cursor: page.cursor }, 'page');
  }
  // Without a cursor a page without items is the last, whatever `hasMore` is.
  if (page.items.length === 0) {
    return undefined;
  }
  const current = page.page ?? numberOf(query['page']) ?? 1;
  const size = page.pageSize ?? numberOf(query[facts.sizeParameter ?? '']) ?? page.items.length;
  // A list by cursors is over at the page without one, whatever the totals are.
  if (query['cursor'] !== undefined && page.page === undefined && page.hasMore !== true) {
    return undefined;
  }
  if (!hasPageAfter(page, { current, size, unread, facts })) {
    return undefined;
  }
  return without({ ...query, page: current + 1 }, 'cursor');
}

interface PagePosition {
  readonly current: number;
  readonly size: number;
  readonly unread: number;
  readonly facts: ListFacts;
}

function hasPageAfter(page: RawPage, { current, size, unread, facts }: PagePosition): boolean {
  if (page.hasMore === true) {
    return true;
  }
  if (page.items.length === 0) {
    return false;
  }
  if (page.totalPages !== undefined) {
    return current < page.totalPages;
  }
  const isNumbered =
    facts.list === 'page' || page.page !== undefined || page.pageSize !== undefined;
  // A service may well send smaller pages than it was asked for.
  return isNumbered && page.total !== undefined && (current * size < page.total || unread > 0);
}

function itemsOf(body: Record<string, unknown>, name: string | undefined): unknown[] | undefined {
  for (const candidate of ['data', name ?? 'items', 'items']) {
    const items = body[candidate];
    if (Array.isArray(items)) {
      return items as unknown[];
    }
  }
  const arrays = arraysIn(body);
  if (arrays.length === 1) {
    return arrays[0];
  }
  // `{}` and `{ success: true }` are empty answers; anything else without a list is not one.
  return arrays.length === 0 && Object.keys(body).every((key) => key === 'success')
    ? []
    : undefined;
}

// Far more than a list has beside its items.
const maxFields = 1_000;

function arraysIn(body: Record<string, unknown>): unknown[][] {
  const arrays: unknown[][] = [];
  let seen = 0;
  for (const name in body) {
    const value = body[name];
    if (Array.isArray(value)) {
      arrays.push(value as unknown[]);
    }
    seen++;
    if (seen === maxFields) {
      break;
    }
  }
  return arrays;
}

// Where services put the facts of a page, beside the items.
const besides = ['pagination', 'paging', 'meta', 'page_info', 'pageInfo'];

/** Names of the same fact, in lower case without underscores. */
const names = {
  cursor: ['cursor', 'nextcursor', 'nextpagetoken', 'endcursor'],
  hasMore: ['hasmore', 'hasnext', 'hasnextpage'],
  total: ['total', 'totalcount', 'totalitems'],
  page: ['page', 'currentpage'],
  pageSize: ['pagesize', 'perpage'],
  totalPages: ['totalpages', 'pagecount', 'lastpage'],
};

const allNames: ReadonlySet<string> = new Set(Object.values(names).flat());

function positionOf(body: Record<string, unknown>): Omit<RawPage, 'items'> {
  const facts = factsIn(body);
  const first = (wanted: readonly string[]) => {
    const name = wanted.find((one) => (facts.get(one) ?? undefined) !== undefined);
    return name === undefined ? undefined : facts.get(name);
  };
  const link = linkOf(body);
  const cursor = first(names.cursor) ?? link?.cursor;
  const hasMore = first(names.hasMore);
  const isCursor = (typeof cursor === 'string' || typeof cursor === 'number') && cursor !== '';
  return {
    cursor: isCursor ? String(cursor) : undefined,
    hasMore: typeof hasMore === 'boolean' ? hasMore : link && true,
    hasLostLink: link && !link.isKnown && cursor === undefined,
    total: numberOf(first(names.total)),
    page: numberOf(first(names.page)),
    pageSize: numberOf(first(names.pageSize)),
    totalPages: numberOf(first(names.totalPages)),
  };
}

function factsIn(body: Record<string, unknown>): ReadonlyMap<string, unknown> {
  const places = [body, ...besides.map((name) => body[name]).filter(isRecord)];
  const facts = new Map<string, unknown>();
  for (const place of places) {
    for (const name in place) {
      const plain = name.toLowerCase().replaceAll('_', '');
      if (allNames.has(plain) && !facts.has(plain) && !isRecord(place[name])) {
        facts.set(plain, place[name]);
      }
    }
  }
  return facts;
}

interface NextLink {
  readonly cursor: string | undefined;
  /** Is the next page given in a form that a query can take? */
  readonly isKnown: boolean;
}

function linkOf(body: Record<string, unknown>): NextLink | undefined {
  const links = ['links', '_links'].map((name) => body[name]).filter(isRecord);
  const found = [...links.map(({ next }) => next), body['next']].find(
    (next) => next !== undefined && next !== null && next !== '',
  );
  const href = isRecord(found) ? found['href'] : found;
  if (typeof href !== 'string' || !/[?/]/.test(href)) {
    return undefined;
  }
  const query = new URLSearchParams(href.slice(href.indexOf('?') + 1));
  const cursor = query.get('cursor') ?? undefined;
  return { cursor, isKnown: cursor !== undefined || query.has('page') };
}
