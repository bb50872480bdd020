import {
  memoryJournal,
  MessagingClient,
  transient,
  type EachRecipient,
  type EachResult,
  type MessagingOptions,
  type PartialError,
} from 'postreel';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { beforeEach, describe, expect, it } from 'vitest';

const mail = { from: 'shop@example.com', subject: 'News', body: '<p>{{plan ?? "free"}}</p>' };
const once = 'news-1';

let fake: FakeMessaging;
let warnings: string[];
beforeEach(() => {
  fake = createFakeMessaging();
  warnings = [];
});

function clientOf(options: MessagingOptions = {}) {
  const client = new MessagingClient({ ...fake.options, rateLimit: false, ...options });
  client.on('warning', ({ message }) => warnings.push(message));
  return client;
}
const mailed = () => fake.outbox.map(({ to }) => to);
const bodies = () => fake.outbox.map(({ body }) => body);
const sends = () =>
  fake.requests.filter(({ path }) => path === '/v1/send').map(({ body }) => body as object);
const stateOf = (email: string) =>
  [...fake.project.contacts.values()].find((contact) => contact.email === email);

describe('contacts that were read, as rows of sendEach()', () => {
  it('keeps people unsubscribed who unsubscribed after the list was read, and keeps newer fields', async () => {
    const messaging = clientOf();
    await messaging.contacts.create({
      email: 'ann@example.com',
      data: { plan: 'pro', city: null },
    });
    await messaging.contacts.create({ email: 'bea@example.com', subscribed: false });
    const rows = await messaging.contacts.list().toArray();
    const ann = rows.find(({ email }) => email === 'ann@example.com');
    await messaging.contacts.update(ann!.id, { subscribed: false, data: { plan: 'team' } });
    const results: EachResult[] = [];
    const report = await messaging.sendEach(rows, mail, { onResult: (one) => results.push(one) });
    const index = rows.findIndex(({ email }) => email === 'bea@example.com');
    expect(report).toMatchObject({ done: 1, failed: [], skipped: [{ row: rows[index], index }] });
    expect(mailed()).toEqual(['ann@example.com']);
    expect(bodies()).toEqual(['<p>pro</p>']);
    expect(stateOf('ann@example.com')).toMatchObject({ subscribed: false, data: { plan: 'team' } });
    expect(results).toContainEqual({ email: 'bea@example.com', status: 'skipped' });
    expect(warnings).toEqual([
      expect.stringContaining('did not mail 1 of the rows: they have `subscribed: false`'),
    ]);
  });

  it('does not change members of a segment', async () => {
    const messaging = clientOf();
    await messaging.contacts.create({ email: 'ann@example.com', subscribed: false });
    const { id } = await messaging.segments.create({ type: 'STATIC', name: 'Readers' });
    await messaging.segments.members.add(id, { emails: ['ann@example.com'] });
    const members = messaging.segments.members.list(id);
    expect(await messaging.sendEach(members, mail)).toMatchObject({ done: 0, skipped: [{}] });
    expect(fake.outbox).toEqual([]);
  });

  it('mails unsubscribed people with `includeUnsubscribed`, and keeps them unsubscribed', async () => {
    const messaging = clientOf();
    await messaging.contacts.create({ email: 'ann@example.com', subscribed: false });
    const rows = await messaging.contacts.list().toArray();
    const report = await messaging.sendEach(rows, mail, { includeUnsubscribed: true });
    expect(report).toMatchObject({ done: 1, skipped: [] });
    expect(sends()).toEqual([{ ...mail, to: 'ann@example.com' }]);
    expect(stateOf('ann@example.com')).toMatchObject({ subscribed: false });
    expect(warnings).toEqual([]);
  });

  const record = { id: 'u_1', email: 'ann@example.com', createdAt: new Date(), subscribed: true };

  it('sends the data of a record as transient values, without those that are null', async () => {
    const data = { plan: 'pro', city: null, tags: ['a'], note: '', at: new Date(0) };
    await clientOf().sendEach([{ ...record, data }], { ...mail, data: { shop: 'Rome' } });
    const [body] = sends();
    expect(body).toMatchObject({
      data: {
        shop: 'Rome',
        plan: { value: 'pro', persistent: false },
        tags: { value: ['a'], persistent: false },
        note: { value: '', persistent: false },
        at: { value: '1970-01-01T00:00:00.000Z', persistent: false },
      },
    });
    expect(body).not.toHaveProperty('data.city');
    expect(stateOf('ann@example.com')?.data).toEqual({ shop: 'Rome' });
    expect(warnings).toEqual([]);
  });

  it('fails a record whose data differs from the common data, and names the field', async () => {
    const common = { ...mail, data: { plan: 'team', seats: 2, city: transient('Rome') } };
    const rows = [
      { ...record, data: { plan: 'pro', seats: 2, city: 'Rome' } },
      { ...record, email: 'bea@example.com', data: { plan: null, seats: 2, city: 'Rome' } },
    ];
    const { done, failed } = await clientOf().sendEach(rows as EachRecipient[], common);
    expect(done).toBe(1);
    expect(failed).toMatchObject([
      { index: 0, error: { outcome: 'not-sent', fieldErrors: [{ field: 'data.plan' }] } },
    ]);
    expect(sends()).toMatchObject([{ to: 'bea@example.com', data: { plan: 'team', seats: 2 } }]);
  });

  it('ignores fields that an email does not have only in a record with data', async () => {
    const rows = [
      { ...record, data: null, lastSeen: 'today', _meta: {} },
      { ...record, email: 'bea@example.com', lastSeen: 'today' },
      { ...record, email: 'cid@example.com', data: {}, createdAt: null, lastSeen: 'today' },
      { ...record, email: 'dan@example.com', data: {}, id: 7, lastSeen: 'today' },
    ];
    const { done, failed } = await clientOf().sendEach(rows as EachRecipient[], mail);
    expect(done).toBe(1);
    expect(failed.map(({ index }) => index)).toEqual([1, 2, 3]);
    expect(mailed()).toEqual(['ann@example.com']);
  });

  it('leaves out unknown fields without a value, and fails a row whose email is no text', async () => {
    const results: EachResult[] = [];
    const rows = [{ email: 'ann@example.com', lastSeen: undefined }, { email: 7 }];
    const { done } = await clientOf().sendEach(rows as unknown as EachRecipient[], mail, {
      onResult: (one) => results.push(one),
    });
    expect(done).toBe(1);
    const ends = results.map(({ email, status }) => [email, status]);
    expect(ends.sort()).toEqual([
      ['', 'failed'],
      ['ann@example.com', 'sent'],
    ]);
  });

  it('compares the names of common and own data exactly', async () => {
    const data = { Plan: 'common', city: 'Bern' };
    const rows = [{ email: 'ann@example.com', data: { plan: 'own', city: 'Basel' } }];
    await clientOf().sendEach(rows, { ...mail, data });
    expect(sends()).toMatchObject([{ data: { Plan: 'common', plan: 'own', city: 'Basel' } }]);
  });

  it('stores the data of a row that is not a record, as before', async () => {
    const rows = [{ id: 7, email: 'ann@example.com', data: { plan: 'pro' } }];
    await clientOf().sendEach(rows, mail);
    expect(stateOf('ann@example.com')?.data).toEqual({ plan: 'pro' });
  });
});

describe('`subscribed` in sendEach()', () => {
  it.each([
    [0, 'a number'],
    [1, 'a number'],
    ['false', "'false'"],
    ['true', "'true'"],
    [null, 'null'],
    [{}, 'an object'],
  ])('fails the row that has %o, and mails nothing to it', async (subscribed, got) => {
    const rows = [{ email: 'ann@example.com', subscribed }, 'bea@example.com'];
    const { done, failed } = await clientOf().sendEach(rows as string[], mail, {
      includeUnsubscribed: true,
    });
    expect(done).toBe(1);
    expect(failed).toMatchObject([{ index: 0, error: { fieldErrors: [{ field: 'subscribed' }] } }]);
    expect((failed[0]?.error as Error).message).toContain(
      `must be true, false or left out; got ${got}`,
    );
    expect(mailed()).toEqual(['bea@example.com']);
  });

  it('is never sent from a row', async () => {
    const rows = [
      { email: 'ann@example.com', subscribed: true },
      { email: 'bea@example.com', subscribed: undefined },
    ];
    expect(await clientOf().sendEach(rows, mail)).toMatchObject({ done: 2, skipped: [] });
    expect(sends().some((body) => 'subscribed' in body)).toBe(false);
  });

  it.each([
    [true, 'subscribes every recipient, also the people who have unsubscribed'],
    [false, 'unsubscribes every recipient'],
  ])('of the common email is sent, with one warning: %s', async (subscribed, text) => {
    const rows = ['ann@example.com', { email: 'bea@example.com', subscribed: true }];
    await clientOf().sendEach(rows, { ...mail, subscribed });
    expect(sends()).toMatchObject([{ subscribed }, { subscribed }]);
    expect(warnings).toEqual([expect.stringContaining(text)]);
  });

  it('counts the skipped rows in the report of a run that ends early', async () => {
    const list = function* () {
      yield { email: 'ann@example.com', subscribed: false };
      throw new Error('the list is torn');
    };
    const error = (await clientOf()
      .sendEach(list(), mail)
      .catch((failure: unknown) => failure)) as PartialError;
    expect(error.message).toBe(
      '`sendEach()` ended before row 1: 0 done, 0 failed, 0 unknown, 1 skipped. Continue with `{ from: 1 }`. The reason: the list is torn',
    );
    expect(error.result.skipped).toHaveLength(1);
    expect(warnings).toHaveLength(1);
  });
});

describe('several rows of one address', () => {
  const invoice = (plan: string, more: object = {}) => ({
    email: 'ann@example.com',
    data: { plan },
    ...more,
  });

  it('are all mailed without `once` if their content differs, with a warning that counts them', async () => {
    const rows = [
      invoice('one'),
      'bea@example.com',
      { ...invoice('two'), email: 'ANN@example.com' },
      invoice('three'),
      invoice('two'),
    ];
    const report = await clientOf().sendEach(rows, mail);
    expect(report).toMatchObject({ done: 5, sent: 4, earlier: 1, failed: [] });
    expect(bodies().sort()).toEqual(['<p>free</p>', '<p>one</p>', '<p>three</p>', '<p>two</p>']);
    expect(warnings).toEqual([expect.stringContaining('mailed 1 of the addresses more than once')]);
  });

  it('are mailed once if only the display name or the order of fields differs', async () => {
    const rows = [
      'ann@example.com',
      { email: 'Ann@example.com', name: 'Ann' },
      { email: 'ann@example.com', data: {} },
      { email: 'ann@example.com', subject: mail.subject, subscribed: true },
      { email: 'ann@example.com', from: '<shop@example.com>', id: 7 },
    ];
    expect(await clientOf().sendEach(rows, mail)).toMatchObject({ sent: 1, earlier: 4 });
    const two = [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ].map((data) => ({ email: 'bea@b.c', data }));
    expect(await clientOf().sendEach(two, mail)).toMatchObject({ sent: 1, earlier: 1 });
    expect(warnings).toEqual([]);
  });

  it('differ in the bytes of their files', async () => {
    const file = (text: string) => [{ filename: 'a.txt', content: new Blob([text]) }];
    const row = (text: string) => ({ email: 'ann@example.com', attachments: file(text) });
    const rows = [row('invoice 1'), row('invoice 2'), row('invoice 1')];
    expect(await clientOf().sendEach(rows, mail)).toMatchObject({ sent: 2, earlier: 1 });
  });

  it('do not differ by the data of a record', async () => {
    const record = { id: 'c_1', createdAt: 'today', subscribed: true };
    const rows = [invoice('one', record), invoice('two', record), 'ann@example.com'];
    expect(await clientOf().sendEach(rows, mail)).toMatchObject({ sent: 1, earlier: 2 });
    expect(bodies()).toEqual(['<p>one</p>']);
  });

  it('fail with `once` if a later one differs, and never count as earlier', async () => {
    const messaging = clientOf({ journal: memoryJournal() });
    const rows = [invoice('one'), invoice('two'), invoice('one')];
    for (const counts of [
      { sent: 1, earlier: 1 },
      { sent: 0, earlier: 2 },
    ]) {
      const report = await messaging.sendEach(rows, mail, { once });
      expect(report).toMatchObject({ ...counts, failed: [{ index: 1 }] });
      expect((report.failed[0]!.error as Error).message).toContain(
        'Give this row a separate `once`. Leave the rows that were mailed without one unchanged: with a `once` they would be mailed again.',
      );
    }
    expect(bodies()).toEqual(['<p>one</p>']);
  });

  it('fail with `once` if an earlier one failed and they differ', async () => {
    fake.fail('POST /v1/send', { status: 422 });
    const rows = [invoice('one'), invoice('two')];
    const messaging = clientOf({ journal: memoryJournal() });
    const report = await messaging.sendEach(rows, mail, { once });
    expect(report).toMatchObject({ done: 0, failed: [{ index: 0 }, { index: 1 }] });
    expect([sends().length, mailed()]).toEqual([1, []]);
  });

  it('are mailed once each with a separate `once`, also in a second run', async () => {
    const messaging = clientOf({ journal: memoryJournal() });
    await messaging.sendEach([invoice('one')], mail, { once }); // a run from before
    const rows = [
      invoice('two', { once: ' 2027-2 ' }),
      invoice('one'),
      invoice('three', { once: '2027-3' }),
      invoice('four', { once: '2027-x' }),
      invoice('five', { once: '2027-X' }),
      invoice('six', { once: 'caf\u00e9' }),
    ];
    expect(await messaging.sendEach(rows, mail, { once })).toMatchObject({ sent: 5, earlier: 1 });
    const again = [invoice('two', { once: '2027-2' }), invoice('six', { once: 'cafe\u0301' })];
    expect(await messaging.sendEach(again, mail, { once })).toMatchObject({ sent: 0, earlier: 2 });
    expect(fake.outbox).toHaveLength(6);
  });

  it('fail with the same `once` and other content', async () => {
    const messaging = clientOf({ journal: memoryJournal() });
    const rows = [invoice('one', { once: 'a' }), invoice('two', { once: 'a' })];
    expect(await messaging.sendEach(rows, mail, { once })).toMatchObject({
      sent: 1,
      earlier: 0,
      failed: [{ index: 1 }],
    });
  });

  it('keep the key of a mailing without a separate `once`', async () => {
    const messaging = clientOf({ journal: memoryJournal() });
    await messaging.sendEach(['ann@example.com'], mail, { once });
    const [entry] = await messaging.journal.list();
    expect(entry).toMatchObject({ key: 'news-1/08c531cbe60a8dbe', call: 'sendEach' });
  });

  it.each([[undefined], [null], [''], ['  '], [7]])('a `once` of %o fails its row', async (own) => {
    const messaging = clientOf({ journal: memoryJournal() });
    const rows = [{ email: 'ann@example.com', once: own }, 'bea@example.com'];
    const { failed } = await messaging.sendEach(rows as string[], mail, { once });
    expect(failed).toMatchObject([{ index: 0, error: { fieldErrors: [{ field: 'once' }] } }]);
    expect(mailed()).toEqual(['bea@example.com']);
  });

  it('a `once` of a row fails it if the call has none', async () => {
    const { failed } = await clientOf().sendEach([invoice('one', { once: 'a' })], mail);
    expect(failed).toMatchObject([{ error: { fieldErrors: [{ field: 'once' }] } }]);
    expect(fake.outbox).toEqual([]);
  });

  it('before `from` are not sent, but count when rows are compared', async () => {
    const messaging = clientOf({ journal: memoryJournal() });
    const rows = [invoice('one'), 'bea@example.com', invoice('two'), invoice('one'), null];
    const report = await messaging.sendEach(rows as EachRecipient[], mail, { once, from: 2 });
    expect(report.failed.map(({ index }) => index)).toEqual([2, 4]);
    expect(report).toMatchObject({ done: 1, sent: 1 });
    expect(bodies()).toEqual(['<p>one</p>']);
  });
});
