import { describe, expect, it } from 'vitest';
import { InvalidRequestError } from 'postreel';
import { evaluateFilter, matches, and, filters, or, where, type Filter } from 'postreel/messaging';
import { messagingOver } from '../support/clients.js';

describe('where', () => {
  it('writes filter elements as the document shows them', () => {
    expect(where('data.plan').equals('pro')).toEqual({
      field: 'data.plan',
      operator: 'equals',
      value: 'pro',
    });
    expect(where('data.seats').greaterThan(5)).toMatchObject({ operator: 'greaterThan', value: 5 });
    expect(where('createdAt').within(30, 'days')).toMatchObject({
      operator: 'within',
      value: 30,
      unit: 'days',
    });
    expect(where('createdAt').olderThan(2, 'days')).toMatchObject({ operator: 'olderThan' });
    expect(where('data.a').operator('contains', 'x')).toMatchObject({ operator: 'contains' });
  });

  it('writes a boolean as text, since the document shows text and numbers only', () => {
    expect(where('subscribed').equals(true).value).toBe('true');
  });

  it('writes what the document does not show as a mapping says', () => {
    const own = filters({
      and: (parts) => ({ operator: 'AND', conditions: parts }),
      or: (parts) => ({ operator: 'OR', conditions: parts }),
      boolean: Number,
    });
    const yes = own.where('subscribed').equals(true);
    expect(yes.value).toBe(1);
    expect(own.and(yes)).toEqual({ operator: 'AND', conditions: [yes] });
    expect(own.or(yes)).toEqual({ operator: 'OR', conditions: [yes] });
  });

  it("writes them so by the client's own mapping", () => {
    const client = messagingOver(() => Promise.reject(new Error('no network')), {
      filterMapping: { and: (parts) => ({ all: parts }), boolean: (value) => value },
    });
    const { and: all, where: field } = client.filters;
    const yes = field('subscribed').equals(true);
    expect(all(yes)).toEqual({ all: [{ field: 'subscribed', operator: 'equals', value: true }] });
  });

  it.each([Number.NaN, undefined, null, {}, new Date()])('refuses %s as a value', (value) => {
    expect(() => where('data.a').equals(value as never)).toThrow(
      'The value of a filter on data.a must be a string, number or boolean.',
    );
  });
});

describe('and() and or()', () => {
  it.each([and, or, filters().and, filters().or])('refuse no filters at all', (join) => {
    expect(() => join(...[])).toThrow(
      'needs at least one filter: an empty one may select everybody',
    );
  });

  it.each([{ and: [] }, { or: [] }, {}])('%j is not evaluated: it says nothing', (filter) => {
    expect(() => matches(filter, { email: 'ann@example.com' })).toThrow(InvalidRequestError);
  });
});

describe('a filter evaluated locally', () => {
  const now = new Date('2026-06-30T12:00:00.000Z');
  const contact = {
    email: 'ann@example.com',
    subscribed: true,
    createdAt: '2026-06-01T12:00:00.000Z',
    data: {
      plan: 'pro',
      seats: 6,
      day: '2026-06-29',
      seen: '2026-06-29T12:00:00Z',
      later: '2026-07-29T12:00:00Z',
      profile: { tier: 'gold' },
      none: null,
    },
  };

  it.each<[string, Filter, boolean]>([
    ['equal text', where('data.plan').equals('pro'), true],
    ['other text', where('data.plan').equals('Pro'), false],
    ['an equal number', where('data.seats').equals(6), true],
    ['the same digits as text', where('data.seats').equals('6'), false],
    ['a greater number', where('data.seats').greaterThan(5), true],
    ['an equal number as greater', where('data.seats').greaterThan(6), false],
    ['text as greater than a number', where('data.plan').greaterThan(5), false],
    ['a date within', where('data.seen').within(1, 'days'), true],
    ['a date not within', where('createdAt').within(28, 'days'), false],
    ['an older date', where('createdAt').olderThan(28, 'days'), true],
    ['a date at the very edge as older', where('data.seen').olderThan(1, 'days'), false],
    ['a date in the future as within', where('data.later').within(90, 'days'), false],
    [
      'a day without a time, which date operators do not read',
      where('data.day').within(9, 'days'),
      false,
    ],
    ['a missing field', where('data.gone').equals('x'), false],
    ['a field that is null', where('data.none').equals('null'), false],
    ['a dotted path', where('data.profile.tier').equals('gold'), true],
    ['a standard field', where('email').equals('ann@example.com'), true],
    ['a boolean', where('subscribed').equals(true), true],
    ['all of two', and(where('data.plan').equals('pro'), where('data.seats').equals(1)), false],
    ['any of two', or(where('data.plan').equals('pro'), where('data.seats').equals(1)), true],
  ])('matches %s: %j is %s', (_, filter, expected) => {
    expect(matches(filter, contact, { now })).toBe(expected);
  });

  it('says what it had to assume, and nothing where the document is clear', () => {
    const clear = where('data.seats').greaterThan(5);
    expect(evaluateFilter(clear, contact, { now }).assumptions).toEqual([]);
    const open = or(where('subscribed').equals(false), clear);
    expect(evaluateFilter(open, contact, { now }).assumptions).toEqual([
      'several filters are joined as "or"',
      'a boolean field equals the text "true" or "false"',
    ]);
  });

  it.each<[Filter, string]>([
    [where('data.a').operator('contains', 'x'), '`operator` "contains"'],
    [where('data.seen').within(1, 'moons'), '`unit` "moons"'],
    [{ all: [] }, '`filter` has a structure'],
  ])('refuses to guess: %j', (filter, part) => {
    const evaluate = () => matches(filter, contact, { now });
    expect(evaluate).toThrow(InvalidRequestError);
    expect(evaluate).toThrow(part);
  });

  it('reads structures and fields that the caller explains', () => {
    const filter = { rules: [{ field: 'event.name', operator: 'equals', value: 'paid' }] };
    const result = matches(filter, contact, {
      read: (field) => (field === 'event.name' ? 'paid' : undefined),
      readGroup: (group) =>
        'rules' in group ? { join: 'and', filters: group.rules as Filter[] } : undefined,
    });
    expect(result).toBe(true);
  });

  it('manages without data', () => {
    expect(matches(where('data.a').equals(1), { data: null })).toBe(false);
    expect(matches(where('data.a').equals(1), {})).toBe(false);
  });
});
