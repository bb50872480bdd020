import { describe, expect, it } from 'vitest';
import { createFakeMessaging } from 'postreel/testing';
import { badFields, call, ok, someText } from '../../support/testing/messaging-call.js';

const template = { name: 'Welcome', subject: 'Hi', body: '<p>Hi</p>', type: 'TRANSACTIONAL' };

describe('messaging, Templates', () => {
  it('POST answers the template object', async () => {
    const fake = createFakeMessaging();
    const created = await ok(fake, 'POST /templates', { body: template });
    expect(created).toMatchObject({
      ...template,
      id: someText,
      createdAt: fake.clock.date().toISOString(),
    });
    expect(await ok(fake, `GET /templates/${created.id}`)).toEqual(created);
  });

  it.each(['name', 'subject', 'body', 'type'])('POST requires %s', async (field) => {
    const body = { ...template, [field]: undefined };
    const answer = await call(createFakeMessaging(), 'POST /templates', { body });
    expect(badFields(answer)).toEqual([field]);
  });

  it.each([
    ['a type that is not shown', { type: 'OTHER' }, 'type'],
    ['a subject of 999 characters', { subject: 'x'.repeat(999) }, 'subject'],
    ['a subject with a newline', { subject: 'a\nb' }, 'subject'],
    ['a sender whose domain is not verified', { from: 'me@else.test' }, 'from'],
  ])('POST refuses %s', async (_title, change, field) => {
    const body = { ...template, ...change };
    expect(badFields(await call(createFakeMessaging(), 'POST /templates', { body }))).toEqual([
      field,
    ]);
  });

  it('carries a sender and reply-to that /v1/send uses', async () => {
    const fake = createFakeMessaging();
    const sender = { from: 'me@example.com', replyTo: 'help@example.com' };
    const { id } = await ok(fake, 'POST /templates', { body: { ...template, ...sender } });
    await ok(fake, 'POST /v1/send', { body: { to: 'ann@example.com', template: id } });
    expect(fake.outbox).toMatchObject([{ ...sender, subject: 'Hi' }]);
  });

  it('GET lists with page-style totals', async () => {
    const fake = createFakeMessaging();
    fake.seed({ templates: 45 });
    const answer = await ok(fake, 'GET /templates?page=3');
    expect(answer).toMatchObject({ total: 45, page: 3, pageSize: 20, totalPages: 3 });
    expect(answer).toHaveProperty('templates.length', 5);
  });

  it('GET filters by type and search', async () => {
    const fake = createFakeMessaging();
    fake.seed({ templates: 12 });
    expect(await ok(fake, 'GET /templates?type=MARKETING')).toMatchObject({ total: 6 });
    expect(await ok(fake, 'GET /templates?search=TEMPLATE%201')).toMatchObject({ total: 4 });
  });

  it.each(['limit=0', 'limit=101', 'type=OTHER'])('GET refuses ?%s with 400', async (query) => {
    const answer = await call(createFakeMessaging(), `GET /templates?${query}`);
    expect(answer.status).toBe(400);
  });

  it('PATCH refuses an empty subject', async () => {
    const fake = createFakeMessaging();
    const { id } = await ok(fake, 'POST /templates', { body: template });
    const { status } = await call(fake, `PATCH /templates/${id}`, { body: { subject: '' } });
    expect(status).toBe(422);
  });

  it('PATCH changes what is sent', async () => {
    const fake = createFakeMessaging();
    const { id } = await ok(fake, 'POST /templates', { body: template });
    await fake.advance('1h');
    const changed = await ok(fake, `PATCH /templates/${id}`, { body: { subject: 'Hello' } });
    expect(changed).toMatchObject({
      ...template,
      subject: 'Hello',
      updatedAt: fake.clock.date().toISOString(),
    });
  });

  it('DELETE removes it', async () => {
    const fake = createFakeMessaging();
    const { id } = await ok(fake, 'POST /templates', { body: template });
    await ok(fake, `DELETE /templates/${id}`);
    expect((await call(fake, `GET /templates/${id}`)).status).toBe(404);
  });

  it('duplicate returns the id of a new template', async () => {
    const fake = createFakeMessaging();
    const { id } = await ok(fake, 'POST /templates', { body: template });
    const copy = await ok(fake, `POST /templates/${id}/duplicate`);
    expect(copy.id).not.toBe(id);
    expect(await ok(fake, `GET /templates/${copy.id}`)).toMatchObject({ subject: 'Hi' });
  });

  it('usage lists the campaigns and workflow steps that reference it', async () => {
    const fake = createFakeMessaging();
    const { id } = await ok(fake, 'POST /templates', { body: template });
    const [workflow] = fake.seed({ workflows: 2 }).workflows;
    const step = { type: 'SEND_EMAIL', config: { templateId: id } };
    await ok(fake, `POST /workflows/${workflow?.id ?? ''}/steps`, { body: step });
    const [campaign] = fake.seed({ campaigns: 2 }).campaigns;
    if (campaign) {
      campaign.templateId = id;
    }
    expect(await ok(fake, `GET /templates/${id}/usage`)).toMatchObject({
      campaigns: [{ id: campaign?.id }],
      workflowSteps: [{ workflowId: workflow?.id }],
    });
  });
});
