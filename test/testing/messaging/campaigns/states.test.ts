import { describe, expect, it } from 'vitest';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { badFields, call, ok } from '../../../support/testing/messaging-call.js';

const start = new Date('2026-03-01T12:00:00.000Z');
const later = '2026-03-01T13:00:00.000Z';

/** A fake with some contacts and a draft for all of them. */
function withDraft(contacts = 3): { fake: FakeMessaging; id: string } {
  const fake = createFakeMessaging({ clock: { start } });
  const { campaigns } = fake.seed({ contacts, campaigns: 1 });
  return { fake, id: campaigns[0]?.id ?? '' };
}

const statusOf = async (fake: FakeMessaging, id: string) =>
  (await ok(fake, `GET /campaigns/${id}`)).status;

describe('messaging, States: campaign', () => {
  it.each([
    ['omitted', {}],
    ['null', { scheduledFor: null }],
  ])('send with scheduledFor %s sends immediately', async (_title, body) => {
    const { fake, id } = withDraft();
    expect(await ok(fake, `POST /campaigns/${id}/send`, { body })).toMatchObject({
      status: 'SENDING',
    });
    expect(fake.outbox).toHaveLength(3);
    await fake.advance('1s');
    expect(await statusOf(fake, id)).toBe('SENT');
  });

  it('send with scheduledFor waits for that time', async () => {
    const { fake, id } = withDraft();
    const body = { scheduledFor: later };
    const scheduled = await ok(fake, `POST /campaigns/${id}/send`, { body });
    expect(scheduled).toMatchObject({ status: 'SCHEDULED', scheduledAt: later });
    await fake.advance('59m');
    expect(fake.outbox).toHaveLength(0);
    await fake.advance('1m');
    expect(fake.outbox).toMatchObject([{ sentAt: later }, {}, {}]);
    await fake.advance('1s');
    expect(await statusOf(fake, id)).toBe('SENT');
  });

  it('send refuses what is no date-time', async () => {
    const { fake, id } = withDraft();
    for (const scheduledFor of ['tomorrow', '2026-03-01', 5]) {
      const answer = await call(fake, `POST /campaigns/${id}/send`, { body: { scheduledFor } });
      expect(badFields(answer)).toEqual(['scheduledFor']);
    }
    expect(await statusOf(fake, id)).toBe('DRAFT');
  });

  it('a scheduled campaign can be moved to another time, and goes out once', async () => {
    const { fake, id } = withDraft();
    await ok(fake, `POST /campaigns/${id}/send`, { body: { scheduledFor: later } });
    const scheduledFor = '2026-03-01T15:00:00.000Z';
    await ok(fake, `POST /campaigns/${id}/send`, { body: { scheduledFor } });
    await fake.advance('2h');
    expect(fake.outbox).toHaveLength(0);
    await fake.advance('2h');
    expect(fake.outbox).toHaveLength(3);
  });

  it('cancel stops a SCHEDULED campaign, also when asked twice', async () => {
    const { fake, id } = withDraft();
    await ok(fake, `POST /campaigns/${id}/send`, { body: { scheduledFor: later } });
    await ok(fake, `POST /campaigns/${id}/cancel`);
    expect((await ok(fake, `POST /campaigns/${id}/cancel`)).status).toBe('CANCELLED');
    await fake.advance('2h');
    expect(fake.outbox).toHaveLength(0);
  });

  it('cancel stops a SENDING campaign in the middle', async () => {
    const { fake, id } = withDraft(2500);
    await ok(fake, `POST /campaigns/${id}/send`);
    expect(fake.outbox.length).toBeLessThanOrEqual(1000);
    await ok(fake, `POST /campaigns/${id}/cancel`);
    const sent = fake.outbox.length;
    await fake.advance('1m');
    expect(fake.outbox).toHaveLength(sent);
    expect(await statusOf(fake, id)).toBe('CANCELLED');
  });

  it('a large audience is mailed in batches, a second apart', async () => {
    const { fake, id } = withDraft(2500);
    await ok(fake, `POST /campaigns/${id}/send`);
    await fake.advance('2s');
    expect(fake.outbox).toHaveLength(2250);
    expect(await statusOf(fake, id)).toBe('SENDING');
    await fake.advance('1s');
    expect(await statusOf(fake, id)).toBe('SENT');
  });

  it.each(['send', 'cancel'])('%s refuses a campaign that is SENT', async (verb) => {
    const { fake, id } = withDraft();
    await ok(fake, `POST /campaigns/${id}/send`);
    await fake.advance('1s');
    expect((await call(fake, `POST /campaigns/${id}/${verb}`)).status).toBe(400);
  });

  it('cancel refuses a DRAFT', async () => {
    const { fake, id } = withDraft();
    expect((await call(fake, `POST /campaigns/${id}/cancel`)).status).toBe(400);
  });

  it('DELETE answers 409 while the campaign is scheduled or sending, and works otherwise', async () => {
    const { fake, id } = withDraft();
    await ok(fake, `POST /campaigns/${id}/send`, { body: { scheduledFor: later } });
    expect((await call(fake, `DELETE /campaigns/${id}`)).status).toBe(409);
    await fake.advance('1h');
    expect(await statusOf(fake, id)).toBe('SENDING');
    expect((await call(fake, `DELETE /campaigns/${id}`)).status).toBe(409);
    await fake.advance('1s');
    await ok(fake, `DELETE /campaigns/${id}`);
    expect((await call(fake, `GET /campaigns/${id}`)).status).toBe(404);
  });
});
