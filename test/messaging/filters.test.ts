import { describe, expect, it } from 'vitest';
import { and, filters, or, where } from 'postreel/messaging';
import { answering, messagingOver } from '../support/clients.js';

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

describe('a filter that selects nobody', () => {
  const offline = messagingOver(() => Promise.reject(new Error('no network')));
  const asSegment = (condition: unknown) =>
    offline.segments.create({ type: 'DYNAMIC', name: 'Pros', condition } as never);
  const asAudience = (audienceFilter: unknown) =>
    offline.campaigns.create({
      name: 'Spring',
      subject: 'Hi',
      body: '<p>Hi</p>',
      from: 'shop@example.com',
      audienceType: 'FILTERED',
      audienceFilter,
    } as never);

  it.each([
    [{ field: 'plan', operator: 'equals', value: 'pro' }, 'a custom field is `data.plan`'],
    [
      {
        and: [
          { field: 'email', operator: 'equals', value: 'a@b.c' },
          { field: 'seats', operator: 'greaterThan', value: 5 },
        ],
      },
      'a custom field is `data.seats`',
    ],
    [{ field: 'data.plan', operator: 'equals' }, '`data.plan` is compared with no value'],
    [
      { field: 'data.plan', operator: 'equals', value: '' },
      '`data.plan` is compared with no value',
    ],
  ])('is refused, with what it should be: %j', async (filter, words) => {
    for (const call of [asSegment(filter), asAudience(filter)]) {
      await expect(call).rejects.toMatchObject({
        name: 'InvalidRequestError',
        outcome: 'not-sent',
        message: expect.stringContaining(words) as string,
      });
    }
  });

  it('does not come from where()', () => {
    expect(() => where('plan' as 'data.plan')).toThrow('a custom field is `data.plan`');
  });

  it('is not what names a field of its own, or of an event', async () => {
    const { fetch, requests } = answering(() => ({ id: 'seg_1' }));
    const { segments } = messagingOver(fetch);
    const condition = { field: 'event.total', operator: 'greaterThan', value: 5 } as const;
    await segments.create({ type: 'DYNAMIC', name: 'Pros', condition });
    expect(requests).toHaveLength(1);
  });
});
