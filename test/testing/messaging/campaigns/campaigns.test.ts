import { describe, expect, it } from 'vitest';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { badFields, call, ok, someText } from '../../../support/testing/messaging-call.js';

const campaign = {
  name: 'May',
  subject: 'News for {{name}}',
  body: '<p>Hi {{name}}</p>',
  from: 'me@example.com',
  audienceType: 'ALL',
};

async function create(fake: FakeMessaging, change: object = {}): Promise<string> {
  const { data } = await ok(fake, 'POST /campaigns', { body: { ...campaign, ...change } });
  return data.id;
}

const statusOf = async (fake: FakeMessaging, id: string) =>
  (await ok(fake, `GET /campaigns/${id}`)).status;

describe('messaging, Campaigns', () => {
  it('POST creates in DRAFT and answers in the envelope, type being the audience type', async () => {
    const answer = await ok(createFakeMessaging(), 'POST /campaigns', { body: campaign });
    const { name, subject } = campaign;
    const data = { id: someText, name, subject, type: 'ALL', status: 'DRAFT', scheduledAt: null };
    expect(answer).toEqual({ success: true, data });
  });

  it.each([
    ['name', { name: undefined }],
    ['subject', { subject: undefined }],
    ['subject', { subject: 'a\r\nb' }],
    ['subject', { subject: 'x'.repeat(999) }],
    ['body', { body: undefined }],
    ['from', { from: undefined }],
    ['from', { from: 'me@else.test' }],
    ['replyTo', { replyTo: 'nobody' }],
    ['audienceType', { audienceType: undefined }],
    ['audienceType', { audienceType: 'NOBODY' }],
    ['segmentId', { audienceType: 'SEGMENT' }],
    ['segmentId', { audienceType: 'SEGMENT', segmentId: 'seg_000099' }],
    ['audienceFilter', { audienceType: 'FILTERED' }],
  ])('POST refuses a bad %s: %j', async (field, change) => {
    const body = { ...campaign, ...change };
    expect(badFields(await call(createFakeMessaging(), 'POST /campaigns', { body }))).toEqual([
      field,
    ]);
  });

  it('GET lists and gets', async () => {
    const fake = createFakeMessaging();
    const id = await create(fake, { description: 'For May' });
    const one = await ok(fake, `GET /campaigns/${id}`);
    expect(one).toMatchObject({ ...campaign, id, description: 'For May', status: 'DRAFT' });
    expect(await ok(fake, 'GET /campaigns')).toMatchObject({ data: [one], total: 1 });
  });

  it('PUT replaces: what is left out is gone, what is required is required', async () => {
    const fake = createFakeMessaging();
    const id = await create(fake, { description: 'For May' });
    const body = { ...campaign, name: 'June' };
    const replaced = await ok(fake, `PUT /campaigns/${id}`, { body });
    expect(replaced).toMatchObject({ id, name: 'June', status: 'DRAFT' });
    expect(replaced).not.toHaveProperty('description');
    const partial = await call(fake, `PUT /campaigns/${id}`, { body: { name: 'July' } });
    expect(badFields(partial)).toContain('subject');
  });

  it('duplicate makes a new campaign in DRAFT and leaves the original alone', async () => {
    const fake = createFakeMessaging();
    const id = await create(fake);
    await ok(fake, `POST /campaigns/${id}/send`);
    await fake.advance('1s');
    const copy = await ok(fake, `POST /campaigns/${id}/duplicate`);
    expect(copy).toMatchObject({ subject: campaign.subject, status: 'DRAFT', scheduledAt: null });
    expect(await statusOf(fake, id)).toBe('SENT');
  });

  it('test sends to that address, which counts in no statistics', async () => {
    const fake = createFakeMessaging();
    const id = await create(fake);
    const body = { email: 'boss@example.com' };
    expect(await ok(fake, `POST /campaigns/${id}/test`, { body })).toEqual({
      success: true,
      message: 'The test was sent to boss@example.com.',
    });
    expect(fake.outbox).toMatchObject([{ to: 'boss@example.com', source: 'test' }]);
    expect(fake.project.contacts.size).toBe(0);
    expect(await ok(fake, `GET /campaigns/${id}/stats`)).toMatchObject({ sent: 0 });
    const bad = await call(fake, `POST /campaigns/${id}/test`, { body: { email: 'boss' } });
    expect(badFields(bad)).toEqual(['email']);
  });

  it('stats give send, open, click and bounce counts', async () => {
    const fake = createFakeMessaging();
    const id = await create(fake);
    fake.seed({ contacts: 5 });
    await ok(fake, `POST /campaigns/${id}/send`);
    const at = fake.clock.date().toISOString();
    Object.assign(fake.project.outbox[0] ?? {}, { openedAt: at, clickedAt: at });
    Object.assign(fake.project.outbox[1] ?? {}, { bouncedAt: at });
    const stats = await ok(fake, `GET /campaigns/${id}/stats`);
    expect(stats).toEqual({ sent: 5, opened: 1, clicked: 1, bounced: 1 });
  });
});

describe('messaging, Campaign: audience', () => {
  it('ALL mails every subscribed contact, rendered for each', async () => {
    const fake = createFakeMessaging();
    fake.seed({ contacts: 10 });
    await ok(fake, `POST /campaigns/${await create(fake)}/send`);
    expect(fake.outbox).toHaveLength(9);
    expect(fake.outbox[0]).toMatchObject({ subject: 'News for Ada', source: 'campaign' });
  });

  it('leaves out who unsubscribes while it is being sent', async () => {
    const fake = createFakeMessaging();
    fake.seed({ contacts: 1_300 });
    const subscribed = [...fake.project.contacts.values()].filter((one) => one.subscribed);
    const last = subscribed.at(-1);
    await ok(fake, `POST /campaigns/${await create(fake)}/send`);
    await ok(fake, `PATCH /contacts/${last?.id ?? ''}`, { body: { subscribed: false } });
    await fake.advance('10s');
    expect(fake.outbox).toHaveLength(subscribed.length - 1);
    expect(fake.outbox.map(({ to }) => to)).not.toContain(last?.email);
  });

  it('SEGMENT mails the members of the segment', async () => {
    const fake = createFakeMessaging();
    fake.seed({ contacts: 9 });
    const body = { name: 'Some', type: 'STATIC' };
    const { id: segmentId } = await ok(fake, 'POST /segments', { body });
    const emails = ['contact-2@example.com'];
    await ok(fake, `POST /segments/${segmentId}/members`, { body: { emails } });
    const id = await create(fake, { audienceType: 'SEGMENT', segmentId });
    await ok(fake, `POST /campaigns/${id}/send`);
    expect(fake.outbox.map(({ to }) => to)).toEqual(emails);
  });

  it('FILTERED mails those who meet the filter', async () => {
    const fake = createFakeMessaging();
    fake.seed({ contacts: 9 });
    const audienceFilter = { field: 'data.plan', operator: 'equals', value: 'pro' };
    const id = await create(fake, { audienceType: 'FILTERED', audienceFilter });
    await ok(fake, `POST /campaigns/${id}/send`);
    expect(fake.outbox.map(({ to }) => to)).toEqual(
      [3, 6, 9].map((number) => `contact-${number}@example.com`),
    );
  });
});
