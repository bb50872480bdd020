import { describe, expect, it } from 'vitest';
import { createFakeMessaging } from 'postreel/testing';
import { call, ok } from '../../support/testing/messaging-call.js';

const clock = { start: new Date('2026-03-10T12:00:00.000Z') };

describe('messaging, Analytics', () => {
  it('timeseries counts sends, opens and clicks by day', async () => {
    const fake = createFakeMessaging({ clock });
    const { emails } = fake.seed({ contacts: 3, emails: 3 });
    await fake.advance('1d');
    Object.assign(emails[1] ?? {}, { openedAt: fake.clock.date().toISOString() });
    const query = 'startDate=2026-03-09&endDate=2026-03-11';
    expect(await ok(fake, `GET /analytics/timeseries?${query}`)).toEqual({
      timeseries: [
        { date: '2026-03-09', sent: 0, opened: 0, clicked: 0, bounced: 0 },
        { date: '2026-03-10', sent: 3, opened: 2, clicked: 2, bounced: 0 },
        { date: '2026-03-11', sent: 0, opened: 1, clicked: 0, bounced: 0 },
      ],
    });
  });

  it('timeseries spans the last 30 days unless told otherwise', async () => {
    const answer = await ok(createFakeMessaging({ clock }), 'GET /analytics/timeseries');
    expect(answer).toHaveProperty('timeseries.length', 30);
    expect(answer).toHaveProperty('timeseries.29.date', '2026-03-10');
  });

  it.each([
    'timeseries?startDate=soon',
    'timeseries?startDate=2026-05-01&endDate=2026-04-01',
    'timeseries?startDate=1970-01-01',
    'top-campaigns?metric=luck',
    'top-events?limit=0',
  ])('refuses %s with 400', async (query) => {
    const fake = createFakeMessaging({ clock });
    expect((await call(fake, `GET /analytics/${query}`)).status).toBe(400);
  });

  it('top-campaigns are sorted by the metric', async () => {
    const fake = createFakeMessaging({ clock });
    const { emails, campaigns } = fake.seed({ contacts: 1, campaigns: 3, emails: 7 });
    for (const email of emails) {
      Reflect.deleteProperty(email, 'openedAt');
    }
    Object.assign(emails[1] ?? {}, { openedAt: fake.clock.date().toISOString() });
    expect(await ok(fake, 'GET /analytics/top-campaigns?metric=sent&limit=1')).toMatchObject({
      campaigns: [{ id: campaigns[0]?.id, sent: 3 }],
    });
    expect(await ok(fake, 'GET /analytics/top-campaigns')).toMatchObject({
      metric: 'opened',
      campaigns: [{ id: campaigns[1]?.id, opened: 1 }, {}, {}],
    });
  });

  it('campaign-stats break down every campaign, those without mail too', async () => {
    const fake = createFakeMessaging({ clock });
    const [campaign] = fake.seed({ campaigns: 1 }).campaigns;
    expect(await ok(fake, 'GET /analytics/campaign-stats')).toEqual({
      campaigns: [
        {
          id: campaign?.id,
          name: 'Campaign 1',
          status: 'DRAFT',
          sent: 0,
          opened: 0,
          clicked: 0,
          bounced: 0,
        },
      ],
    });
  });

  it('top-events are the most frequent names', async () => {
    const fake = createFakeMessaging({ clock });
    fake.seed({ events: 6 });
    expect(await ok(fake, 'GET /analytics/top-events?limit=2')).toEqual({
      events: [
        { name: 'signup', count: 2 },
        { name: 'login', count: 2 },
      ],
    });
  });
});
