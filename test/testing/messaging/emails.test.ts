import { describe, expect, it } from 'vitest';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { badFields, call, ok, someText } from '../../support/testing/messaging-call.js';

const mail = {
  to: 'ann@example.com',
  from: 'shop@example.com',
  subject: 'Hi',
  body: '<p>Hi</p>',
};

const send = (fake: FakeMessaging, change: object = {}) =>
  call(fake, 'POST /v1/send', { body: { ...mail, ...change } });

const template = { name: 'Welcome', subject: 'Hello {{name}}', body: 'B', type: 'TRANSACTIONAL' };

describe('messaging, POST /v1/send', () => {
  it('answers contact and email ids and a timestamp', async () => {
    const fake = createFakeMessaging();
    const { status, body } = await send(fake);
    const [email] = fake.outbox;
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      data: {
        emails: [{ contact: { id: email?.contactId, email: 'ann@example.com' }, email: email?.id }],
        timestamp: fake.clock.date().toISOString(),
      },
    });
  });

  it('to: an object with name and email', async () => {
    const fake = createFakeMessaging();
    await send(fake, { to: { name: 'Ann', email: 'ann@example.com' } });
    expect(fake.outbox[0]).toMatchObject({ to: 'ann@example.com', toName: 'Ann' });
  });

  it('to: each recipient of an array has its own upsert and rendering, in order', async () => {
    const fake = createFakeMessaging();
    await ok(fake, 'POST /contacts', { body: { email: 'bob@example.com', data: { name: 'Bob' } } });
    const { body } = await send(fake, {
      to: ['ann@example.com', { email: 'bob@example.com' }],
      subject: 'Hi {{name ?? "you"}}',
    });
    expect(fake.outbox.map(({ subject }) => subject)).toEqual(['Hi you', 'Hi Bob']);
    expect(body.data.emails).toHaveLength(2);
    expect(fake.project.contacts.size).toBe(2);
  });

  it.each([
    ['to', { to: undefined }],
    ['to', { to: 'ann' }],
    ['to', { to: [] }],
    ['to.1', { to: ['ann@example.com', 'bob'] }],
    ['to', { to: { name: 'Ann' } }],
    ['subject', { subject: undefined }],
    ['subject', { subject: '' }],
    ['subject', { subject: 'x'.repeat(999) }],
    ['subject', { subject: 'Hi\nBcc: x@example.com' }],
    ['body', { body: undefined }],
    ['body', { body: '' }],
    ['from', { from: undefined }],
    ['from', { from: 'shop' }],
    ['from', { from: { name: 'Shop' } }],
    ['from', { from: 'shop@unverified.test' }],
    ['name', { name: 7 }],
    ['subscribed', { subscribed: 'yes' }],
    ['data', { data: 'x' }],
    ['headers', { headers: [] }],
    ['headers.X-A', { headers: { 'X-A': 'a\r\nBcc: x@example.com' } }],
    ['headers.X A', { headers: { 'X\nA': 'a' } }],
    ['headers.X-A', { headers: { 'X-A': 'x'.repeat(999) } }],
    ['reply', { reply: 'support' }],
    ['attachments', { attachments: {} }],
    ['attachments', { attachments: Array.from({ length: 11 }, () => ({})) }],
  ])('refuses a bad %s with 422: %j', async (field, change) => {
    const fake = createFakeMessaging();
    expect(badFields(await send(fake, change))).toEqual([field]);
    expect(fake.outbox).toEqual([]);
    expect(fake.project.contacts.size).toBe(0);
  });

  it('takes a subject of 998 characters, a header value of 998, and 10 attachments', async () => {
    const longest = '😀'.repeat(998); // characters, not halves of them
    const attachments = Array.from({ length: 10 }, () => ({ filename: 'a.txt', content: 'YQ==' }));
    const change = { subject: longest, headers: { 'X-A': longest }, attachments };
    const fake = createFakeMessaging();
    expect((await send(fake, change)).status).toBe(200);
    expect(fake.outbox[0]).toMatchObject(change);
  });

  it('messaging, Limits: attachments have 10 MB in total by default', async () => {
    const attachments = [{ content: 'x'.repeat(7e6) }, { content: 'x'.repeat(7e6) }];
    const fake = createFakeMessaging();
    expect(badFields(await send(fake, { attachments }))).toEqual(['attachments']);
    fake.settings.maxAttachmentBytes = 20e6;
    expect((await send(fake, { attachments })).status).toBe(200);
  });

  it('messaging, Limits: the whole message has at most 40 MB', async () => {
    const fake = createFakeMessaging();
    expect(badFields(await send(fake, { body: 'x'.repeat(42e6) }))).toEqual(['body']);
  });

  it('subscribed: new contacts default to false', async () => {
    const fake = createFakeMessaging();
    await send(fake);
    expect([...fake.project.contacts.values()][0]?.subscribed).toBe(false);
  });

  it('subscribed: existing contacts keep their state when it is left out', async () => {
    const fake = createFakeMessaging();
    await ok(fake, 'POST /contacts', { body: { email: 'ann@example.com' } });
    await send(fake);
    expect([...fake.project.contacts.values()][0]?.subscribed).toBe(true);
  });

  it.each([
    [true, 'contact.subscribed'],
    [false, 'contact.unsubscribed'],
  ])('subscribed: a flip to %s fires %s', async (subscribed, event) => {
    const fake = createFakeMessaging();
    const body = { email: 'ann@example.com', subscribed: !subscribed };
    const { id } = await ok(fake, 'POST /contacts', { body });
    await send(fake, { subscribed });
    await send(fake, { subscribed });
    expect(fake.project.events).toMatchObject([{ contactId: id, name: event }]);
    expect(fake.project.contacts.get(id)?.subscribed).toBe(subscribed);
  });

  it('data: updates the contact and fills the variables', async () => {
    const fake = createFakeMessaging();
    await send(fake, { body: '{{plan}}', data: { plan: 'pro' } });
    expect(fake.outbox[0]?.body).toBe('pro');
    expect([...fake.project.contacts.values()][0]?.data).toEqual({ plan: 'pro' });
  });

  it('leaves blocks and filters of other template languages unchanged', async () => {
    const fake = createFakeMessaging();
    const body = '{{#if plan}}{{plan | upper}}{{/if}}{{> footer}}{{! a comment }}';
    await send(fake, { body, data: { plan: 'pro' } });
    expect(fake.outbox[0]?.body).toBe(body);
  });

  it('from: an object gives the sender a name', async () => {
    const fake = createFakeMessaging();
    await send(fake, { from: { name: 'Shop', email: 'shop@example.com' }, name: 'Old' });
    expect(fake.outbox[0]).toMatchObject({ from: 'shop@example.com', fromName: 'Shop' });
  });

  it('name: deprecated, a fallback when from is a string', async () => {
    const fake = createFakeMessaging();
    await send(fake, { name: 'Shop' });
    await send(fake, { name: 'Shop', from: { email: 'shop@example.com' } });
    expect(fake.outbox.map(({ fromName }) => fromName)).toEqual(['Shop', undefined]);
  });

  it('reply: becomes the reply-to address', async () => {
    const fake = createFakeMessaging();
    await send(fake, { reply: 'help@example.com' });
    expect(fake.outbox[0]?.replyTo).toBe('help@example.com');
  });
});

describe('messaging, POST /v1/send with a template', () => {
  const sender = { from: 'hello@example.com', replyTo: 'help@example.com' };

  async function withTemplate(more: object = {}) {
    const fake = createFakeMessaging();
    const { id } = await ok(fake, 'POST /templates', { body: { ...template, ...more } });
    const byTemplate = (change: object = {}) =>
      call(fake, 'POST /v1/send', { body: { to: mail.to, template: id, ...change } });
    return { fake, id, byTemplate };
  }

  it('supplies subject, body, from and reply-to; variables come from data', async () => {
    const { fake, id, byTemplate } = await withTemplate(sender);
    expect((await byTemplate({ data: { name: 'Ann' } })).status).toBe(200);
    expect(fake.outbox[0]).toMatchObject({
      ...sender,
      subject: 'Hello Ann',
      body: 'B',
      sourceId: id,
    });
  });

  it('explicit request fields override it', async () => {
    const { fake, byTemplate } = await withTemplate(sender);
    const own = { subject: 'S', body: 'C', from: 'shop@example.com', reply: 'me@example.com' };
    await byTemplate(own);
    const { reply, ...rest } = own;
    expect(fake.outbox[0]).toMatchObject({ ...rest, replyTo: reply });
  });

  it('from is required when the template has none', async () => {
    const { byTemplate } = await withTemplate();
    expect(badFields(await byTemplate())).toEqual(['from']);
    expect((await byTemplate({ from: 'shop@example.com' })).status).toBe(200);
  });

  it('an explicit subject keeps its rules', async () => {
    const { byTemplate } = await withTemplate(sender);
    expect(badFields(await byTemplate({ subject: 'a\nb' }))).toEqual(['subject']);
  });

  it('an unknown template is a 404', async () => {
    expect((await send(createFakeMessaging(), { template: 'tpl_999999' })).status).toBe(404);
  });
});

describe('messaging, POST /v1/verify', () => {
  const sound = {
    valid: true,
    isDisposable: false,
    isAlias: false,
    isTypo: false,
    isPlusAddressed: false,
    isPersonalEmail: false,
    domainExists: true,
    hasWebsite: true,
    hasMxRecords: true,
    reasons: [],
  };
  const reasons = [someText];

  it.each([
    ['ann@example.com', {}],
    ['ann@mailinator.com', { valid: false, isDisposable: true, reasons }],
    ['ann@duck.com', { isAlias: true }],
    ['ann@gmial.com', { valid: false, isTypo: true, reasons }],
    ['ann+news@example.com', { isPlusAddressed: true }],
    ['ann@gmail.com', { isPersonalEmail: true }],
    ['ann@no-website.example', { hasWebsite: false }],
    ['ann@no-mx.example', { valid: false, hasMxRecords: false, reasons }],
    [
      'ann@nowhere.invalid',
      { valid: false, domainExists: false, hasWebsite: false, hasMxRecords: false, reasons },
    ],
  ])('judges %s', async (email, difference) => {
    const { data } = await ok(createFakeMessaging(), 'POST /v1/verify', { body: { email } });
    expect(data).toEqual({ email, ...sound, ...difference });
  });

  it('refuses what is no email address with 422', async () => {
    const answer = await call(createFakeMessaging(), 'POST /v1/verify', { body: { email: 'ann' } });
    expect(badFields(answer)).toEqual(['email']);
  });

  it('touches no contact', async () => {
    const fake = createFakeMessaging();
    await ok(fake, 'POST /v1/verify', { body: { email: 'ann@example.com' } });
    expect(fake.project.contacts.size).toBe(0);
  });
});
