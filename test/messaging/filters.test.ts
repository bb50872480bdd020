import { describe, expect, it } from 'vitest';
import { and, filters, or, where, type MessagingClient } from 'postreel/messaging';
import { answering, messagingOver } from '../support/clients.js';

describe('where', () => {
  it('creates filter elements in the documented form', () => {
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

  it('sends a boolean as text, because the document shows text and numbers only', () => {
    expect(where('subscribed').equals(true).value).toBe('true');
  });

  it.each([Number.NaN, undefined, null, {}, new Date()])('rejects %s as a value', (value) => {
    expect(() => where('data.a').equals(value as never)).toThrow(
      'The value of a filter on data.a must be a string, number or boolean.',
    );
  });
});

describe('and() and or()', () => {
  it.each([and, or, filters().and, filters().or])('throw without filters', (join) => {
    expect(() => join(...[])).toThrow(
      'needs at least one filter: an empty one may select everybody',
    );
  });
});

describe('a filter with an operator or a unit that the document does not show', () => {
  const warningsOf = async (filter: object): Promise<readonly string[][]> => {
    const calls: ((messaging: MessagingClient) => PromiseLike<unknown>)[] = [
      (m) => m.segments.create({ type: 'DYNAMIC', name: 'Pros', condition: filter }),
      (m) => m.segments.update('seg_1', { condition: filter }),
      (m) =>
        m.campaigns.create({
          name: 'Spring',
          subject: 'Hi',
          body: '<p>Hi</p>',
          from: 'shop@example.com',
          audienceType: 'FILTERED',
          audienceFilter: filter,
        }),
      (m) => m.workflows.steps.create('wf_1', { type: 'CONDITION', config: { condition: filter } }),
      (m) => m.workflows.steps.update('wf_1', 'st_1', { config: { condition: filter } }),
    ];
    return Promise.all(
      calls.map(async (call) => {
        const messaging = messagingOver(answering(() => ({ id: '1' })).fetch);
        const warnings: string[] = [];
        messaging.on('warning', ({ message }) => warnings.push(message));
        await call(messaging);
        return warnings;
      }),
    );
  };

  it.each([
    ['equal', 'Did you mean "equals"?'],
    ['eq', 'Did you mean "equals"?'],
    ['>', 'Did you mean "greaterThan"?'],
    ['contains', 'it may select nobody.'],
  ])('is sent with a warning on every path: %s', async (operator, end) => {
    const compared = where('data.plan').operator(operator, 'pro');
    for (const filter of [compared, and(where('data.seats').greaterThan(5), compared)]) {
      const all = await warningsOf(filter);
      expect(all).toHaveLength(5);
      for (const [warning = '', ...others] of all) {
        expect(warning).toContain(`compares \`data.plan\` by the operator "${operator}"`);
        expect(warning.endsWith(end)).toBe(true);
        expect(others).toEqual([]);
      }
    }
  });

  it('is sent with a warning about a unit in another spelling', async () => {
    const [[warning] = []] = await warningsOf(where('createdAt').within(3, 'day'));
    expect(warning).toBe(
      '`condition` compares `createdAt` by the unit "day", which is not documented: it may select nobody. Did you mean "days"?',
    );
  });

  it('differs from a documented one', async () => {
    expect((await warningsOf(where('createdAt').within(3, 'days'))).flat()).toEqual([]);
    expect((await warningsOf(or(where('data.plan').equals('pro')))).flat()).toEqual([]);
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
    [
      { field: 'data.plan', operator: 'equals', value: null },
      '`data.plan` is compared with no value',
    ],
  ])('is rejected, and the error names the right form: %j', async (filter, words) => {
    for (const call of [asSegment(filter), asAudience(filter)]) {
      await expect(call).rejects.toMatchObject({
        name: 'InvalidRequestError',
        outcome: 'not-sent',
        message: expect.stringContaining(words) as string,
      });
    }
  });

  const plan = { field: 'data.plan', operator: 'equals', value: 'pro' };
  it.each([
    {},
    { and: [] },
    { and: [plan, {}] },
    { and: [plan], or: [{}] },
    { and: [{ or: [plan, { and: [] }] }] },
    { not: {} },
    { all: null },
    { mode: 'all', and: [] },
    { all: null, and: [] },
  ])('is rejected if it, or a part of it, is empty: %j', async (filter) => {
    for (const call of [asSegment(filter), asAudience(filter)]) {
      await expect(call).rejects.toThrow('must not be empty: it may select everybody');
    }
  });

  it.each([{ and: [plan], or: [plan] }, { mode: 'all' }, { rules: [['plan', 'pro']] }])(
    'is not a filter with content: %j',
    async (filter) => {
      await expect(asSegment(filter)).rejects.toThrow('no network');
    },
  );

  it('cannot come from where()', () => {
    expect(() => where('plan' as 'data.plan')).toThrow('a custom field is `data.plan`');
  });

  it('is not a filter with a custom field or the field of an event', async () => {
    const { fetch, requests } = answering(() => ({ id: 'seg_1' }));
    const { segments } = messagingOver(fetch);
    const condition = { field: 'event.total', operator: 'greaterThan', value: 5 } as const;
    await segments.create({ type: 'DYNAMIC', name: 'Pros', condition });
    expect(requests).toHaveLength(1);
  });
});
