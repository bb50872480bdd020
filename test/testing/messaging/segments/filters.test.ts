import { describe, expect, it } from 'vitest';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { call, ok } from '../../../support/testing/messaging-call.js';

const start = new Date('2026-03-31T12:00:00.000Z');

/** The emails that a condition finds among a few contacts. */
async function found(condition: unknown, fake = createFakeMessaging({ clock: { start } })) {
  await add(fake, 'ann', { plan: 'pro', orders: 5, isBeta: true, seen: '2026-03-30T12:00:00Z' });
  await add(fake, 'bob', {
    plan: 'free',
    orders: 1,
    isBeta: false,
    seen: '2026-01-01T00:00:00.000Z',
  });
  await add(fake, 'cid', { day: '2026-03-30', profile: { tier: 'gold' } });
  return search(fake, condition);
}

const add = (fake: FakeMessaging, name: string, data: object) =>
  ok(fake, 'POST /contacts', { body: { email: `${name}@example.com`, data } });

async function search(fake: FakeMessaging, condition: unknown): Promise<string[]> {
  const body = { name: 'Some', type: 'DYNAMIC', condition };
  const { id } = await ok(fake, 'POST /segments', { body });
  const { contacts } = await ok(fake, `GET /segments/${id}/contacts`);
  return contacts.map(({ email }) => email.slice(0, 3));
}

const where = (field: string, operator: string, value: unknown, unit?: string) => ({
  field,
  operator,
  value,
  ...(unit !== undefined && { unit }),
});

describe('messaging, Custom fields 8: filter elements', () => {
  it.each([
    ['equals compares strings', where('data.plan', 'equals', 'pro'), ['ann']],
    ['equals compares numbers', where('data.orders', 'equals', 5), ['ann']],
    ['equals keeps numbers and strings apart', where('data.orders', 'equals', '5'), []],
    ['equals takes a boolean by its name', where('data.isBeta', 'equals', 'false'), ['bob']],
    ['greaterThan compares numbers', where('data.orders', 'greaterThan', 1), ['ann']],
    ['within finds the last days', where('data.seen', 'within', 7, 'days'), ['ann']],
    ['olderThan finds what is longer ago', where('data.seen', 'olderThan', 7, 'days'), ['bob']],
    ['standard fields have no prefix', where('email', 'equals', 'bob@example.com'), ['bob']],
    ['custom fields need the prefix', where('plan', 'equals', 'pro'), []],
    [
      'nested data is reached by a dotted path',
      where('data.profile.tier', 'equals', 'gold'),
      ['cid'],
    ],
    ['an unknown operator matches nothing', where('data.plan', 'resembles', 'pro'), []],
    ['a missing field matches nothing', where('data.gone', 'notEquals', 'x'), []],
    ['something else matches nothing', { hello: 'world' }, []],
  ])('%s', async (_title, condition, expected) => {
    expect(await found(condition)).toEqual(expected);
  });

  it('4: date operators need full ISO 8601 strings, so that a bare day matches nothing', async () => {
    expect(await found(where('data.day', 'within', 7, 'days'))).toEqual([]);
    expect(await found(where('data.day', 'olderThan', 0, 'days'))).toEqual([]);
  });

  it('measures dates by the clock of the fake', async () => {
    const fake = createFakeMessaging({ clock: { start } });
    expect(await found(where('data.seen', 'within', 2, 'days'), fake)).toEqual(['ann']);
    await fake.advance('3d');
    expect(await search(fake, where('data.seen', 'within', 2, 'days'))).toEqual([]);
  });

  it('10: a condition on a deleted field matches nothing', async () => {
    const fake = createFakeMessaging({ clock: { start } });
    const condition = where('data.plan', 'equals', 'pro');
    expect(await found(condition, fake)).toEqual(['ann']);
    expect((await call(fake, 'DELETE /contacts/fields/plan')).status).toBeLessThan(300);
    expect(await search(fake, condition)).toEqual([]);
    expect(await search(fake, where('data.plan', 'notEquals', 'pro'))).toEqual([]);
  });

  it('joins elements: and, or, and a list as and', async () => {
    const pro = where('data.plan', 'equals', 'pro');
    const few = where('data.orders', 'lessThan', 3);
    expect(await found({ or: [pro, few] })).toEqual(['ann', 'bob']);
    expect(await found({ and: [pro, few] })).toEqual([]);
    expect(await found([pro, where('data.orders', 'greaterThan', 3)])).toEqual(['ann']);
  });
});
