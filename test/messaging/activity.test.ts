import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

describe('activity', () => {
  it.each([
    ['a page of nothing', { limit: 0 }, 'limit'],
    ['a page of more than 100', { limit: 101 }, 'limit'],
    ['a date that is none', { startDate: new Date(Number.NaN) }, 'startDate'],
  ])('rejects %s before a request', async (_, query, field) => {
    const messaging = messagingOver(() => {
      throw new Error('must not reach the network');
    });
    await expect(messaging.activity.list(query).first()).rejects.toMatchObject({
      name: 'InvalidRequestError',
      outcome: 'not-sent',
      fieldErrors: [{ field }],
    });
  });

  it('lists the feed by cursor if the service returns one', async () => {
    const pages = [{ activities: [{ type: 'open' }], cursor: 'c1' }, [{ type: 'click' }]];
    const { fetch, requests } = answering(() => pages.shift());
    const entries = await messagingOver(fetch).activity.list().toArray();
    expect(entries).toEqual([{ type: 'open' }, { type: 'click' }]);
    expect(requests.map(({ url }) => new URL(url).searchParams.get('cursor'))).toEqual([
      null,
      'c1',
    ]);
  });

  it.each(['stats', 'recentCount', 'upcoming'] as const)(
    '%s takes a period and returns any response',
    async (method) => {
      const { fetch, requests } = answering(() => [{ any: 'form' }]);
      const messaging = messagingOver(fetch, { validation: { responses: 'throw' } });
      const endDate = new Date('2026-11-21T00:00:00Z');
      const answer = await messaging.activity[method]({ startDate: '2026-11-01', endDate });
      expect(answer).toEqual([{ any: 'form' }]);
      expect(new URL(requests[0]?.url ?? '').search).toBe(
        '?startDate=2026-11-01&endDate=2026-11-21T00%3A00%3A00.000Z',
      );
    },
  );
});
