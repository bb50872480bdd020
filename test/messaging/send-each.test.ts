import {
  memoryJournal,
  MessagingClient,
  type EachResult,
  type JournalStore,
  type MessagingOptions,
  type PartialError,
} from 'postreel';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { watchedJournal } from '../support/once/store.js';

const message = { from: 'shop@example.com', subject: 'News', body: '<p>{{plan ?? "free"}}</p>' };
const people = Array.from({ length: 25 }, (_, index) => `p${index}@example.com`);
const once = 'news-1';

let fake: FakeMessaging;
beforeEach(() => {
  fake = createFakeMessaging();
});

const clientOf = (options: MessagingOptions = {}) =>
  new MessagingClient({
    apiKey: fake.secretKey,
    baseUrl: fake.baseUrl,
    fetch: fake.fetch,
    rateLimit: false,
    ...options,
  });
const mails = () => fake.outbox.map(({ to }) => to);
const mailed = () => mails().sort();

describe('sendEach()', () => {
  it('sends one email to each recipient and reports its result', async () => {
    const results: EachResult[] = [];
    const result = await clientOf().sendEach(people, message, {
      onResult: (one) => results.push(one),
    });
    const none = { failed: [], unknown: [], skipped: [] };
    expect(result).toEqual({ done: 25, sent: 25, earlier: 0, ...none });
    expect(mailed()).toEqual([...people].sort());
    const ids = results.map((one) => (one.status === 'sent' ? one.id : undefined));
    expect(new Set(ids)).toEqual(new Set(fake.outbox.map(({ id }) => id)));
  });

  it('replaces the data of the message by that of the recipient, and accepts names', async () => {
    const recipients = [
      { email: 'ann@example.com', name: 'Ann', data: { plan: 'pro' } },
      'bea@b.c',
    ];
    await clientOf().sendEach(recipients, { ...message, data: { plan: 'team' } });
    expect(fake.outbox.map(({ body }) => body)).toEqual(['<p>pro</p>', '<p>team</p>']);
  });

  it('mails nobody twice in one run, in upper or lower case', async () => {
    const twice = ['ann@example.com', 'ANN@example.com', 'bea@example.com', 'ann@example.com'];
    const { sent, earlier } = await clientOf().sendEach(twice, message);
    expect({ sent, earlier }).toEqual({ sent: 2, earlier: 2 });
    expect(mailed()).toEqual(['ann@example.com', 'bea@example.com']);
  });

  it('does not mail a recipient again in the same run after a lost response', async () => {
    fake.fail('POST /v1/send', { loseAnswer: true });
    const twice = ['ann@example.com', 'bea@example.com', 'ann@example.com'];
    const { sent, unknown } = await clientOf().sendEach(twice, message, { concurrency: 1 });
    expect(sent).toBe(1);
    expect(unknown).toMatchObject([
      { row: 'ann@example.com', index: 0 },
      { row: 'ann@example.com', index: 2 },
    ]);
    expect(mailed()).toEqual(['ann@example.com', 'bea@example.com']);
  });

  it.each([
    ['without', undefined],
    ['with', memoryJournal()],
  ])(
    'mails a recipient who is listed again after a rejection, %s a journal',
    async (_, journal) => {
      fake.fail('POST /v1/send', { status: 422 });
      const twice = ['ann@example.com', 'bea@example.com', 'ann@example.com'];
      const options = { concurrency: 1, ...(journal && { once }) };
      const messaging = clientOf({ journal });
      const { sent, failed, unknown } = await messaging.sendEach(twice, message, options);
      expect(sent).toBe(2);
      expect(failed).toMatchObject([{ row: 'ann@example.com', index: 0 }]);
      expect(unknown).toEqual([]);
      expect(mailed()).toEqual(['ann@example.com', 'bea@example.com']);
    },
  );

  it("mails nobody again after a lost response in this run, also with `unknown: 'send'`", async () => {
    fake.fail('POST /v1/send', { loseAnswer: true });
    const others = Array.from({ length: 600 }, (_, index) => `p${index}@example.com`);
    const list = ['ann@example.com', ...others, 'ann@example.com']; // in another window
    const options = { once, unknown: 'send' } as const;
    const messaging = clientOf({ journal: memoryJournal() });
    const { unknown } = await messaging.sendEach(list, message, options);
    expect(unknown.map(({ row }) => row)).toEqual(['ann@example.com', 'ann@example.com']);
    expect(mailed().filter((email) => email === 'ann@example.com')).toHaveLength(1);
  });

  it('reports an email as sent after it was written to the journal', async () => {
    const { journal, steps } = watchedJournal();
    await clientOf({ journal }).sendEach(people.slice(0, 1), message, {
      once,
      onResult: ({ status }) => steps.push(status),
    });
    const own = steps.filter((step) => step !== 'list'); // old keys are looked up in between
    expect(own).toEqual(['get', 'claimed', 'answered', 'sent']);
  });

  it('claims an email right before it is sent, however many emails wait', async () => {
    const { journal, written } = watchedJournal();
    const messaging = clientOf({
      journal,
      rateLimit: { limit: 2, windowMs: 60_000, group: crypto.randomUUID() },
    });
    const abort = new AbortController();
    messaging.on('response', () => {
      if (fake.outbox.length === 2) {
        abort.abort(new Error('enough'));
      }
    });
    const options = { once, signal: abort.signal };
    await messaging.sendEach(people, message, options).catch((error: unknown) => error);
    expect(written().filter((state) => state === 'claimed')).toHaveLength(2);
  });

  it('waits for other calls, unless it has another priority', async () => {
    const places: number[] = [];
    for (const priority of [undefined, 'interactive'] as const) {
      const messaging = clientOf({
        rateLimit: { limit: 1, windowMs: 50, group: crypto.randomUUID() },
      });
      const before = fake.outbox.length;
      const own = new Promise((resolve) => {
        const send = () => resolve(messaging.send({ ...message, to: 'boss@example.com' }));
        messaging.once('response', send);
      });
      await messaging.sendEach(people.slice(0, 4), message, { priority, concurrency: 4 });
      await own;
      places.push(mails().slice(before).indexOf('boss@example.com'));
    }
    expect(places).toEqual([1, 4]);
  });

  it('sends only the remaining emails in a second run with the same journal and key', async () => {
    const messaging = clientOf({ journal: memoryJournal() });
    await messaging.sendEach(people.slice(0, 12), message, { once });
    expect(await messaging.sendEach(people, message, { once })).toMatchObject({
      sent: 13,
      earlier: 12,
    });
    expect(mailed()).toEqual([...people].sort());
    // Another key is another email.
    expect((await messaging.sendEach(people, message, { once: 'news-2' })).sent).toBe(25);
  });

  it("lists the recipients whose response was lost, and mails them again only with `unknown: 'send'`", async () => {
    const messaging = clientOf({ journal: memoryJournal() });
    fake.fail('POST /v1/send', { loseAnswer: true, after: 3 });
    const { sent, unknown } = await messaging.sendEach(people, message, { once });
    expect(sent).toBe(24);
    expect(unknown).toHaveLength(1);
    expect(await messaging.sendEach(people, message, { once })).toMatchObject({
      sent: 0,
      earlier: 24,
      unknown: unknown.map(({ row, index }) => ({
        row,
        index,
        error: { message: expect.stringContaining("`unknown: 'send'`") as string },
      })),
    });
    expect(mailed()).toEqual([...people].sort());
    expect(await messaging.sendEach(people, message, { once, unknown: 'send' })).toMatchObject({
      sent: 1,
      earlier: 24,
      unknown: [],
    });
    expect(fake.outbox.filter(({ to }) => to === unknown[0]!.row)).toHaveLength(2);
  });

  it('sends the emails again that the service rejected, and keeps the unknown ones', async () => {
    const journal = memoryJournal();
    const messaging = clientOf({ journal });
    fake.fail('POST /v1/send', { status: 422, after: 2 });
    fake.fail('POST /v1/send', { loseAnswer: true, after: 4 });
    const first = await messaging.sendEach(people.slice(0, 8), message, { once });
    expect(first).toMatchObject({ sent: 6, failed: [{ error: { status: 422 } }] });
    expect(first.unknown).toHaveLength(1);
    const second = await messaging.sendEach(people.slice(0, 8), message, { once });
    expect(second).toMatchObject({ sent: 1, earlier: 6, failed: [] });
    expect(second.unknown).toMatchObject([{ row: first.unknown[0]!.row }]);
  });

  it('sends nothing twice if two runs are active at once', async () => {
    const journal = memoryJournal();
    const run = () => clientOf({ journal }).sendEach(people, message, { once, concurrency: 3 });
    const [one, other] = await Promise.all([run(), run()]);
    expect(one.sent + other.sent).toBe(25);
    expect(mailed()).toEqual([...people].sort());
  });

  it('ends if the API key is wrong, and marks nobody as mailed', async () => {
    const journal = memoryJournal();
    const wrong = clientOf({ journal, apiKey: 'sk_wrong' }).sendEach(people, message, { once });
    await expect(wrong).rejects.toMatchObject({ name: 'PartialError', cause: { status: 401 } });
    const requests = fake.requests.length;
    expect(requests).toBeLessThanOrEqual(10);
    expect((await clientOf({ journal }).sendEach(people, message, { once })).sent).toBe(25);
  });

  it.each([401, 403])(
    'ends after a %i, because the other emails have the same API key',
    async (status) => {
      fake.fail('POST /v1/send', { status, times: Infinity });
      await expect(clientOf().sendEach(people, message)).rejects.toMatchObject({
        cause: { status },
      });
      expect(fake.requests.length).toBeLessThanOrEqual(20);
    },
  );

  it('stops when it is aborted, with the report so far and the row to resume from', async () => {
    const abort = new AbortController();
    const run = clientOf().sendEach(new Set(people), message, {
      signal: abort.signal,
      concurrency: 5,
      onResult: () => abort.abort(new Error('enough')),
    });
    const error = (await run.catch((failure: unknown) => failure)) as PartialError;
    expect(error).toMatchObject({ code: 'PARTIAL_RESULT', cause: { message: 'enough' } });
    const { done, unknown, failed, notReached, resumeFrom } = error.result;
    expect(done + unknown.length + failed.length + notReached!).toBe(people.length);
    expect(resumeFrom).toBe(people.length - notReached!);
    expect(fake.outbox.length).toBeLessThanOrEqual(6);
    const rest = await clientOf().sendEach(people, message, { from: resumeFrom });
    expect(rest.done).toBe(notReached);
  });

  it('requires a whole number for `concurrency`', async () => {
    await expect(clientOf().sendEach(people, message, { concurrency: 0 })).rejects.toThrow(
      '`concurrency` must be a whole number from 1 up',
    );
    expect(fake.requests).toHaveLength(0);
  });

  it('rejects an unknown option', async () => {
    const run = clientOf().sendEach(people, message, { journal: memoryJournal() } as object);
    await expect(run).rejects.toThrow('`journal` is not an option of `sendEach()`. Leave it out');
    expect(fake.requests).toHaveLength(0);
  });

  it('needs no `once` on a client with a journal', async () => {
    const messaging = clientOf({ journal: memoryJournal() });
    await messaging.sendEach(people, message);
    expect((await messaging.sendEach(people, message)).sent).toBe(25);
  });

  it('reports rows that are not recipients as failed, and mails the others', async () => {
    const rows = ['ann@example.com', { email: null }, null, 7, {}, 'no address', 'bea@example.com'];
    const { done, failed } = await clientOf().sendEach(rows as string[], message);
    expect(done).toBe(2);
    expect(failed.map(({ index }) => index)).toEqual([1, 2, 3, 4, 5]);
    expect(failed.every(({ error }) => (error as Error).name === 'InvalidRequestError')).toBe(true);
    expect(mailed()).toEqual(['ann@example.com', 'bea@example.com']);
  });

  it('sends the emails for the rows before the list throws, and reports where to resume', async () => {
    const list = function* () {
      yield* people.slice(0, 7);
      throw new Error('the list is torn');
    };
    const error = (await clientOf()
      .sendEach(list(), message)
      .catch((failure: unknown) => failure)) as PartialError;
    expect(error).toMatchObject({ cause: { message: 'the list is torn' } });
    expect(error.result).toMatchObject({ done: 7, resumeFrom: 7, notReached: undefined });
  });

  it.each([
    ['a yes without data', { success: true }],
    ['an empty yes', undefined],
  ])('counts %s as sent', async (_, body) => {
    fake.fail('POST /v1/send', { status: body ? 200 : 204, ...(body && { body }) });
    expect(await clientOf().sendEach(people.slice(0, 1), message)).toMatchObject({ done: 1 });
  });

  it('does not report a recipient whom the service has skipped as sent', async () => {
    const data = { emails: [], timestamp: '2026-01-01T00:00:00.000Z' };
    fake.fail('POST /v1/send', { status: 200, body: { success: true, data } });
    const { done, failed } = await clientOf().sendEach(people.slice(0, 1), message);
    expect(done).toBe(0);
    expect(failed).toMatchObject([{ error: { code: 'RECIPIENT_SKIPPED' } }]);
  });

  it('sends the JSON form of data, not the private fields of an entity', async () => {
    const data = { password: 'hash', toJSON: () => ({ plan: 'pro' }) };
    await clientOf().sendEach([{ email: 'ann@example.com', data: data as object }], message);
    expect(fake.outbox.map(({ body }) => body)).toEqual(['<p>pro</p>']);
    expect(JSON.stringify(fake.requests)).not.toContain('hash');
  });

  it('accepts rows and a message that are entities, in their JSON form', async () => {
    class Row {
      readonly dataValues = { hash: 'x' };
      constructor(readonly email: string) {}
      toJSON() {
        return { email: this.email, data: { plan: 'pro' } };
      }
    }
    const shared = { hash: 'x', toJSON: () => ({ ...message, data: { plan: 'team' } }) };
    const rows = [new Row('ann@example.com'), 'bea@example.com'];
    const report = await clientOf().sendEach(rows, shared as never);
    expect(report).toMatchObject({ done: 2, failed: [] });
    expect(fake.outbox.map(({ body }) => body)).toEqual(['<p>pro</p>', '<p>team</p>']);
    expect(JSON.stringify(fake.requests)).not.toContain('hash');
  });

  it.each([
    [{ seats: NaN }, 'data.seats'],
    [{ at: new Date('never') }, 'data.at'],
    [[1], 'data'],
    ['pro', 'data'],
    [new Map(), 'data'],
  ])('fails the row whose data is %o, with the name of the field', async (data, field) => {
    const rows = [
      { email: 'ann@example.com', data },
      { email: 'bea@example.com', data: null },
    ];
    const { done, failed } = await clientOf().sendEach(rows as never[], message);
    expect(done).toBe(1);
    expect(failed).toMatchObject([
      { index: 0, row: rows[0], error: { outcome: 'not-sent', fieldErrors: [{ field }] } },
    ]);
  });

  it('fails only the row whose toJSON throws', async () => {
    const bad = {
      toJSON: () => {
        throw new Error('not loaded');
      },
    };
    const rows = ['ann@example.com', bad as never, 'bea@example.com'];
    const { done, failed } = await clientOf().sendEach(rows, message);
    expect([done, failed.map(({ index }) => index)]).toEqual([2, [1]]);
  });

  it('ends early if the journal cannot be written: nobody is mailed without a claim', async () => {
    const { journal, before } = watchedJournal();
    before((verb) => (verb === 'swap' ? Promise.reject(new Error('disk full')) : undefined));
    const run = clientOf({ journal }).sendEach(people.slice(0, 3), message, { once });
    await expect(run).rejects.toMatchObject({ cause: { code: 'JOURNAL_UNAVAILABLE' } });
    expect(fake.outbox).toEqual([]);
  });

  it('after an abort, reports unsent emails as failed, and only sent ones as unknown', async () => {
    fake = createFakeMessaging({ clock: { mode: 'manual' } });
    fake.fail('POST /v1/send', { hang: true });
    const abort = new AbortController();
    const client = clientOf({ rateLimit: { limit: 1, windowMs: 3_600_000 } });
    client.on('request', () => setTimeout(() => abort.abort(new Error('enough')), 20));
    const run = client.sendEach(people, message, { signal: abort.signal, concurrency: 4 });
    const { result } = (await run.catch((failure: unknown) => failure)) as PartialError;
    expect(result.unknown.map(({ row }) => row)).toEqual(people.slice(0, 1));
    expect(result.failed.map(({ row }) => row).sort()).toEqual(people.slice(1, 4));
    expect(result.resumeFrom).toBe(4);
  });

  it('does not conclude a rejection from an error code: after a 500 the result is unknown', async () => {
    const { secretKey: apiKey, baseUrl } = fake;
    const body = { success: false, error: { code: 'INVALID_REQUEST', message: 'oops' } };
    const fetch = () => Promise.resolve(Response.json(body, { status: 500 }));
    const client = new MessagingClient({ apiKey, baseUrl, fetch, retries: 0, rateLimit: false });
    const { failed, unknown } = await client.sendEach(people.slice(0, 1), message);
    expect([failed.length, unknown.length]).toEqual([0, 1]);
  });

  it('reports why a journal failed, without the password in its address', async () => {
    const reason = new Error('connect ECONNREFUSED redis://ann:s3cret-pass@db.test:6379');
    const journal = { ...memoryJournal(), swap: () => Promise.reject(reason) };
    const run = clientOf({ journal }).sendEach(people.slice(0, 1), message, { once });
    const error = (await run.catch((failure: unknown) => failure)) as PartialError;
    const { message: text } = error.cause as Error;
    expect(text).toContain('ECONNREFUSED redis://db.test:6379');
    expect(text).not.toContain('s3cret');
  });

  it('keeps ten concurrent claims apart', async () => {
    const memory = memoryJournal();
    const late = async () => {
      const delays = Math.floor(Math.random() * 5);
      for (let turn = 0; turn < delays; turn++) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const journal: JournalStore = {
      ...memory,
      swap: (...args) => late().then(() => memory.swap(...args)),
    };
    fake.fail('POST /v1/send', { status: 422, times: 6, probability: 0.5 });
    await clientOf({ journal }).sendEach(people, message, { once });
    const second = await clientOf({ journal }).sendEach(people, message, { once });
    expect(second.done).toBe(25);
    expect(mailed()).toEqual([...people].sort());
  });

  it('mails an address once, with a name or without', async () => {
    const journal = memoryJournal();
    const forms = [
      'Ann <ann@example.com>',
      'ann@example.com',
      '"Ann Lee" <Ann@example.com>',
      { email: '<ann@example.com>' },
      { email: 'ann@example.com', name: 'Ann' },
    ];
    for (const recipients of [forms, [...forms].reverse()]) {
      const { done, failed } = await clientOf({ journal }).sendEach(recipients, message, { once });
      expect({ done, failed }).toEqual({ done: 5, failed: [] });
    }
    expect(mailed()).toEqual(['ann@example.com']);
  });

  it('mails an address once in any spelling, and stores no address in the journal', async () => {
    const journal = memoryJournal();
    const spellings = [
      ['Ann@Example.com', ' ann@EXAMPLE.com ', 'ann@example.com'],
      ['jos\u00e9@example.com', 'jose\u0301@example.com', 'JOS\u00c9@example.com'],
      ['kim@m\u00fcller.example', 'kim@xn--mller-kva.example', 'kim@M\u00dcLLER.example'],
    ];
    for (const again of [0, 1, 2]) {
      const list = spellings.map((one) => one[again]!);
      const report = await clientOf({ journal }).sendEach(list, message, { once });
      expect(report).toMatchObject(again === 0 ? { sent: 3 } : { earlier: 3, sent: 0 });
    }
    expect(fake.outbox).toHaveLength(3);
    const texts = JSON.stringify(await journal.list(''));
    expect(texts).not.toMatch(/ann|jos|kim|example\.com|ller/i);
  });

  it('sends a corrected email to the remaining recipients', async () => {
    const messaging = clientOf({ journal: memoryJournal() });
    await messaging.sendEach(people.slice(0, 5), message, { once });
    const corrected = { ...message, subject: 'News, corrected' };
    expect(await messaging.sendEach(people, corrected, { once })).toMatchObject({
      sent: 20,
      earlier: 5,
    });
    expect(fake.outbox.filter(({ subject }) => subject === corrected.subject)).toHaveLength(20);
  });

  it('lists its addresses in the journal of the client, where they can be forgotten', async () => {
    fake.fail('POST /v1/send', { loseAnswer: true });
    const messaging = clientOf({ journal: memoryJournal() });
    await messaging.sendEach(people.slice(0, 2), message, { once, concurrency: 1 });
    const [unknown] = await messaging.journal.list({ state: 'unknown' });
    expect(unknown).toMatchObject({ call: 'sendEach' });
    expect(unknown!.key).toMatch(/^news-1\/[0-9a-f]+$/);
    await messaging.journal.forget(unknown!.key, unknown!);
    expect(await messaging.sendEach(people.slice(0, 2), message, { once })).toMatchObject({
      sent: 1,
      earlier: 1,
    });
  });

  it('frees the key of a recipient that the service has skipped', async () => {
    const data = { emails: [], timestamp: '2026-01-01T00:00:00.000Z' };
    fake.fail('POST /v1/send', { status: 200, body: { success: true, data } });
    const messaging = clientOf({ journal: memoryJournal() });
    const first = await messaging.sendEach(people.slice(0, 1), message, { once });
    expect(first.failed).toMatchObject([{ error: { code: 'RECIPIENT_SKIPPED' } }]);
    const second = await messaging.sendEach(people.slice(0, 1), message, { once });
    expect(second).toMatchObject({ sent: 1, unknown: [] });
  });

  it('accepts any field of the email for one recipient', async () => {
    const common = {
      ...message,
      data: { plan: 'free', city: 'Rome' },
      headers: { 'X-Campaign': 'news', 'X-Kind': 'many' },
    };
    const file = { filename: 'a.txt', content: new TextEncoder().encode('Total: 42') };
    const rows = [
      'ann@example.com',
      {
        email: 'bea@example.com',
        subject: 'Your invoice',
        body: '<p>{{plan}} in {{city}}</p>',
        reply: 'billing@example.com',
        from: 'billing@example.com',
        subscribed: true,
        attachments: [file],
        headers: { 'x-kind': 'one' },
        data: { plan: 'pro' },
      },
      { email: 'cid@example.com', template: 'tpl_1' },
      { email: 'dan@example.com', id: 7, createdAt: new Date() }, // of a database
    ];
    fake.fail('POST /v1/send', { status: 200, body: { success: true }, after: 2, times: Infinity });
    const { failed } = await clientOf().sendEach(rows, common, { concurrency: 1 });
    expect(failed).toEqual([]);
    const [ann, bea, cid, dan] = fake.requests.map(({ body }) => body);
    expect(ann).toEqual({ ...common, to: 'ann@example.com' });
    expect(bea).toEqual({
      from: 'billing@example.com',
      to: 'bea@example.com',
      subject: 'Your invoice',
      body: '<p>{{plan}} in {{city}}</p>',
      reply: 'billing@example.com',
      attachments: [{ filename: 'a.txt', content: 'VG90YWw6IDQy' }],
      headers: { 'X-Campaign': 'news', 'x-kind': 'one' },
      data: { plan: 'pro', city: 'Rome' },
    });
    const { from, data, headers } = common;
    expect(cid).toEqual({ from, data, headers, template: 'tpl_1', to: 'cid@example.com' });
    expect(dan).toEqual({ ...common, to: 'dan@example.com' });
    expect(fake.outbox[1]?.body).toBe('<p>pro in Rome</p>');
  });

  it.each([
    [{ subject: 'two\nlines' }, 'subject'],
    [{ headers: 'X-A: 1' }, 'headers'],
    [{ attachment: [] }, 'attachment'],
    [{ plan: 'pro' }, 'plan'],
  ])('fails the row with an invalid field: %o', async (own, field) => {
    const rows = [{ email: 'ann@example.com', ...own }, 'bea@example.com'];
    const { done, failed } = await clientOf().sendEach(rows as string[], message);
    expect(done).toBe(1);
    expect(failed).toMatchObject([{ index: 0, error: { fieldErrors: [{ field }] } }]);
  });
});
