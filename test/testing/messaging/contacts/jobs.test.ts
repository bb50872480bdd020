import { describe, expect, it } from 'vitest';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { parseCsv } from '../../../../src/testing/messaging/contact-import.js';
import { badFields, call, ok } from '../../../support/testing/messaging-call.js';

function csv(text: string, field = 'file'): { form: FormData } {
  const form = new FormData();
  form.set(field, new File([text], 'contacts.csv', { type: 'text/csv' }));
  return { form };
}

async function addContacts(fake: FakeMessaging, count: number): Promise<string[]> {
  for (let number = 1; number <= count; number += 1) {
    await ok(fake, 'POST /contacts', { body: { email: `c${number}@example.com` } });
  }
  return [...fake.project.contacts.keys()];
}

const emails = (fake: FakeMessaging) =>
  [...fake.project.contacts.values()].map(({ email }) => email);

describe('messaging, POST /contacts/import', () => {
  it('is queued and polled until it is completed', async () => {
    const fake = createFakeMessaging();
    const file = csv('email,plan\nann@example.com,pro\nbob@example.com,free\n');
    const { jobId } = await ok(fake, 'POST /contacts/import', file);
    expect(await ok(fake, `GET /contacts/import/${jobId}`)).toMatchObject({
      id: jobId,
      state: 'waiting',
      progress: 0,
    });
    expect(fake.project.contacts.size).toBe(0);
    await fake.advance('1s');
    expect(await ok(fake, `GET /contacts/import/${jobId}`)).toMatchObject({
      state: 'completed',
      progress: 100,
      result: { total: 2, successCount: 2, createdCount: 2, updatedCount: 0, failureCount: 0 },
    });
  });

  it('progresses with the clock', async () => {
    const fake = createFakeMessaging({ jobs: { perSecond: 1 } });
    const { jobId } = await ok(fake, 'POST /contacts/import', csv('email\na@b.co\nc@d.co'));
    await fake.advance('1s');
    const job = await ok(fake, `GET /contacts/import/${jobId}`);
    expect(job).toMatchObject({ state: 'active', progress: 50 });
    expect(emails(fake)).toEqual(['a@b.co']);
  });

  it('upserts contacts; other columns are custom fields', async () => {
    const fake = createFakeMessaging();
    await ok(fake, 'POST /contacts', {
      body: { email: 'ann@example.com', data: { city: 'Rome' } },
    });
    const file = csv('Email,subscribed,seats,zip\nann@example.com,false,3,\nbob@x.co,true,4,007\n');
    const { jobId } = await ok(fake, 'POST /contacts/import', file);
    await fake.advance('1s');
    expect([...fake.project.contacts.values()]).toMatchObject([
      { email: 'ann@example.com', subscribed: false, data: { city: 'Rome', seats: 3 } },
      { email: 'bob@x.co', subscribed: true, data: { seats: 4, zip: '007' } },
    ]);
    const job = await ok(fake, `GET /contacts/import/${jobId}`);
    expect(job.result).toMatchObject({ createdCount: 1, updatedCount: 1 });
  });

  it('counts the rows that it cannot use', async () => {
    const fake = createFakeMessaging();
    const { jobId } = await ok(fake, 'POST /contacts/import', csv('email\nann\nbob@example.com\n'));
    await fake.advance('1s');
    expect(await ok(fake, `GET /contacts/import/${jobId}`)).toMatchObject({
      state: 'completed',
      result: {
        failureCount: 1,
        createdCount: 1,
        errors: [{ row: 2, email: 'ann', error: 'ann is not an email address.' }],
      },
    });
  });

  it.each(['name\nAnn\n', 'email\n"open'])('fails on a file it cannot read: %j', async (text) => {
    const fake = createFakeMessaging();
    const { jobId } = await ok(fake, 'POST /contacts/import', csv(text));
    await fake.advance('1s');
    const job = await ok(fake, `GET /contacts/import/${jobId}`);
    expect(job).toMatchObject({ state: 'failed', failedReason: expect.any(String) as string });
  });

  it('messaging, Limits: the file has at most 5 MB', async () => {
    const fake = createFakeMessaging();
    const most = 'email\n' + 'x'.repeat(5 * 1024 * 1024 - 6);
    expect((await call(fake, 'POST /contacts/import', csv(most))).status).toBe(202);
    const answer = await call(fake, 'POST /contacts/import', csv(most + 'x'));
    expect(badFields(answer)).toEqual(['file']);
  });

  it('takes the file under any field name, and wants one', async () => {
    const fake = createFakeMessaging();
    expect((await call(fake, 'POST /contacts/import', csv('email\n', 'csv'))).status).toBe(202);
    const form = new FormData();
    form.set('note', 'no file');
    expect(badFields(await call(fake, 'POST /contacts/import', { form }))).toEqual(['file']);
  });

  it('a body that is not multipart is a 400', async () => {
    const fake = createFakeMessaging();
    expect((await call(fake, 'POST /contacts/import', { body: {} })).status).toBe(400);
  });
});

describe('messaging, bulk jobs', () => {
  it.each([
    ['bulk-subscribe', true],
    ['bulk-unsubscribe', false],
  ])('%s sets the state of each contact and fires nothing', async (path, subscribed) => {
    const fake = createFakeMessaging();
    const contactIds = await addContacts(fake, 2);
    for (const contact of fake.project.contacts.values()) {
      contact.subscribed = !subscribed;
    }
    const { jobId } = await ok(fake, `POST /contacts/${path}`, { body: { contactIds } });
    await fake.advance('1s');
    const job = await ok(fake, `GET /contacts/bulk/${jobId}`);
    expect(job).toMatchObject({ state: 'completed', result: { successCount: 2 } });
    const states = [...fake.project.contacts.values()].map((contact) => contact.subscribed);
    expect(states).toEqual([subscribed, subscribed]);
    expect(fake.project.events).toEqual([]);
  });

  it('bulk-delete deletes them, and reports ids that do not exist', async () => {
    const fake = createFakeMessaging();
    const [first] = await addContacts(fake, 2);
    const body = { contactIds: [first, 'con_999999'] };
    const { jobId } = await ok(fake, 'POST /contacts/bulk-delete', { body });
    await fake.advance('1s');
    expect(emails(fake)).toEqual(['c2@example.com']);
    const job = await ok(fake, `GET /contacts/bulk/${jobId}`);
    expect(job.result).toMatchObject({
      operation: 'delete',
      totalRequested: 2,
      successCount: 1,
      failureCount: 1,
      errors: [{ contactId: 'con_999999', email: null, error: 'Contact not found' }],
    });
  });

  it.each(['bulk-subscribe', 'bulk-unsubscribe', 'bulk-delete'])(
    'messaging, Limits: %s takes at most 1,000 contact ids',
    async (path) => {
      const fake = createFakeMessaging();
      const contactIds = Array.from({ length: 1001 }, (_, index) => `con_${index}`);
      const most = { contactIds: contactIds.slice(1) };
      expect((await call(fake, `POST /contacts/${path}`, { body: most })).status).toBe(202);
      const answer = await call(fake, `POST /contacts/${path}`, { body: { contactIds } });
      expect(badFields(answer)).toEqual(['contactIds']);
    },
  );

  it('an import and a bulk job are not found at each other’s address', async () => {
    const fake = createFakeMessaging();
    const { jobId } = await ok(fake, 'POST /contacts/bulk-delete', { body: { contactIds: [] } });
    expect((await call(fake, `GET /contacts/bulk/${jobId}`)).status).toBe(200);
    expect((await call(fake, `GET /contacts/import/${jobId}`)).status).toBe(404);
  });

  it('settings: words may differ, and a finished job may be forgotten', async () => {
    const fake = createFakeMessaging({ jobs: { keepMs: 60_000 } });
    const words = { jobStatusField: 'status', jobWords: 'finished', jobProgress: 'none' };
    Object.assign(fake.settings, words);
    const { jobId } = await ok(fake, 'POST /contacts/bulk-delete', { body: { contactIds: [] } });
    await fake.advance('1s');
    const job = await ok(fake, `GET /contacts/bulk/${jobId}`);
    expect([job.status, job.state, job.progress]).toEqual(['finished', undefined, undefined]);
    await fake.advance('1m');
    expect((await call(fake, `GET /contacts/bulk/${jobId}`)).status).toBe(404);
  });
});

describe('parseCsv', () => {
  it.each([
    [
      'a,b\nc,d',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    [
      'a,b\r\nc,d\r\n',
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
    ],
    ['"a,b","c ""d"""', [['a,b', 'c "d"']]],
    ['"line\nbreak",x', [['line\nbreak', 'x']]],
    ['\uFEFFa,b', [['a', 'b']]],
    [
      'a,,\n,b,',
      [
        ['a', '', ''],
        ['', 'b', ''],
      ],
    ],
    ['a\n\nb', [['a'], ['b']]],
    ['', []],
  ])('reads %j', (text, rows) => {
    expect(parseCsv(text)).toEqual(rows);
  });

  it('refuses a quote that is not closed', () => {
    expect(() => parseCsv('a\n"b')).toThrow(SyntaxError);
  });
});
