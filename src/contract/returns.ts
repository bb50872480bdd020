/** A type that a row carries without a value: the tables are plain data. */
export interface Shape<T> {
  readonly type?: T;
}

/** What a route answers when it is not a list. */
export interface Single<T> extends Shape<T> {
  readonly list?: never;
  /** Does the route answer nothing that a caller could use? */
  readonly isNothing?: boolean;
}

/**
 * How a list goes on: by `cursor`, by `page` number, not at all (`whole`), or in a way that the
 * documents do not show (`any`: the answer decides).
 */
export type ListStyle = 'cursor' | 'page' | 'whole' | 'any';

/** What a route answers when it is a list. */
export interface List<T> {
  readonly item?: T;
  readonly list: ListStyle;
  /** The query parameter for the size of a page; left out where the document knows none. */
  readonly sizeParameter?: string;
  /** The name under which the service puts the items, when it is not `data`. */
  readonly itemsName?: string;
}

/** Carries the type of a body, a query or an answer. */
/* @__NO_SIDE_EFFECTS__ */
export function of<T>(): Single<T> {
  return {};
}

/** A route that answers nothing but its success. */
/* @__NO_SIDE_EFFECTS__ */
export function nothing(): Single<void> {
  return { isNothing: true };
}

/** A list that goes on by cursor: `{ data, cursor, hasMore, total }`. */
/* @__NO_SIDE_EFFECTS__ */
export function cursorPage<T>(): List<T> {
  return { list: 'cursor', sizeParameter: 'limit' };
}

/** A list that counts its pages: `{ page, pageSize, total, totalPages? }`. */
/* @__NO_SIDE_EFFECTS__ */
export function numberedPage<T>(sizeParameter: string, itemsName?: string): List<T> {
  return { list: 'page', sizeParameter, ...(itemsName === undefined ? {} : { itemsName }) };
}

/** A list that comes whole, in one answer. */
/* @__NO_SIDE_EFFECTS__ */
export function wholeList<T>(itemsName?: string): List<T> {
  return { list: 'whole', ...(itemsName === undefined ? {} : { itemsName }) };
}

/** A list whose shape the documents do not show. */
/* @__NO_SIDE_EFFECTS__ */
export function anyList<T>(itemsName: string, sizeParameter = 'limit'): List<T> {
  return { list: 'any', sizeParameter, itemsName };
}

/** The most items that the messaging service gives out in one page (Limits, "List page size"). */
export const largestPage = 100;
