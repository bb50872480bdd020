import { describe, expect, it } from 'vitest';
import { and, filters, or, where } from 'postreel/messaging';
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
});
