import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

const reports = [
  ['timeseries', '/analytics/timeseries'],
  ['topCampaigns', '/analytics/top-campaigns'],
  ['campaignStats', '/analytics/campaign-stats'],
  ['topEvents', '/analytics/top-events'],
] as const;

describe.each(reports)('analytics.%s', (method, path) => {
  it('sends dates as ISO 8601, and unknown fields unchanged', async () => {
    const { fetch, requests } = answering(() => [{ date: '2026-11-01', sent: 3 }]);
    const messaging = messagingOver(fetch, { validation: { responses: 'throw' } });
    const startDate = new Date('2026-11-01T00:00:00Z');
    const report = await messaging.analytics[method]({ startDate, limit: 500, metric: 'clicks' });
    expect(report).toEqual([{ date: '2026-11-01', sent: 3 }]);
    const url = new URL(requests[0]?.url ?? '');
    expect(url.pathname).toBe(path);
    expect(url.search).toBe('?startDate=2026-11-01T00%3A00%3A00.000Z&limit=500&metric=clicks');
  });

  it('needs no query', async () => {
    const { fetch, requests } = answering(() => ({}));
    await expect(messagingOver(fetch).analytics[method]()).resolves.toEqual({});
    expect(new URL(requests[0]?.url ?? '').search).toBe('');
  });

  it('rejects an invalid date before a request', async () => {
    const messaging = messagingOver(() => {
      throw new Error('must not reach the network');
    });
    const call = messaging.analytics[method]({ endDate: new Date('never') });
    await expect(call).rejects.toMatchObject({
      name: 'InvalidRequestError',
      outcome: 'not-sent',
      fieldErrors: [{ field: 'endDate' }],
    });
  });
});
