import { MediaClient, memoryJournal, MessagingClient, type JournalStore } from 'postreel';
import { postgresJournal } from 'postreel/postgres';
import { redisJournal } from 'postreel/redis';
import { createFakeMedia, createFakeMessaging } from 'postreel/testing';
import { beforeEach, describe, expect, it } from 'vitest';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: '<p>Hi</p>' };
const film = {
  workflowType: 'idea',
  workflowFormat: 'video',
  prompt: 'Cats',
  voiceId: 'voice_1',
} as const;
const once = 'a';

let fake: ReturnType<typeof createFakeMessaging>;
let fakeMedia: ReturnType<typeof createFakeMedia>;
let messaging: MessagingClient;
let media: MediaClient;
beforeEach(() => {
  fake = createFakeMessaging();
  fakeMedia = createFakeMedia();
  const journal = memoryJournal();
  messaging = new MessagingClient({ ...fake.options, journal });
  media = new MediaClient({ ...fakeMedia.options, journal });
});
const failureOf = (run: () => unknown) =>
  Promise.resolve()
    .then(run)
    .then(
      () => expect.fail('it should have been refused'),
      (failure: unknown) => failure,
    );
const iterateAll = async (items: AsyncIterable<unknown>) => {
  for await (const item of items) {
    expect(item).toBeDefined();
  }
};

describe('`once` where it could not prevent a duplicate', () => {
  // The compiler rejects some of these, too.
  it.each<[string, () => unknown]>([
    ['a read', () => messaging.contacts.get('con_1', { once })],
    ['a list that is awaited', () => messaging.contacts.list({}, { once })],
    ['a list that is iterated', () => iterateAll(messaging.contacts.list({}, { once }))],
    ['a change that may be repeated', () => messaging.contacts.delete('con_1', { once })],
    ['an upsert', () => messaging.contacts.create({ email: 'ann@example.com' }, { once })],
    ['`client.with()`', () => messaging.with({ once } as object)],
    ['`new MessagingClient()`', () => new MessagingClient({ ...fake.options, once } as object)],
    ['`client.request()`', () => messaging.request('POST', '/v1/send', { body: mail }, { once })],
    ['importAll()', () => messaging.contacts.importAll([], { once } as object)],
    ['deleteAll()', () => messaging.contacts.deleteAll(['con_1'], { once } as object)],
    ['lookupAll()', () => iterateAll(messaging.contacts.lookupAll(['a@b.c'], { once } as object))],
    ['verifyAll()', () => iterateAll(messaging.verifyAll(['a@b.c'], { once } as object))],
    [
      'a call for several jobs',
      () => media.generate.video({ payload: [film, { ...film, prompt: 'Dogs' }] }, { once }),
    ],
    ['a status', () => media.generate.status({ fileId: 'file_1' }, { once })],
  ])('is rejected in %s', async (_, run) => {
    const failure = await failureOf(run);
    expect(failure).toMatchObject({
      name: 'InvalidRequestError',
      outcome: 'not-sent',
      fieldErrors: [{ field: 'once' }],
    });
    expect([...fake.requests, ...fakeMedia.requests]).toEqual([]);
  });

  it('is rejected in the options of a queue, which has a name', async () => {
    const failure = await failureOf(() => iterateAll(media.queue([film], { once } as object)));
    expect(failure).toMatchObject({ name: 'InvalidRequestError' });
    expect(String(failure)).toContain('`name` to a queue');
  });
});

describe('an unset `once`', () => {
  it.each([
    ['undefined', undefined],
    ['null', null],
    ['an empty text', ''],
    ['a number', 42],
  ])('is rejected if it is %s', async (what, value) => {
    const options = { once: value as string };
    const calls = [
      () => messaging.send(mail, options),
      () => messaging.sendEach(['ann@example.com'], mail, options),
      () => media.generate.video(film, options),
    ];
    for (const call of calls) {
      const failure = await failureOf(call);
      expect(failure).toMatchObject({ name: 'InvalidRequestError', outcome: 'not-sent' });
      expect(String(failure)).toContain(
        `must be a text that is not empty; got ${what.replace('null', 'null')}`,
      );
      expect(String(failure)).toContain(
        what === 'a number' ? 'write it as a text, such as `String(id)`' : 'An unset key',
      );
    }
    expect([...fake.requests, ...fakeMedia.requests]).toEqual([]);
  });
});

describe('`once` of a client without a journal', () => {
  it('is rejected with an error that shows how to add a journal, for both clients', async () => {
    const bare = new MessagingClient(fake.options);
    const calls = [
      () => bare.send(mail, { once }),
      () => bare.sendEach(['ann@example.com'], mail, { once }),
      () => bare.journal.list(),
      () => bare.journal.forget(once, { call: 'POST /v1/send' }),
      () => new MediaClient(fakeMedia.options).generate.video(film, { once }),
    ];
    for (const call of calls) {
      const failure = await failureOf(call);
      expect(failure).toMatchObject({ name: 'ConfigurationError', code: 'JOURNAL_MISSING' });
      expect(String(failure)).toMatch(
        /new MessagingClient\(\{ journal \}\)` or `new MediaClient\(\{ journal \}\)`.*`fileJournal\(/,
      );
    }
    expect([...fake.requests, ...fakeMedia.requests]).toEqual([]);
  });
});

describe('a journal that several projects may share', () => {
  const redis = { evalsha: () => Promise.resolve(), eval: () => Promise.resolve() };
  const pool = { query: () => Promise.resolve({ rows: [] }) };
  const clients = [
    (journal: JournalStore, more: object) =>
      new MessagingClient({ ...fake.options, journal, ...more }),
    (journal: JournalStore, more: object) =>
      new MediaClient({ ...fakeMedia.options, journal, ...more }),
  ];

  it.each<[string, () => JournalStore, string]>([
    ['Redis', () => redisJournal(redis), 'redisJournal()'],
    ['Postgres', () => postgresJournal(pool), 'postgresJournal()'],
  ])('in %s is rejected if it has no name and the client no group', (_, open, name) => {
    for (const create of clients) {
      const error = expect.objectContaining({ code: 'JOURNAL_SHARED' }) as Error;
      expect(() => create(open(), {})).toThrow(error);
      expect(() => create(open(), {})).toThrow(name);
      expect(() => create(open(), { rateLimit: false })).toThrow(error);
      expect(() => create(open(), { rateLimit: { group: 'a' } })).not.toThrow();
    }
  });

  it('is accepted with a name, and so is the journal of a single machine', () => {
    const named = [redisJournal(redis, { prefix: 'a' }), postgresJournal(pool, { name: 'a' })];
    for (const journal of [...named, memoryJournal()]) {
      for (const create of clients) {
        expect(() => create(journal, {})).not.toThrow();
      }
    }
  });
});
