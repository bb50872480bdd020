import { describe, expect, it } from 'vitest';
import {
  cursorOf,
  nextQuery,
  readList,
  startQuery,
  type PageQuery,
  type RawPage,
} from '../../src/core/list.js';

const cursorPage = { list: 'cursor', sizeParameter: 'limit' } as const;
const numbered = { list: 'page', sizeParameter: 'limit' } as const;
const whole = { list: 'whole' } as const;
const named = { list: 'any', sizeParameter: 'limit', itemsName: 'templates' } as const;

describe('a list is read', () => {
  it.each<[unknown, RawPage | undefined]>([
    [undefined, { items: [] }],
    [null, { items: [] }],
    [true, { items: [] }],
    [false, undefined],
    ['text', undefined],
    [7, undefined],
    [[1, 2], { items: [1, 2] }],
    [{}, { items: [] }],
    [{ success: true }, { items: [] }],
    [{ message: 'hello' }, undefined],
    [{ success: true, message: 'hello' }, undefined],
    [{ data: [1] }, { items: [1] }],
    [{ items: [1] }, { items: [1] }],
    [{ data: { items: [1], total: 1 } }, { items: [1], total: 1 }],
    [{ data: { data: [1], cursor: 'a' } }, { items: [1], cursor: 'a' }],
    [{ contacts: [1] }, { items: [1] }],
    [
      { data: [1], nextCursor: 'a' },
      { items: [1], cursor: 'a' },
    ],
    [
      { data: [1], next_cursor: 'a' },
      { items: [1], cursor: 'a' },
    ],
    [{ a: [1], b: [2] }, undefined],
    [{ a: [1], items: [2] }, { items: [2] }],
    [{ items: [1], data: [2] }, { items: [2] }],
    [{ items: 'none' }, undefined],
  ])('%j is %j', (body, expected) => {
    expect(readList(body, cursorPage)).toEqual(expected);
  });

  it('with its own name before the usual one, and after `data`', () => {
    expect(readList({ templates: [1], items: [2] }, named)).toEqual({ items: [1] });
    expect(readList({ templates: [1], data: [2] }, named)).toEqual({ items: [2] });
    expect(readList({ items: [2], a: [] }, named)).toEqual({ items: [2] });
  });

  it.each<[object, Omit<RawPage, 'items'>]>([
    [{ cursor: 'a' }, { cursor: 'a' }],
    [{ cursor: 7 }, { cursor: '7' }],
    [{ cursor: '' }, {}],
    [{ cursor: null }, {}],
    [{ cursor: {} }, {}],
    [{ hasMore: true }, { hasMore: true }],
    [{ hasMore: false }, { hasMore: false }],
    [{ hasMore: 'yes' }, {}],
    [{ hasMore: null }, {}],
    [
      { total: 0, page: 1 },
      { total: 0, page: 1 },
    ],
    [
      { total: '12', pageSize: '5', totalPages: '3' },
      { total: 12, pageSize: 5, totalPages: 3 },
    ],
    [{ total: '', page: null, pageSize: 'many', totalPages: true }, {}],
    [{ total: Number.NaN, page: [1] }, {}],
  ])('with its place: %j is %j', (place, expected) => {
    expect(readList({ data: [], ...place }, cursorPage)).toEqual({ items: [], ...expected });
  });
});

describe('the page after a page', () => {
  const items = [1, 2];
  it.each<[string, Partial<RawPage>, PageQuery, PageQuery | undefined]>([
    ['is the one of its cursor', { cursor: 'b' }, { cursor: 'a', q: 1 }, { cursor: 'b', q: 1 }],
    ['leaves the page number behind', { cursor: 'b' }, { page: 1 }, { cursor: 'b' }],
    ['is none when the service says so', { hasMore: false, cursor: 'b' }, {}, undefined],
    ['is none without a sign of one', {}, {}, undefined],
    ['is the next number', { page: 2, totalPages: 3 }, {}, { page: 3 }],
    ['counts from the query', { totalPages: 3 }, { page: 2, q: 1 }, { page: 3, q: 1 }],
    ['counts from a text', { totalPages: 3 }, { page: '2' }, { page: 3 }],
    ['counts from 1', { totalPages: 3 }, {}, { page: 2 }],
    ['is none after the last', { page: 3, totalPages: 3 }, {}, undefined],
    ['drops a cursor of old', { page: 1, totalPages: 3 }, { cursor: 'x' }, { page: 2 }],
    ['follows from the total', { page: 2, pageSize: 2, total: 5 }, {}, { page: 3 }],
    ['is none when all are there', { page: 2, pageSize: 2, total: 4 }, {}, undefined],
    ['takes the size asked for', { page: 2, total: 7 }, { limit: 3 }, { limit: 3, page: 3 }],
    ['takes the size asked for, at the end', { page: 2, total: 6 }, { limit: 3 }, undefined],
    ['takes the size it has', { page: 2, total: 5 }, {}, { page: 3 }],
    ['takes the size it has, at the end', { page: 2, total: 4 }, {}, undefined],
    ['needs a number or a size, not a total alone', { total: 5 }, {}, undefined],
    ['follows from a size and a total', { pageSize: 2, total: 5 }, {}, { page: 2 }],
    ['is believed without a cursor', { hasMore: true }, {}, { page: 2 }],
    ['is none for who was led by cursors and gets none', { total: 9 }, { cursor: 'a' }, undefined],
    ['is none after an empty one without a cursor', { hasMore: true, items: [] }, {}, undefined],
    ['follows the cursor of an empty one', { cursor: 'b', items: [] }, {}, { cursor: 'b' }],
    ['is none after an empty one', { items: [], page: 1, totalPages: 9 }, {}, undefined],
  ])('%s: %j after %j', (_, page, query, expected) => {
    expect(nextQuery({ items, ...page }, query, cursorPage)).toEqual(expected);
  });

  it('needs only a total where the document counts pages', () => {
    expect(nextQuery({ items, total: 5 }, {}, numbered)).toEqual({ page: 2 });
    expect(nextQuery({ items, total: 2 }, {}, numbered)).toBeUndefined();
    expect(nextQuery({ items, total: 5 }, { cursor: 'a' }, numbered)).toBeUndefined();
    expect(nextQuery({ items, total: 5 }, {}, whole)).toBeUndefined();
    // A whole list has no size to ask for, whatever the query holds.
    expect(nextQuery({ items, total: 5, page: 1 }, { limit: 5 }, whole)).toEqual({
      limit: 5,
      page: 2,
    });
  });
});

describe('a place as text', () => {
  it.each<[PageQuery, string | undefined]>([
    [{ cursor: 'a', page: 2 }, 'a'],
    [{}, undefined],
    [{ limit: 5 }, undefined],
    [{ page: 2 }, 'page:2'],
    [{ page: 2, limit: 5 }, 'page:2/5'],
    [{ page: '2', limit: '5' }, 'page:2/5'],
    [{ cursor: 7, page: 3 }, 'page:3'],
  ])('%j is %j', (query, expected) => {
    expect(cursorOf(query, cursorPage)).toBe(expected);
  });

  it('holds no size where none can be asked for', () => {
    expect(cursorOf({ page: 2, limit: 5 }, whole)).toBe('page:2');
  });

  it.each<[PageQuery, PageQuery]>([
    [{ cursor: 'page:2' }, { page: 2 }],
    [
      { cursor: 'page:12/50', q: 'x' },
      { page: 12, limit: 50, q: 'x' },
    ],
    [
      { cursor: 'page:2/50', limit: 10 },
      { page: 2, limit: 10 },
    ],
    [{ cursor: 'page:' }, { cursor: 'page:' }],
    [{ cursor: 'page:2/' }, { cursor: 'page:2/' }],
    [{ cursor: 'page:2/5x' }, { cursor: 'page:2/5x' }],
    [{ cursor: 'my page:2' }, { cursor: 'my page:2' }],
    [{ cursor: 'abc' }, { cursor: 'abc' }],
    [{ cursor: 7 }, { cursor: 7 }],
    [{ q: 1 }, { q: 1 }],
  ])('%j starts at %j', (query, expected) => {
    expect(startQuery(query, cursorPage)).toEqual(expected);
  });

  it('forgets a size that cannot be asked for', () => {
    expect(startQuery({ cursor: 'page:2/50' }, whole)).toEqual({ page: 2 });
  });
});
