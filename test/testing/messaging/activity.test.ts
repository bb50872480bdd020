import { describe, expect, it } from 'vitest';
import { createFakeMessaging } from 'postreel/testing';
import { call, ok } from '../../support/testing/messaging-call.js';

/** An event, and a mail that was opened and clicked an hour later. */
async function busy() {
  const fake = createFakeMessaging({ clock: { start: new Date('2026-03-01T00:00:00.000Z') } });
  await ok(fake, 'POST /v1/track', { body: { email: 'ann@example.com', event: 'signup' } });
  const mail = { from: 'me@example.com', subject: 'Hi', body: 'Hi' };
  await ok(fake, 'POST /v1/send', { body: { ...mail, to: 'ann@example.com' } });
  await fake.advance('1h');
  const at = fake.clock.date().toISOString();
  Object.assign(fake.project.outbox[0] ?? {}, { openedAt: at, clickedAt: at });
  return fake;
}

describe('messaging, Activity', () => {
  it('GET is the feed of all resources, newest first', async () => {
    const fake = await busy();
    const { data, total } = await ok(fake, 'GET /activity');
    expect(data.slice(-2)).toMatchObject([{ type: 'email.sent' }, { type: 'event.tracked' }]);
    expect(data.slice(0, 2)).toMatchObject([{ type: 'email.clicked' }, { type: 'email.opened' }]);
    expect(total).toBe(4);
  });

  it('GET pages by cursor', async () => {
    const fake = await busy();
    const first = await ok(fake, 'GET /activity?limit=3');
    const rest = await ok(fake, `GET /activity?limit=3&cursor=${first.cursor}`);
    expect([first.hasMore, rest.hasMore]).toEqual([true, false]);
    expect(rest.data).toMatchObject([{ type: 'event.tracked' }]);
  });

  it('GET filters by type', async () => {
    expect(await ok(await busy(), 'GET /activity?type=email.opened')).toMatchObject({ total: 1 });
  });

  it('stats are counts by type', async () => {
    expect(await ok(await busy(), 'GET /activity/stats')).toEqual({
      total: 4,
      types: { 'event.tracked': 1, 'email.sent': 1, 'email.opened': 1, 'email.clicked': 1 },
    });
  });

  it('recent-count counts the last day', async () => {
    const fake = await busy();
    expect(await ok(fake, 'GET /activity/recent-count')).toEqual({ count: 4 });
    await fake.advance('23h');
    await fake.advance('1s');
    expect(await ok(fake, 'GET /activity/recent-count')).toEqual({ count: 2 });
  });

  it('types are the distinct ones', async () => {
    const types = ['email.clicked', 'email.opened', 'email.sent', 'event.tracked'];
    expect(await ok(await busy(), 'GET /activity/types')).toEqual({ types });
  });

  it('upcoming has scheduled campaigns and active executions', async () => {
    const fake = await busy();
    const { campaigns } = fake.seed({ campaigns: 3 });
    const later = '2026-05-02T00:00:00.000Z';
    const sooner = '2026-05-01T00:00:00.000Z';
    const [one, two] = campaigns.map(({ id }) => id);
    await ok(fake, `POST /campaigns/${one ?? ''}/send`, { body: { scheduledFor: later } });
    await ok(fake, `POST /campaigns/${two ?? ''}/send`, { body: { scheduledFor: sooner } });
    const { id } = await ok(fake, 'POST /workflows', { body: { name: 'Slow' } });
    const step = { type: 'DELAY', config: { duration: '1d' } };
    await ok(fake, `POST /workflows/${id}/steps`, { body: step });
    const [contactId] = fake.project.contacts.keys();
    await ok(fake, `POST /workflows/${id}/executions`, { body: { contactId } });
    expect(await ok(fake, 'GET /activity/upcoming')).toMatchObject({
      scheduledCampaigns: [
        { id: two, scheduledAt: sooner },
        { id: one, scheduledAt: later },
      ],
      activeExecutions: [{ workflowId: id, contactId, status: 'WAITING' }],
    });
  });

  it('a cursor that is not of this service is refused with 400', async () => {
    expect((await call(await busy(), 'GET /activity?cursor=nonsense')).status).toBe(400);
  });
});
