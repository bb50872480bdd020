import { MediaClient, memoryJournal, MessagingClient, type JournalStore } from 'postreel';
import { createFakeMedia, createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { fetchFromAddress } from '../support/once/moved.js';
import { turns } from '../support/settled.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: '<p>Hi</p>' };
const call = 'POST /v1/send';
const dayMs = 24 * 3_600_000;

let fake: FakeMessaging;
let journal: JournalStore;
let messaging: MessagingClient;
beforeEach(() => {
  fake = createFakeMessaging();
  journal = memoryJournal();
  messaging = new MessagingClient({ ...fake.options, journal });
});
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('it should have failed'),
    (failure: unknown) => failure,
  );

describe('a journal that takes longer to read than the answer timeout', () => {
  it('is waited for, and then works as usual', async () => {
    vi.useFakeTimers();
    const reading = new Promise<void>((resolve) => {
      setTimeout(resolve, 20_000);
    });
    const load = () => reading;
    const rateLimit = false;
    const { apiKey, baseUrl, fetch } = fake.options;
    const plain: typeof fetch = (...request) => fetch(...request); // it uses the clock of the machine, not of the fake
    const slow = { ...journal, load };
    const client = new MessagingClient({ apiKey, baseUrl, fetch: plain, rateLimit, journal: slow });
    const sent = client.send(mail, { once: 'a', deadline: 600_000 });
    await vi.advanceTimersByTimeAsync(120_000);
    expect((await sent).emails).toHaveLength(1);
    vi.useRealTimers();
  });
});

describe('client.journal.list()', () => {
  it("lists the client's keys with their calls and states, or only those of one state", async () => {
    fake.fail(call, { loseAnswer: true, after: 1 });
    await messaging.send(mail, { once: 'a' });
    await messaging.send(mail, { once: 'b' }).catch(() => undefined);
    await messaging.track({ email: 'ann@example.com', event: 'paid' }, { once: 'a' });
    const other = new MessagingClient({ ...fake.options, journal, rateLimit: { group: 'other' } });
    await other.send(mail, { once: 'c' });
    const all = (await messaging.journal.list()).sort((one, two) =>
      one.call + one.key < two.call + two.key ? -1 : 1,
    );
    const ageMs = expect.any(Number) as number;
    expect(all).toEqual([
      { key: 'a', call, state: 'answered', ageMs },
      { key: 'b', call, state: 'unknown', ageMs },
      { key: 'a', call: 'POST /v1/track', state: 'answered', ageMs },
    ]);
    expect(await messaging.journal.list({ state: 'unknown' })).toMatchObject([{ key: 'b' }]);
    expect(await messaging.journal.list({ state: 'claimed' })).toEqual([]);
    await expect(messaging.journal.list({ state: 'lost' as never })).rejects.toThrow('`state`');
  });

  it('lists keys with any characters, and a thousand keys', async () => {
    const names = ['é ü 漢字 😀', 'a/b', '%', '\u0000', 'x'.repeat(3_000), '\ud83d'];
    const many = Array.from({ length: 1_100 }, (_, index) => `n${index}`);
    const quick = new MessagingClient({ ...fake.options, journal, rateLimit: false });
    fake.fail(call, {
      status: 200,
      body: { success: true, data: { emails: [] } },
      times: Infinity,
    });
    for (const once of [...names, ...many]) {
      await quick.send(mail, { once });
    }
    const keys = (await quick.journal.list()).map(({ key }) => key);
    expect(keys.sort()).toEqual([...names, ...many].sort());
    expect((await journal.list('')).every(({ key }) => /^[ -~]{1,500}$/.test(key))).toBe(true);
  });

  it('works for media, too', async () => {
    const media = createFakeMedia();
    const client = new MediaClient({ ...media.options, journal });
    await client.generate.audio({ content: 'Hello', voiceId: 'voice_1' }, { once: 'speech' });
    const list = await client.journal.list();
    expect(list).toMatchObject([
      { key: 'speech', call: 'POST /v1/generate/audio', state: 'answered' },
    ]);
    expect(await client.journal.forget('speech', list[0]!)).toBe(true);
    expect(await client.journal.list()).toEqual([]);
  });
});

describe('client.journal.forget()', () => {
  it('allows the next call with the key to be sent', async () => {
    fake.fail(call, { loseAnswer: true });
    await messaging.send(mail, { once: 'a' }).catch(() => undefined);
    const [unknown] = await messaging.journal.list({ state: 'unknown' });
    expect(await messaging.journal.forget(unknown!.key, unknown!)).toBe(true);
    await messaging.send({ ...mail, subject: 'Again' }, { once: 'a' });
    expect(fake.outbox).toHaveLength(2);
  });

  it('returns whether the key existed', async () => {
    expect(await messaging.journal.forget('a', { call })).toBe(false);
  });

  it('is rejected while the call is in flight', async () => {
    const dying = new MessagingClient({
      ...fake.options,
      journal,
      fetch: () => new Promise(() => undefined),
    });
    dying.send(mail, { once: 'a' }).catch(() => undefined);
    await expect.poll(() => dying.journal.list({ state: 'claimed' })).toHaveLength(1);
    expect(await failureOf(messaging.journal.forget('a', { call }))).toMatchObject({
      name: 'InvalidRequestError',
      code: 'ONCE_UNDER_WAY',
    });
  });

  it.each([['a'], ['a', {}], ['', { call }], [undefined, { call }]] as never[][])(
    'is rejected with the arguments %o',
    async (...args) => {
      const own = messaging.journal as { forget(...all: unknown[]): Promise<unknown> };
      expect(await failureOf(own.forget(...args))).toMatchObject({ name: 'InvalidRequestError' });
    },
  );
});

describe('the time that a key is kept', () => {
  /** A store whose entries are all `ageMs` older. */
  const withAges = (store: JournalStore, ageMs: () => number): JournalStore => ({
    ...store,
    get: async (key) => {
      const item = await store.get(key);
      return item && { ...item, ageMs: item.ageMs + ageMs() };
    },
    list: async (...args) =>
      (await store.list(...args)).map((item) => ({ ...item, ageMs: item.ageMs + ageMs() })),
  });
  const keysOf = async () => (await journal.list('once/')).length;

  it.each([
    ['30 days', undefined, 30 * dayMs],
    ['as long as `keep` says', 3 * dayMs, 3 * dayMs],
  ])('is %s if the key is answered, and unlimited if it is unknown', async (_, keep, keepMs) => {
    let ageMs = 0;
    const store = withAges(journal, () => ageMs);
    const open = () => new MessagingClient({ ...fake.options, journal: store, keep });
    fake.fail(call, { loseAnswer: true, after: 1 });
    await open().send(mail, { once: 'a' });
    await open()
      .send(mail, { once: 'b' })
      .catch(() => undefined);
    ageMs = keepMs - 60_000;
    await open().send(mail, { once: 'a' });
    expect(fake.outbox).toHaveLength(2);
    ageMs = keepMs + 60_000;
    await open().track({ email: 'ann@example.com', event: 'paid' }, { once: 'c' });
    const keys = async () => (await open().journal.list()).map(({ key }) => key).sort();
    await expect.poll(keys).toEqual(['b', 'c']);
    expect(await open().journal.list({ state: 'unknown' })).toMatchObject([{ key: 'b' }]);
  });

  it('is unlimited with media, where a forgotten key costs money', async () => {
    const media = createFakeMedia();
    const store = withAges(journal, () => 10_000 * dayMs);
    const open = () => new MediaClient({ ...media.options, journal: store });
    await open().generate.audio({ content: 'Hello', voiceId: 'voice_1' }, { once: 'a' });
    await open().generate.audio({ content: 'Hello', voiceId: 'voice_1' }, { once: 'a' });
    expect(media.files).toHaveLength(1);
  });

  it('is decided by the client of the keys: other clients on the same journal keep theirs', async () => {
    const media = createFakeMedia();
    const store = withAges(journal, () => 10_000 * dayMs);
    const client = new MediaClient({ ...media.options, journal: store });
    await client.generate.audio({ content: 'Hello', voiceId: 'voice_1' }, { once: 'a' });
    const grouped = { journal: store, rateLimit: { group: 'other' }, keep: Infinity };
    await new MessagingClient({ ...fake.options, ...grouped }).send(mail, { once: 'b' });
    const own = new MessagingClient({ ...fake.options, journal: store });
    await own.send(mail, { once: 'c' });
    await own.send(mail, { once: 'd' });
    await turns();
    expect(await keysOf()).toBeGreaterThanOrEqual(3);
    expect(await client.journal.list()).toHaveLength(1);
  });

  it('is decided for each service, also if both have the same address', async () => {
    const media = createFakeMedia();
    const baseUrl = 'https://api.example.com';
    const store = withAges(journal, () => 100 * dayMs);
    const open = () => new MediaClient({ ...media.options, baseUrl, journal: store });
    const speech = { content: 'Hello', voiceId: 'voice_1' };
    const client = () => open().with({ fetch: fetchFromAddress(media, baseUrl) });
    await client().generate.audio(speech, { once: 'a' });
    for await (const { error } of client().queue([speech], { name: 'books', key: () => 'b' })) {
      expect(error).toBeUndefined();
    }
    const fetch = fetchFromAddress(fake, baseUrl);
    const own = new MessagingClient({ ...fake.options, baseUrl, fetch, journal: store });
    await own.send(mail, { once: 'c' });
    await turns();
    await own.track({ email: 'ann@example.com', event: 'paid' }, { once: 'd' });
    await turns();
    const keys = async (one: { journal: typeof own.journal }) =>
      (await one.journal.list()).map(({ key }) => key).sort();
    expect(await keys(client())).toEqual(['a', 'key b']);
    expect((await keys(own)).includes('a')).toBe(false);
    await client().generate.audio(speech, { once: 'a' });
    expect(media.files).toHaveLength(2);
  });

  it('is checked once an hour, by one client of the process', async () => {
    let lists = 0;
    const counted: JournalStore = {
      ...journal,
      list: (...args) => {
        lists += 1;
        return journal.list(...args);
      },
    };
    const open = () => new MessagingClient({ ...fake.options, journal: counted });
    const clients = [open(), open(), open()];
    const round = async (once: string) => {
      lists = 0;
      for (const one of clients) {
        await one.send(mail, { once });
      }
      await turns();
      return lists;
    };
    expect(await round('a')).toBe(2); // one list of single calls and one of queues
    expect(await round('b')).toBe(0);
    await messaging.send(mail, { once: 'c' });
    expect(await round('c')).toBe(0);
  });
});
