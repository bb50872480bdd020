import {
  memoryJournal,
  MessagingClient,
  type EachResult,
  type MessagingOptions,
  type RequestOptions,
} from 'postreel';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { sendEach } from '../../src/messaging/emails/send-each.js';

const message = { from: 'shop@example.com', subject: 'News', body: '<p>{{plan ?? "free"}}</p>' };
const people = Array.from({ length: 25 }, (_, index) => `p${index}@example.com`);
const key = 'news-1';

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
const mailed = () => fake.outbox.map(({ to }) => to).sort();

describe('sendEach()', () => {
  it('sends one email to each and says what became of it', async () => {
    const results: EachResult[] = [];
    const result = await clientOf().sendEach(people, message, {
      onResult: (one) => results.push(one),
    });
    expect(result).toEqual({ sent: 25, earlier: 0, failed: [], unknown: [] });
    expect(mailed()).toEqual([...people].sort());
    const ids = results.map((one) => (one.status === 'sent' ? one.id : undefined));
    expect(new Set(ids)).toEqual(new Set(fake.outbox.map(({ id }) => id)));
  });

  it("puts a recipient's own data over that of the message, and takes names", async () => {
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

  it('does not mail somebody again in one run whose answer was lost', async () => {
    fake.fail('POST /v1/send', { loseAnswer: true });
    const twice = ['ann@example.com', 'bea@example.com', 'ann@example.com'];
    const { sent, unknown } = await clientOf().sendEach(twice, message, { concurrency: 1 });
    expect({ sent, unknown }).toEqual({
      sent: 1,
      unknown: ['ann@example.com', 'ann@example.com'],
    });
    expect(mailed()).toEqual(['ann@example.com', 'bea@example.com']);
  });

  it('reports an email as sent once that is written down', async () => {
    const journal = memoryJournal();
    const log: string[] = [];
    const slow: typeof journal = {
      ...journal,
      async append(entry) {
        await new Promise((resolve) => setImmediate(resolve));
        await journal.append(entry);
        log.push(entry.type);
      },
    };
    await clientOf({ journal: slow }).sendEach(people.slice(0, 1), message, {
      key,
      onResult: ({ status }) => log.push(status),
    });
    expect(log).toEqual(['accepted', 'settled', 'sent']);
  });

  it('writes down who is unknown before it frees the others of a batch', async () => {
    const journal = memoryJournal();
    fake.fail('POST /v1/send', { status: 422 });
    fake.fail('POST /v1/send', { loseAnswer: true, after: 1 });
    await clientOf({ journal }).sendEach(people.slice(0, 2), message, { key });
    const entries = (await journal.read()).map(({ type }) => type);
    expect(entries).toEqual(['intent', 'intent', 'refused']);
  });

  it('goes behind other calls unless it is told not to', async () => {
    const options: (string | undefined)[] = [];
    const send = (_: object, { priority }: RequestOptions) => {
      options.push(priority);
      return Promise.resolve({ emails: [], timestamp: '' });
    };
    await sendEach(people.slice(0, 1), message, send, {});
    await sendEach(people.slice(0, 1), message, send, { priority: 'interactive' });
    expect(options).toEqual(['bulk', 'interactive']);
  });

  it('sends only the rest in a second run with the same journal and key', async () => {
    const messaging = clientOf({ journal: memoryJournal() });
    await messaging.sendEach(people.slice(0, 12), message, { key });
    expect(await messaging.sendEach(people, message, { key })).toMatchObject({
      sent: 13,
      earlier: 12,
    });
    expect(mailed()).toEqual([...people].sort());
    // Another key is another email.
    expect((await messaging.sendEach(people, message, { key: 'news-2' })).sent).toBe(25);
  });

  it('lists whose answer was lost, and mails them again only when asked', async () => {
    const messaging = clientOf({ journal: memoryJournal() });
    fake.fail('POST /v1/send', { loseAnswer: true, after: 3 });
    const { sent, unknown } = await messaging.sendEach(people, message, { key });
    expect(sent).toBe(24);
    expect(unknown).toHaveLength(1);
    expect(await messaging.sendEach(people, message, { key })).toMatchObject({
      sent: 0,
      earlier: 24,
      unknown,
    });
    expect(mailed()).toEqual([...people].sort());
    expect(await messaging.sendEach(people, message, { key, unknown: 'send' })).toMatchObject({
      sent: 1,
      earlier: 24,
      unknown: [],
    });
    expect(fake.outbox.filter(({ to }) => to === unknown[0])).toHaveLength(2);
  });

  it('tries those that the service refused again in the next run, and keeps the unknown ones', async () => {
    const journal = memoryJournal();
    const messaging = clientOf({ journal });
    fake.fail('POST /v1/send', { status: 422, after: 2 });
    fake.fail('POST /v1/send', { loseAnswer: true, after: 4 });
    const first = await messaging.sendEach(people.slice(0, 8), message, { key });
    expect(first).toMatchObject({ sent: 6, failed: [{ error: { status: 422 } }] });
    expect(first.unknown).toHaveLength(1);
    const second = await messaging.sendEach(people.slice(0, 8), message, { key });
    expect(second).toMatchObject({ sent: 1, earlier: 6, failed: [], unknown: first.unknown });
    // A media client with the same journal has nothing to look after.
    expect(await journal.pending()).toEqual({ jobs: [], finished: [], unknown: [] });
  });

  it('does nothing twice when two runs go on at once', async () => {
    const journal = memoryJournal();
    const run = () => clientOf({ journal }).sendEach(people, message, { key, concurrency: 3 });
    const [one, other] = await Promise.all([run(), run()]);
    expect(one.sent + other.sent).toBe(25);
    expect(mailed()).toEqual([...people].sort());
  });

  it('ends when the key is wrong, with nobody marked as mailed', async () => {
    const journal = memoryJournal();
    const wrong = clientOf({ journal, apiKey: 'sk_wrong' }).sendEach(people, message, { key });
    await expect(wrong).rejects.toMatchObject({ status: 401 });
    const requests = fake.requests.length;
    expect(requests).toBeLessThanOrEqual(10);
    expect((await clientOf({ journal }).sendEach(people, message, { key })).sent).toBe(25);
  });

  it.each([401, 403])(
    'ends after the first batch with %i: the others have the same key',
    async (status) => {
      fake.fail('POST /v1/send', { status, times: Infinity });
      await expect(clientOf().sendEach(people, message)).rejects.toMatchObject({ status });
      expect(fake.requests).toHaveLength(10);
    },
  );

  it('stops between two batches when it is aborted', async () => {
    const abort = new AbortController();
    const run = clientOf().sendEach(people, message, {
      signal: abort.signal,
      concurrency: 5,
      onResult: () => abort.abort(new Error('enough')),
    });
    await expect(run).rejects.toThrow('enough');
    expect(fake.outbox.length).toBeLessThanOrEqual(5);
  });

  it('wants a key with a journal, and a number of emails at once', async () => {
    const messaging = clientOf({ journal: memoryJournal() });
    await expect(messaging.sendEach(people, message)).rejects.toThrow(
      '`key` is needed with a journal: it names the email',
    );
    await expect(clientOf().sendEach(people, message, { concurrency: 0 })).rejects.toThrow(
      '`concurrency` must be a whole number from 1 up',
    );
    expect(fake.requests).toHaveLength(0);
  });
});
