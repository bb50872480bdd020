import { largestPage, type List, type Route } from '../contract/route.js';

/** The query of a page. */
export type PageQuery = Readonly<Record<string, unknown>>;

/** The facts of a row's list. */
export type ListFacts = Pick<List<unknown>, 'list' | 'sizeParameter' | 'itemsName'>;

/** The list facts of a row that answers a list. */
export function listFacts(route: Route): List<unknown> {
  if (route.returns.list === undefined) {
    throw new TypeError(`${route.path} is not a list`);
  }
  return route.returns;
}

/** Where a page starts, as one text that `list({ cursor })` takes back. */
export function cursorOf(query: PageQuery, facts: ListFacts): string | undefined {
  if (typeof query['cursor'] === 'string') {
    return query['cursor'];
  }
  const page = numberOf(query['page']);
  if (page === undefined) {
    return undefined;
  }
  // A page number means nothing without the size of the pages before it.
  const size = numberOf(query[facts.sizeParameter ?? '']);
  return size === undefined ? `page:${page}` : `page:${page}/${size}`;
}

/** A query whose cursor may be one of ours for a numbered page. */
export function startQuery(query: PageQuery, facts: ListFacts): PageQuery {
  const cursor = query['cursor'];
  const match = typeof cursor === 'string' ? /^page:(\d+)(?:\/(\d+))?$/.exec(cursor) : null;
  if (!match) {
    return query;
  }
  const size = facts.sizeParameter && match[2] ? { [facts.sizeParameter]: Number(match[2]) } : {};
  return without({ ...size, ...query, page: Number(match[1]) }, 'cursor');
}

/** A query for pages of a size, unless the caller chose one. */
export function sizedQuery(
  query: PageQuery,
  { sizeParameter }: ListFacts,
  size = largestPage,
): PageQuery {
  return sizeParameter === undefined || query[sizeParameter] !== undefined
    ? query
    : { ...query, [sizeParameter]: size };
}

/** A number, also one that is written as text. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** A query without one of its fields. */
export function without(query: Record<string, unknown>, name: string): PageQuery {
  return Object.fromEntries(Object.entries(query).filter(([key]) => key !== name));
}
