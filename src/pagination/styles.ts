import { isRecord } from '../contract/records.js';
import { numberOf, without, type ListFacts, type PageQuery } from './start.js';

export { cursorOf, startQuery, type PageQuery } from './start.js';

/** One page as the service sent it, whichever way it spells pages. */
export interface RawPage {
  readonly items: readonly unknown[];
  readonly cursor?: string;
  readonly hasMore?: boolean;
  readonly total?: number;
  readonly page?: number;
  readonly pageSize?: number;
  readonly totalPages?: number;
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

/** The query of the page after this one, or `undefined` when this was the last. */
export function nextQuery(
  page: RawPage,
  query: PageQuery,
  facts: ListFacts,
): PageQuery | undefined {
  if (page.hasMore === false) {
    return undefined;
  }
  if (page.cursor !== undefined) {
    return without({ ...query, cursor: page.cursor }, 'page');
  }
  // Without a cursor a page without items is the last, whatever `hasMore` says.
  if (page.items.length === 0) {
    return undefined;
  }
  const current = page.page ?? numberOf(query['page']) ?? 1;
  const size = page.pageSize ?? numberOf(query[facts.sizeParameter ?? '']) ?? page.items.length;
  // Who was led by cursors and gets none is at the end, whatever the totals say.
  if (query['cursor'] !== undefined && page.page === undefined && page.hasMore !== true) {
    return undefined;
  }
  if (!hasPageAfter(page, current, size, facts)) {
    return undefined;
  }
  return without({ ...query, page: current + 1 }, 'cursor');
}

function hasPageAfter(page: RawPage, current: number, size: number, facts: ListFacts): boolean {
  if (page.hasMore === true) {
    return true;
  }
  if (page.items.length === 0) {
    return false;
  }
  if (page.totalPages !== undefined) {
    return current < page.totalPages;
  }
  const counts = facts.list === 'page' || page.page !== undefined || page.pageSize !== undefined;
  return counts && page.total !== undefined && current * size < page.total;
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
const mostFields = 1_000;

function arraysIn(body: Record<string, unknown>): unknown[][] {
  const arrays: unknown[][] = [];
  let seen = 0;
  for (const name in body) {
    const value = body[name];
    if (Array.isArray(value)) {
      arrays.push(value as unknown[]);
    }
    seen++;
    if (seen === mostFields) {
      break;
    }
  }
  return arrays;
}

function positionOf(body: Record<string, unknown>): Omit<RawPage, 'items'> {
  const { hasMore } = body;
  const cursor = body['cursor'] ?? body['nextCursor'] ?? body['next_cursor'];
  const numbers = ['total', 'page', 'pageSize', 'totalPages'] as const;
  return {
    ...((typeof cursor === 'string' || typeof cursor === 'number') &&
      cursor !== '' && { cursor: String(cursor) }),
    ...(typeof hasMore === 'boolean' && { hasMore }),
    ...Object.fromEntries(
      numbers.flatMap((name) => {
        const value = numberOf(body[name]);
        return value === undefined ? [] : [[name, value]];
      }),
    ),
  };
}
