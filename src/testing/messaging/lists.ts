import { Refusal } from '../core/http.js';
import type { FakeAnswer, FakeRequest } from '../core/types.js';
import type { MessagingSettings } from './settings.js';
import type { Scope } from './state.js';

/** A list before it is cut into pages. */
export interface List<Item extends Listed> {
  /** Sorted by id, ascending or descending. */
  readonly items: readonly Item[];
  /** The resource's own name, e.g. `templates`. */
  readonly name: string;
  /** The style of this list in the document; `cursor` if the document shows none. */
  readonly style: 'cursor' | 'page' | 'array';
}

/** The fields that every list item has. */
export interface Listed {
  readonly id: string;
}

/** Answers one page of a list, in the shape of the document or of `settings.listStyle`. */
export function listAnswer<Item extends Listed>(
  { world: { settings } }: Pick<Scope, 'world'>,
  request: FakeRequest,
  list: List<Item>,
): FakeAnswer {
  const style = settings.listStyle === 'documented' ? list.style : settings.listStyle;
  const { items, name } = list;
  if (style === 'array') {
    return { body: items };
  }
  if (style === 'page') {
    return { body: numberedPage(request, settings, { items, name }) };
  }
  const key = { named: name, results: 'results', cursor: 'data' }[style];
  return { body: cursorPage({ request, settings, key }, items) };
}

/** messaging, Limits: list page size, default 20, at most 100; 400 for invalid parameters. */
export function readCount(request: FakeRequest, name: string, fallback = 20, max = 100): number {
  const text = request.query.get(name);
  if (text === null) {
    return fallback;
  }
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= max) {
    return count;
  }
  throw invalidParameter(name, `\`${name}\` must be an integer from 1 to ${max}.`);
}

export function invalidParameter(field: string, message: string): Refusal {
  const errors = [{ field, message, code: 'invalid_parameter' }];
  return new Refusal(400, 'BAD_REQUEST', message, { errors });
}

/** Page-style totals; `limit` and `pageSize` mean the same. */
function numberedPage(
  request: FakeRequest,
  settings: MessagingSettings,
  { items, name }: Pick<List<Listed>, 'items' | 'name'>,
): object {
  const pageSize = readCount(request, 'pageSize', readCount(request, 'limit'));
  const totals = { total: items.length, pageSize, totalPages: Math.ceil(items.length / pageSize) };
  // messaging, Templates: the query accepts a cursor, but the document shows none in the response.
  const hasCursor = name === 'templates' && settings.templatePaging === 'cursor';
  if (hasCursor && !request.query.has('page')) {
    const page = Math.floor(startOf(request, items) / pageSize) + 1;
    return { ...cursorPage({ request, settings, key: name }, items), page, ...totals };
  }
  const page = readCount(request, 'page', 1, Number.MAX_SAFE_INTEGER);
  const start = (page - 1) * pageSize;
  return { [name]: items.slice(start, start + pageSize), page, ...totals };
}

interface CursorList {
  readonly request: FakeRequest;
  readonly settings: MessagingSettings;
  readonly key: string;
}

/** messaging, General conventions; `total` only on the first page, later pages return 0. */
function cursorPage(
  { request, settings, key }: CursorList,
  items: readonly Listed[],
): Record<string, unknown> {
  const limit = readCount(request, 'limit');
  const start = startOf(request, items);
  const page = items.slice(start, start + limit);
  const { cursor, hasMore } = ending(settings, {
    hasMore: start + limit < items.length,
    cursor: writeCursor(page.at(-1)?.id ?? items.at(-1)?.id ?? ''),
  });
  return {
    [key]: page,
    ...(cursor !== undefined && { cursor }),
    ...(hasMore !== undefined && { hasMore }),
    ...totalOf(settings, items.length, !request.query.get('cursor')),
  };
}

function startOf(request: FakeRequest, items: readonly Listed[]): number {
  const after = request.query.get('cursor') ?? '';
  return after === '' ? 0 : placeAfter(items, readCursor(after));
}

function totalOf({ totals }: MessagingSettings, count: number, isFirst: boolean): object {
  if (totals === 'absent') {
    return {};
  }
  return { total: isFirst || totals === 'every-page' ? count : 0 };
}

interface Ending {
  readonly cursor?: string | null;
  readonly hasMore?: boolean;
}

function ending(
  { lastPage }: MessagingSettings,
  { hasMore, cursor }: { readonly hasMore: boolean; readonly cursor: string },
): Ending {
  // A cursor is documented as a string, so the last page has one too.
  if (lastPage === 'hasMore-false') {
    return { cursor, hasMore };
  }
  if (hasMore) {
    return { cursor };
  }
  if (lastPage === 'cursor-absent') {
    return {};
  }
  return { cursor: lastPage === 'cursor-null' ? null : '' };
}

const writeCursor = (id: string) => (id === '' ? '' : btoa(id));

function readCursor(cursor: string): string {
  try {
    const id = atob(cursor);
    if (/_\d+$/.test(id)) {
      return id;
    }
  } catch {
    // Not base64: refused like every cursor that this service did not create.
  }
  throw invalidParameter('cursor', 'The cursor is not one of this service.');
}

/** The index after an item; if the item is gone, the index of its former position. */
function placeAfter(items: readonly Listed[], id: string): number {
  const index = items.findIndex((item) => item.id === id);
  if (index >= 0) {
    return index + 1;
  }
  const isDescending = ordinal(items[0]?.id) > ordinal(items.at(-1)?.id);
  const next = items.findIndex((item) =>
    isDescending ? ordinal(item.id) < ordinal(id) : ordinal(item.id) > ordinal(id),
  );
  return next < 0 ? items.length : next;
}

/** Ids count upwards in a world, e.g. 12 for `con_000012`. */
const ordinal = (id = '') => Number(id.slice(id.lastIndexOf('_') + 1));
