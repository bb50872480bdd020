import { Readable } from 'node:stream';
import { MediaClient, MessagingClient } from 'postreel';
import {
  createClock,
  createFakeMedia,
  createFakeMessaging,
  startFakeServer,
  type FakeMediaOptions,
  type FakeMessaging,
  type FakeMessagingOptions,
} from 'postreel/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ending, speech, video } from '../support/media/fake-time.js';

const minute = 60_000;
const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

function mediaScene(options: FakeMediaOptions = {}) {
  const fake = createFakeMedia(options);
  return { fake, media: new MediaClient(fake.options) };
}

function messagingScene(options: FakeMessagingOptions = {}) {
  const fake = createFakeMessaging(options);
  return { fake, messaging: new MessagingClient(fake.options) };
}

/** A client whose key comes from elsewhere, in a tenth of a second of real time. */
function slowKeyed({ options }: FakeMessaging): MessagingClient {
  const apiKey = () => new Promise<string>((resolve) => setTimeout(resolve, 100, options.apiKey));
  return new MessagingClient({ ...options, apiKey, timeout: 10_000 });
}

function post({ secretKey }: FakeMessaging) {
  const headers = { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' };
  return { method: 'POST', headers, duplex: 'half' };
}

async function* slowly(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (const byte of bytes) {
    await new Promise((resolve) => setTimeout(resolve, 3));
    yield Uint8Array.of(byte);
  }
}

interface Timed {
  readonly clock: { now(): number };
}

/** A call, and how far it has moved the time of the fake. */
async function movedBy<T>({ clock }: Timed, call: () => PromiseLike<T>) {
  const startedAt = clock.now();
  const ended = await ending(call());
  return { ...ended, movedMs: clock.now() - startedAt };
}

/** Makes so many videos, one after the other. */
async function makeVideos({ generate }: MediaClient, count: number): Promise<void> {
  for (let made = 0; made < count; made++) {
    await generate.video(video());
  }
}

afterEach(() => vi.useRealTimers());

describe('a client of a fake', () => {
  it('is made with its options', async () => {
    const { fake, messaging } = messagingScene();
    await messaging.send(mail);
    const { media } = mediaScene();
    const job = await media.generate.audio(speech());
    expect([fake.outbox.length, job.fileId]).toEqual([1, 'file_000001']);
  });

  it('waits for a file at once', async () => {
    const { fake, media } = mediaScene();
    const job = await media.generate.video(video());
    const { value, movedMs } = await movedBy(fake, () => job.waitForFile());
    expect(value?.fileId).toBe(job.fileId);
    expect(movedMs).toBeGreaterThan(minute);
  });

  it('waits for an import at once', async () => {
    const { fake, messaging } = messagingScene({ jobs: { perSecond: 1 } });
    fake.seed({ contacts: 30 });
    const data = 'email\nann@example.com\nbob@example.com\n';
    const { jobId } = await messaging.contacts.import({ data });
    await messaging.contacts.waitForImport(jobId);
    expect([...fake.project.contacts.values()].at(-1)?.email).toBe('bob@example.com');
    expect(fake.requests.length).toBeLessThan(5);
  });

  it('waits with `interval: 0`: each check still lets time pass', async () => {
    const { fake, media } = mediaScene({ durations: () => '10s', queueTime: 0 });
    const job = await media.generate.video(video());
    await job.waitForFile({ interval: 0 });
    expect(fake.requests.length).toBeLessThanOrEqual(1 + 10_000 / 100 + 1);

    const { fake: service, messaging } = messagingScene({ jobs: { perSecond: 1 } });
    const data = 'email\nann@example.com\nbob@example.com\n';
    const { jobId } = await messaging.contacts.import({ data });
    await messaging.contacts.waitForImport(jobId, { interval: 0 });
    expect(service.project.contacts.size).toBe(2);
  });

  it('makes a queue of 30 videos within every limit', async () => {
    const { fake, media } = mediaScene();
    const jobs = Array.from({ length: 30 }, () => video());
    const errors: unknown[] = [];
    for await (const { error } of media.queue(jobs)) {
      errors.push(error);
    }
    expect(errors).toEqual(Array(30).fill(undefined));
    expect(fake.requests.filter(({ status }) => status !== 200)).toEqual([]);
  });

  it('makes the eleventh video ten minutes later, at once', async () => {
    const { fake, media } = mediaScene();
    await makeVideos(media, 10);
    const { movedMs } = await movedBy(fake, () => makeVideos(media, 1));
    expect(movedMs).toBe(10 * minute);
    expect(fake.requests.map(({ status }) => status)).toEqual(Array(11).fill(200));
  });

  it('sends 1100 emails, the last of them a minute later', async () => {
    const { fake, messaging } = messagingScene();
    const sends = () => Promise.all(Array.from({ length: 1100 }, async () => messaging.send(mail)));
    const { movedMs, error } = await movedBy(fake, sends);
    expect([error, fake.outbox.length, movedMs]).toEqual([undefined, 1100, minute]);
  });

  it('retries after a 503 without waiting', async () => {
    const { fake, messaging } = messagingScene();
    fake.fail('GET /contacts', { status: 503 });
    fake.fail('GET /contacts', { status: 503, retryAfter: 30 });
    const { value, movedMs } = await movedBy(fake, () => messaging.contacts.list());
    expect([value?.items, fake.requests.length]).toEqual([[], 3]);
    expect(movedMs).toBeGreaterThanOrEqual(31_500);
  });

  it('comes back when a 429 says so, in seconds or by the date of the fake', async () => {
    const { fake, messaging } = messagingScene();
    fake.fail('GET /contacts', { status: 429, retryAfter: 40 });
    expect((await movedBy(fake, () => messaging.contacts.list())).movedMs).toBe(40_000);
    await fake.advance('5h');
    const date = new Date(fake.clock.now() + 30_000).toUTCString();
    fake.fail('GET /contacts', { status: 429, retryAfter: date });
    const { movedMs } = await movedBy(fake, () => messaging.contacts.list());
    expect(Math.round(movedMs / 1_000)).toBe(30);
  });

  it.each(['hang', 'stall'] as const)('keeps to `timeout` when answers %s', async (fault) => {
    const { fake, messaging } = messagingScene();
    fake.fail('POST /v1/send', { [fault]: true });
    const send = () => messaging.send(mail, { timeout: 20_000 });
    const { error, movedMs } = await movedBy(fake, send);
    expect(error).toMatchObject({ code: 'TIMEOUT', outcome: 'unknown' });
    expect(movedMs).toBe(20_000);
  });

  it('keeps to `deadline`, whether there is no answer or always a 503', async () => {
    const { fake, messaging } = messagingScene();
    const list = () => messaging.contacts.list({}, { deadline: 8_000 });
    fake.fail('GET /contacts', { hang: true });
    const hanging = await movedBy(fake, list);
    expect(hanging.error).toMatchObject({ code: 'DEADLINE_EXCEEDED', outcome: 'rejected' });
    expect(hanging.movedMs).toBe(8_000);
    fake.fail('GET /contacts', { status: 503, retryAfter: 5, times: Infinity });
    const failing = await movedBy(fake, list);
    expect(failing.error).toMatchObject({ status: 503, retryAfterMs: 5_000 });
    expect(failing.movedMs).toBeGreaterThanOrEqual(5_000);
    expect(failing.movedMs).toBeLessThan(8_000);
  });

  it('sees a slow answer come late', async () => {
    const { fake, messaging } = messagingScene();
    fake.fail('*', { slow: 5_000, times: 2 });
    const slow = await movedBy(fake, () => messaging.contacts.list());
    const options = { timeout: 4_000, retries: 0 };
    const tooSlow = await movedBy(fake, () => messaging.contacts.list({}, options));
    expect([slow.movedMs, tooSlow.movedMs]).toEqual([5_000, 4_000]);
    expect(tooSlow.error).toMatchObject({ code: 'TIMEOUT' });
  });

  it.each([
    ['while others pause', {}],
    ['at any speed', { mode: 'real', speed: 6_000 }],
  ] as const)('limits what is not of the fake by real time, %s', async (_, clock) => {
    const { fake, messaging } = messagingScene({ clock });
    fake.fail('GET /contacts', { status: 429, retryAfter: 50 });
    const [{ items }, templates] = await Promise.all([
      messaging.contacts.list(),
      slowKeyed(fake).templates.list(),
    ]);
    expect([items, templates.items]).toEqual([[], []]);
  });
});

describe('the time of a fake', () => {
  it('stands still while nobody waits', async () => {
    const { fake, messaging } = messagingScene();
    const startedAt = fake.clock.now();
    await messaging.contacts.create({ email: 'ann@example.com' });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(fake.clock.now()).toBe(startedAt);
  });

  it('stands still while a request is answered, though a client pauses', async () => {
    const { fake, messaging } = messagingScene();
    const startedAt = fake.clock.now();
    fake.fail('GET /contacts', { status: 429, retryAfter: 50 });
    const text = JSON.stringify({ email: 'ann@example.com' });
    const body = Readable.toWeb(Readable.from(slowly(Buffer.from(text))));
    const upload = fake.fetch(`${fake.baseUrl}/contacts`, { ...post(fake), body } as RequestInit);
    await Promise.all([messaging.contacts.list(), upload]);
    const created = fake.requests.find(({ method }) => method === 'POST');
    expect([created?.status, created?.at]).toEqual([201, startedAt]);
    expect(fake.clock.now()).toBe(startedAt + 50_000);
  });

  it('stands still after a request that hangs was given up', async () => {
    const fake = createFakeMessaging();
    const startedAt = fake.clock.now();
    fake.fail('POST /contacts', { hang: true });
    const abort = new AbortController();
    const { signal } = abort;
    const hanging = ending(fake.fetch(`${fake.baseUrl}/contacts`, { ...post(fake), signal }));
    await expect.poll(() => fake.requests.length).toBe(1);
    abort.abort();
    await hanging;
    await slowKeyed(fake).templates.list();
    expect(fake.clock.now()).toBe(startedAt);
  });

  it('runs what is due on the way, in order', async () => {
    const { fake, media } = mediaScene({ durations: () => '65s', queueTime: '5s' });
    const job = await media.generate.video(video());
    const acceptedAt = fake.clock.now();
    const seen: unknown[] = [];
    await job.waitForFile({
      interval: 30_000,
      onUpdate: ({ status }) => seen.push([status, fake.clock.now() - acceptedAt]),
    });
    expect(seen).toEqual([
      ['processing', 10_000],
      ['processing', 40_000],
      ['success', 70_000],
    ]);
  });

  it('moves by advance() with the pauses of clients and what they do then', async () => {
    const { fake, media } = mediaScene({ clock: { mode: 'manual' }, durations: () => '1h' });
    const job = await media.generate.video(video());
    const acceptedAt = fake.clock.now();
    const file = job.waitForFile({ interval: 20_000, timeout: 2 * 60 * minute });
    await fake.advance('50s');
    const checks = fake.requests.slice(1).map(({ at, status }) => [at - acceptedAt, status]);
    expect(checks).toEqual([
      [10_000, 200],
      [30_000, 200],
      [50_000, 200],
    ]);
    await fake.advance('1h');
    expect((await file).fileId).toBe(job.fileId);
  });

  it('moves by advance() alone when it is manual', async () => {
    const { fake, messaging } = messagingScene({ clock: { mode: 'manual' } });
    fake.fail('GET /contacts', { status: 503 });
    const list = ending(messaging.contacts.list());
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(fake.requests).toHaveLength(1);
    await fake.advance('1s');
    await list;
    expect(fake.requests).toHaveLength(2);
  });

  it('is one for two fakes that share a clock', async () => {
    const clock = createClock();
    const { fake, messaging } = messagingScene({ clock });
    const { media } = mediaScene({ clock });
    await messaging.track({ email: 'ann@example.com', event: 'ordered' });
    const job = await media.generate.video(video());
    await job.waitForFile();
    await messaging.track({ email: 'ann@example.com', event: 'watched' });
    const [first, second] = fake.project.events;
    expect(Date.parse(second!.createdAt) - Date.parse(first!.createdAt)).toBeGreaterThan(minute);
  });

  it('goes on when what a webhook calls must wait itself', async () => {
    const { fake, messaging } = messagingScene();
    const callback: typeof fetch = async () => {
      fake.fail('GET /contacts', { status: 503 });
      await messaging.contacts.list();
      return new Response('ok');
    };
    const own = createFakeMedia({ clock: fake.clock, callback });
    const media = new MediaClient(own.options);
    const job = await media.generate.audio(speech({ webhook: 'https://shop.example/done' }));
    await job.waitForFile();
    await fake.advance('1m');
    expect(own.callbacks).toMatchObject([{ status: 200 }]);
    expect(fake.requests).toHaveLength(2);
  });

  it('runs with the wall, times its speed', async () => {
    const { fake, media } = mediaScene({
      clock: { mode: 'real', speed: 600 },
      durations: () => '40s',
    });
    const startedAt = performance.now();
    const { value, movedMs } = await movedBy(fake, async () => {
      const job = await media.generate.video(video());
      return job.waitForFile();
    });
    expect(value?.fileId).toBe(fake.files[0]?.fileId);
    expect(movedMs).toBeGreaterThan(38_000);
    expect(performance.now() - startedAt).toBeGreaterThan(60);
  });

  it("follows a test runner's timers", async () => {
    vi.useFakeTimers();
    const { fake, media } = mediaScene({ clock: { now: () => Date.now() } });
    await makeVideos(media, 10);
    const eleventh = makeVideos(media, 1);
    await vi.advanceTimersByTimeAsync(9 * minute);
    expect(fake.files).toHaveLength(10);
    await vi.advanceTimersByTimeAsync(minute);
    await eleventh;
    expect(fake.files).toHaveLength(11);
  });

  it('moves where all timers were faked before the import', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate', 'setInterval'] });
    vi.resetModules();
    const { MediaClient: Client } = await import('postreel');
    const testing = await import('postreel/testing');
    const fake = testing.createFakeMedia();
    const job = await new Client(fake.options).generate.video(video());
    expect((await job.waitForFile()).fileId).toBe('file_000001');
  });
});

describe('two fakes', () => {
  it('share no budget', async () => {
    for (const { fake, media } of [mediaScene(), mediaScene()]) {
      const { movedMs } = await movedBy(fake, () => makeVideos(media, 10));
      expect(movedMs).toBe(0);
    }
  });

  it('share none either with the same key at the same address', async () => {
    const same = { apiKey: 'media_key', baseUrl: 'https://media.test' };
    const [one, other] = [mediaScene(same), mediaScene(same)];
    await makeVideos(one.media, 10);
    const { movedMs } = await movedBy(one.fake, () => makeVideos(other.media, 10));
    expect([movedMs, other.fake.files.length]).toEqual([0, 10]);
  });

  it('have keys and addresses of their own, whatever copy of the package made them', async () => {
    const makers = [createFakeMessaging];
    vi.resetModules();
    makers.push((await import('postreel/testing')).createFakeMessaging);
    const fakes = makers.flatMap((make) => [make(), make()]);
    for (const name of ['baseUrl', 'secretKey', 'publicKey'] as const) {
      expect(new Set(fakes.map((fake) => fake[name])).size).toBe(4);
    }
    const medias = [createFakeMedia(), createFakeMedia()];
    for (const name of ['baseUrl', 'cdnUrl', 'apiKey'] as const) {
      expect(new Set(medias.map((fake) => fake[name])).size).toBe(2);
    }
  });

  it('keep their keys through a reset, and take others', async () => {
    const fake = createFakeMessaging();
    const { options } = fake;
    await new MessagingClient(options).projects.regenerateKeys(fake.project.id);
    expect(fake.options.apiKey).not.toBe(options.apiKey);
    fake.reset();
    expect(fake.options).toEqual(options);
    const own = createFakeMessaging({ secretKey: 'sk_mine', publicKey: 'pk_mine' });
    expect([own.options.apiKey, own.publicKey]).toEqual(['sk_mine', 'pk_mine']);
  });

  it('behind a server have the keys of the documents, and its address', async () => {
    const server = await startFakeServer();
    const { messaging, media } = server;
    await server.close();
    expect(messaging.options).toMatchObject({ apiKey: 'sk_000003', baseUrl: server.messagingUrl });
    expect(media.options).toMatchObject({ apiKey: 'media_key_000001', baseUrl: server.mediaUrl });
    expect(messaging.publicKey).toBe('pk_000004');
  });
});
