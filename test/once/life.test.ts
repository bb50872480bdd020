import {
  isPostreelError,
  memoryJournal,
  MessagingClient,
  type Answer,
  type JournalStore,
  type MessagingOptions,
  type RequestOptions,
} from 'postreel';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { watchedJournal } from '../support/once/store.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: '<p>Hi</p>' };
const call = 'POST /v1/send';
const once = 'receipt/1042';
const unreachable = new TypeError('fetch failed', {
  cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }),
});

let fake: FakeMessaging;
let journal: JournalStore;
beforeEach(() => {
  fake = createFakeMessaging();
  journal = memoryJournal();
});

/** A client of the fake. Each new client on the same journal represents another process. */
const clientOf = (options: MessagingOptions = {}) =>
  new MessagingClient({ ...fake.options, journal, ...options });
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('it should have failed'),
    (failure: unknown) => failure,
  );
const statesOf = async (messaging: MessagingClient) =>
  (await messaging.journal.list()).map(({ state }) => state);
/** A process that is killed while its request is in flight: it never gets the answer. */
const sendThenKill = async (options: MessagingOptions = {}) => {
  const dying = clientOf({ ...options, fetch: () => new Promise(() => undefined) });
  dying.send(mail, { once }).catch(() => undefined);
  await expect.poll(() => statesOf(dying)).toEqual(['claimed']);
};

describe('a call with `once`', () => {
  it('is sent once, and returns the first answer again', async () => {
    const first = await clientOf().send(mail, { once }).withResponse();
    const again = await clientOf().send(mail, { once }).withResponse();
    expect(first.replayed).toBeUndefined();
    expect(first.response).toBeInstanceOf(Response);
    expect(again).toEqual({
      data: first.data,
      response: undefined,
      requestId: first.requestId,
      replayed: true,
    });
    expect(fake.outbox).toHaveLength(1);
  });

  it('waits for no other request in a runtime that may end that request (Workers)', async () => {
    vi.stubGlobal('WebSocketPair', Object);
    onTestFinished(() => void vi.unstubAllGlobals());
    let reads = 0;
    const get: JournalStore['get'] = (place) =>
      place.includes('receipt') && reads++ === 0
        ? new Promise(() => undefined)
        : journal.get(place);
    const fetch: typeof fake.fetch = (input, init) => fake.fetch(input, init); // real time: the first one hangs
    const messaging = clientOf({ fetch, journal: { ...journal, get } });
    let isFirstOver = false;
    const first = messaging.send(mail, { once }).finally(() => {
      isFirstOver = true;
    });
    first.catch(() => undefined);
    await expect.poll(() => reads).toBe(1);
    expect(await messaging.send(mail, { once })).toMatchObject({ emails: [{}] });
    expect(isFirstOver).toBe(false);
  });

  it('has the same content in any order of its fields', async () => {
    await clientOf().send(mail, { once });
    const turned = Object.fromEntries(Object.entries(mail).reverse()) as typeof mail;
    await clientOf().send(turned, { once });
    expect(fake.outbox).toHaveLength(1);
  });

  it.each([
    ['body', (one: MessagingClient) => one.send({ ...mail, subject: 'Hello' }, { once }), mail],
    ['path', (one: MessagingClient) => one.templates.duplicate('b', { once }), undefined],
  ])('is rejected with another %s under the same key', async (_, other, sent) => {
    fake.fail('POST /templates/{id}/duplicate', { status: 200, body: { id: 'tpl_1' } });
    const messaging = clientOf();
    await (sent ? messaging.send(sent, { once }) : messaging.templates.duplicate('a', { once }));
    const before = fake.requests.length;
    expect(await failureOf(other(messaging))).toMatchObject({
      name: 'InvalidRequestError',
      code: 'ONCE_CONFLICT',
      outcome: 'not-sent',
      message: expect.stringMatching(
        /may have taken effect\. Repeat it with the original content .* Use another key only for/,
      ) as string,
    });
    expect(fake.requests).toHaveLength(before);
  });

  it('shares its key with no other endpoint, address or group, but with every API key of the project', async () => {
    const other = createFakeMessaging();
    await clientOf().send(mail, { once });
    await clientOf().track({ email: 'ann@example.com', event: 'paid' }, { once });
    await clientOf({ ...other.options }).send(mail, { once });
    await clientOf({ rateLimit: { group: 'shop' } }).send(mail, { once });
    await clientOf({ rateLimit: { group: 'shop' } }).send(mail, { once });
    expect([fake.outbox.length, fake.project.events.length]).toEqual([2, 1]);
    expect(other.outbox).toHaveLength(1);
    // The API key was replaced: the old one is invalid, but what it sent is still known.
    await clientOf({ apiKey: 'sk_another' }).send(mail, { once });
    expect(fake.outbox).toHaveLength(2);
  });

  it('is sent once if many callers make it at the same time, in one process and in several', async () => {
    const clients = [clientOf(), clientOf(), clientOf()];
    const derived = clients.map((one) => one.with({ timeout: 10_000 }));
    const all = [...clients, ...derived, ...clients];
    const answers = await Promise.all(all.map((one) => one.send(mail, { once })));
    expect(fake.outbox).toHaveLength(1);
    expect(new Set(answers.map((one) => JSON.stringify(one))).size).toBe(1);
  });

  it('stores no body and no address in the journal', async () => {
    const private_ = { ...mail, to: 'Ann.Secret@Example.com', body: '<p>Your diagnosis</p>' };
    const first = await clientOf().send(private_, { once });
    const template = {
      name: 'Secret name',
      subject: 'Hi',
      body: '<p>Secret text</p>',
      type: 'MARKETING',
    };
    const made = await clientOf().templates.create(template as never, { once });
    const texts = (await journal.list('')).map(({ value }) => value).join('\n');
    expect(texts).not.toMatch(/secret|diagnosis/i);
    expect(await clientOf().send(private_, { once })).toEqual(first);
    expect(await clientOf().templates.create(template as never, { once })).toEqual(made);
    expect(JSON.stringify(made)).toContain('Secret text');
  });

  it('stores no address in the journal that is part of an error message', async () => {
    const answer = {
      success: true,
      message: 'Sent from ann@secret.example to ann@secret.example.',
    };
    const fetch = () => Promise.resolve(Response.json(answer));
    const send = () =>
      clientOf({ fetch }).campaigns.sendTest('cmp_1', { email: 'ann@secret.example' }, { once });
    expect(await send()).toEqual(answer);
    expect((await journal.list('')).map(({ value }) => value).join('\n')).not.toContain('secret');
    expect(await send()).toEqual(answer);
  });
});

describe('the claim of a key', () => {
  it('is written after the rate limit has granted the call, and before its bytes are sent', async () => {
    const watched = watchedJournal();
    const seen: string[][] = [];
    const fetch: typeof globalThis.fetch = (...request) => {
      seen.push(watched.written());
      return fake.fetch(...request);
    };
    const rateLimit = { limit: 1, windowMs: 60_000, group: crypto.randomUUID() };
    const messaging = clientOf({ journal: watched.journal, fetch, rateLimit });
    const abort = new AbortController();
    await messaging.send(mail, { once: 'a' });
    const waiting = messaging.send(mail, { once: 'b', signal: abort.signal });
    await expect.poll(() => watched.steps.filter((one) => one === 'get').length).toBe(2);
    await expect.poll(() => messaging.rateLimit.state()?.queued).toBe(1);
    expect(watched.written()).toEqual(['claimed', 'answered']);
    abort.abort(new Error('enough'));
    await failureOf(waiting);
    expect(watched.written()).toEqual(['claimed', 'answered']);
    expect(seen).toEqual([['claimed']]);
  });

  it('is renewed before each further attempt, so that no other process takes it over', async () => {
    fake.fail(call, { status: 429, retryAfter: 30 });
    fake.fail(call, { slow: 25_000, after: 1 }); // the first claim expires before the answer comes
    const watched = watchedJournal();
    const messaging = clientOf({ journal: watched.journal, rateLimit: false });
    // Another process watches the key from the first claim on, and would make the call again.
    const other = clientOf({ journal: watched.journal, rateLimit: false });
    const again = { once, retry: { unknownOutcome: true }, deadline: 90_000 };
    const watching = new Promise<Answer<unknown>>((resolve) => {
      messaging.once('request', () => resolve(other.send(mail, again).withResponse()));
    });
    const [first, second] = await Promise.all([messaging.send(mail, { once }), watching]);
    expect(second).toMatchObject({ data: first, replayed: true });
    expect(watched.written()).toEqual(['claimed', 'claimed', 'claimed', 'answered']);
    const idle = watched.texts.map((text) => text.includes('"idle":true'));
    expect(idle.filter(Boolean)).toHaveLength(1); // during the pause after the 429
    expect(idle.at(-2)).toBe(false);
    expect(fake.outbox).toHaveLength(1);
  });

  it('makes other callers wait, within their own deadline', async () => {
    await sendThenKill();
    const before = fake.requests.length;
    const failure = await failureOf(clientOf().send(mail, { once, deadline: 5_000 }));
    expect(failure).toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      outcome: 'unknown', // the other call may take effect
      message: expect.stringContaining('make this call again with the same key') as string,
    });
    expect(fake.requests).toHaveLength(before);
  });

  it('makes other callers wait until they abort, which ends their wait at once', async () => {
    fake = createFakeMessaging({ clock: { mode: 'manual' } });
    await sendThenKill();
    const abort = new AbortController();
    const waiting = clientOf().send(mail, { once, signal: abort.signal });
    await new Promise((resolve) => setTimeout(resolve, 20));
    abort.abort('enough');
    expect(await failureOf(waiting)).toBe('enough');
    expect(waiting.outcome).toBe('unknown');
  });

  it('of a killed process becomes unknown when it expires', async () => {
    await sendThenKill();
    const messaging = clientOf();
    const waiting = messaging.send(mail, { once });
    expect(await failureOf(waiting)).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
      outcome: 'unknown',
      message: expect.stringContaining(once) as string,
    });
    expect(waiting.outcome).toBe('unknown');
    expect(await statesOf(messaging)).toEqual(['unknown']);
    expect(fake.requests).toEqual([]);
  });

  it.each<[string, MessagingOptions]>([
    ['a 429', {}],
    ['a refused connection', { fetch: () => Promise.reject(unreachable) }],
  ])(
    'of a process that was killed in the pause after %s expires, then the call is sent',
    async (_, options) => {
      fake.fail(call, { status: 429, retryAfter: 20 });
      const watched = watchedJournal();
      let writes = 0;
      // The process claims the key, notes that the attempt did nothing, and is killed.
      watched.before((verb) => {
        const isKilled = verb === 'swap' && ++writes > 2;
        return isKilled ? new Promise(() => undefined) : undefined;
      });
      const dying = clientOf({ journal: watched.journal, rateLimit: false, ...options });
      dying.send(mail, { once }).catch(() => undefined);
      await expect.poll(() => writes).toBeGreaterThan(2);
      expect(fake.outbox).toHaveLength(0);
      const next = clientOf({ journal: watched.memory });
      expect(await next.send(mail, { once })).toMatchObject({ emails: [{}] });
      expect(fake.outbox).toHaveLength(1);
      expect(await statesOf(next)).toEqual(['answered']);
    },
  );

  it('is removed if the journal fails after the pause', async () => {
    fake.fail(call, { status: 429, retryAfter: 20 });
    const watched = watchedJournal();
    let writes = 0;
    let isBack = false;
    watched.before((verb) => {
      const isDown = verb === 'swap' && ++writes > 2 && !isBack;
      return isDown ? Promise.reject(new Error('down')) : undefined;
    });
    const messaging = clientOf({ journal: watched.journal, rateLimit: false });
    messaging.on('warning', () => undefined);
    const failure = await failureOf(messaging.send(mail, { once }));
    expect(failure).toMatchObject({ code: 'JOURNAL_UNAVAILABLE', outcome: 'not-sent' });
    isBack = true;
    const startedAt = fake.clock.now();
    await messaging.send(mail, { once });
    expect(fake.clock.now() - startedAt).toBeLessThan(1_000); // it does not wait for a claim
    expect(fake.outbox).toHaveLength(1);
  });

  it('is not taken over before it expires, also if the caller allows a repeat', async () => {
    await sendThenKill({ timeout: 600_000 });
    const again = { once, retry: { unknownOutcome: true } };
    const early = clientOf().send(mail, { ...again, deadline: 250_000 });
    expect(await failureOf(early)).toMatchObject({ outcome: 'unknown' });
    expect(fake.requests).toEqual([]);
    await clientOf().send(mail, again); // waits until the claim expires
    expect(fake.outbox).toHaveLength(1);
    expect((await clientOf().send(mail, { once }).withResponse()).replayed).toBe(true);
  });
});

describe('the claim of a long call', () => {
  const minuteMs = 60_000;
  /** A call without a time limit whose response takes `ms`, and the entries that it wrote. */
  const startSlowCall = (ms: number, options: MessagingOptions, own: RequestOptions = {}) => {
    fake.fail(call, { slow: ms });
    const watched = watchedJournal();
    const messaging = clientOf({ journal: watched.journal, ...options });
    const warnings: string[] = [];
    messaging.on('warning', ({ message }) => warnings.push(message));
    const sending = () => messaging.send(mail, { once, ...own });
    return { watched, messaging, warnings, sending };
  };
  const claimsIn = (texts: readonly string[]) =>
    texts
      .filter((text) => text.includes('"claimed"'))
      .map((text) => JSON.parse(text) as { limitMs: unknown; id: string });

  it.each([
    ['of the client', { timeout: Infinity }, {}],
    ['of the call', {}, { timeout: Infinity }],
    ['of an hour', { timeout: 60 * minuteMs }, {}],
  ])(
    'is renewed every minute under a `timeout` %s, and no other call replaces it',
    async (_, options, own) => {
      const { watched, messaging, sending } = startSlowCall(20.5 * minuteMs, options, own);
      const other = clientOf({ journal: watched.journal });
      const again = { once, retry: { unknownOutcome: true } };
      const watching = new Promise<Answer<unknown>>((resolve) => {
        messaging.once('request', () => resolve(other.send(mail, again).withResponse()));
      });
      const [first, second] = await Promise.all([sending(), watching]);
      expect(second).toMatchObject({ data: first, replayed: true });
      expect(fake.outbox).toHaveLength(1);
      const claims = claimsIn(watched.texts);
      expect(claims).toHaveLength(21);
      expect(new Set(claims.map(({ id }) => id)).size).toBe(1);
      expect(new Set(claims.map(({ limitMs }) => limitMs))).toEqual(new Set([5 * minuteMs]));
    },
  );

  it('is not renewed once its caller has given up; a late response is still stored', async () => {
    const { watched, messaging, warnings, sending } = startSlowCall(
      4 * minuteMs,
      { timeout: Infinity },
      { deadline: 1.5 * minuteMs },
    );
    expect(await failureOf(sending())).toMatchObject({ outcome: 'unknown' });
    expect(watched.written()).toEqual(['claimed', 'claimed', 'unknown']);
    expect(warnings).toEqual([expect.stringContaining('keeps the process alive')]);
    const waiting = clientOf({ journal: watched.journal }).send(mail, { once });
    expect(await failureOf(waiting)).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    await fake.clock.advance('3m');
    await expect.poll(() => statesOf(messaging)).toEqual(['answered']);
    expect(watched.written()).toEqual(['claimed', 'claimed', 'unknown', 'answered']);
  });

  it('prevents a further attempt if it could not be renewed in time', async () => {
    fake.fail(call, { status: 429, retryAfter: 90 });
    const watched = watchedJournal();
    const messaging = clientOf({ journal: watched.journal, rateLimit: false });
    // The journal is down while the call waits for its second attempt, and works again for that
    // attempt.
    watched.before((verb, to) =>
      verb === 'swap' && to?.includes('renewals') ? Promise.reject(new Error('down')) : undefined,
    );
    messaging.on('warning', () => undefined);
    const sending = messaging.send(mail, { once });
    expect(await failureOf(sending)).toMatchObject({ code: 'JOURNAL_UNAVAILABLE' });
    expect(fake.requests).toHaveLength(1);
    expect(fake.outbox).toEqual([]);
  });

  it('is renewed between attempts, so that others wait for a call that waits for `Retry-After`', async () => {
    fake.fail(call, { status: 429, retryAfter: 90 });
    const watched = watchedJournal();
    const messaging = clientOf({ journal: watched.journal, rateLimit: false });
    const other = clientOf({ journal: watched.journal, rateLimit: false });
    const watching = new Promise<Answer<unknown>>((resolve) => {
      messaging.once('request', () => resolve(other.send(mail, { once }).withResponse()));
    });
    const [first, second] = await Promise.all([messaging.send(mail, { once }), watching]);
    expect(second).toMatchObject({ data: first, replayed: true });
    expect(fake.outbox).toHaveLength(1);
  });

  it('stores the response even if the claim could not be renewed', async () => {
    const { watched, messaging, sending } = startSlowCall(10 * minuteMs, { timeout: Infinity });
    watched.before((verb, to) =>
      verb === 'swap' && to?.includes('renewals') ? Promise.reject(new Error('down')) : undefined,
    );
    await sending();
    expect(await statesOf(messaging)).toEqual(['answered']);
    expect((await clientOf({ journal: watched.journal }).send(mail, { once })).emails).toHaveLength(
      1,
    );
    expect(fake.outbox).toHaveLength(1);
  });

  it('counts as live for an hour if an earlier version wrote no limit', async () => {
    await sendThenKill();
    const [item] = await journal.list('once/');
    const old = item!.value.replace(/"limitMs":\d+/, '"limitMs":null');
    await journal.swap(item!.key, item!.value, old);
    const again = { once, retry: { unknownOutcome: true } };
    const early = clientOf().send(mail, { ...again, deadline: 55 * minuteMs });
    expect(await failureOf(early)).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect(await failureOf(clientOf().send(mail, { once }))).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
    });
    expect(fake.requests).toEqual([]);
    await clientOf().send(mail, again);
    expect(fake.outbox).toHaveLength(1);
  });
});

describe('a call that waits for the claim of another process', () => {
  it('emits one warning when the wait begins, with the time when it ends', async () => {
    await sendThenKill();
    const messaging = clientOf();
    const warnings: string[] = [];
    messaging.on('warning', ({ message }) => warnings.push(message));
    const before = Date.now();
    await failureOf(messaging.send(mail, { once }));
    expect(warnings).toEqual([expect.stringContaining(once)]);
    const [until = ''] = /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(warnings[0]!) ?? [];
    expect(Date.parse(until) - before).toBeGreaterThan(40_000);
    expect(Date.parse(until) - before).toBeLessThan(60_000);
  });

  it('emits no warning if the key is free or answered', async () => {
    const messaging = clientOf();
    const warnings: string[] = [];
    messaging.on('warning', ({ message }) => warnings.push(message));
    await Promise.all([messaging.send(mail, { once }), messaging.send(mail, { once })]);
    await messaging.send(mail, { once });
    expect(warnings).toEqual([]);
  });
});

describe('a failed call', () => {
  it.each([
    ['rejected', { status: 422 }],
    ['not-sent', undefined],
  ] as const)('that was %s leaves its key free', async (outcome, fault) => {
    const refused = () => Promise.reject(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }));
    const messaging = clientOf({ retries: 0, ...(!fault && { fetch: refused }) });
    if (fault) {
      fake.fail(call, fault);
    }
    expect(await failureOf(messaging.send(mail, { once }))).toMatchObject({ outcome });
    expect(await messaging.journal.list()).toEqual([]);
    await clientOf().send({ ...mail, subject: 'Corrected' }, { once });
    expect(fake.outbox).toHaveLength(1);
  });

  it('with an unknown outcome is stored as `unknown` at once, and not sent again', async () => {
    fake.fail(call, { loseAnswer: true });
    const messaging = clientOf();
    expect(await failureOf(messaging.send(mail, { once }))).toMatchObject({ outcome: 'unknown' });
    expect(await statesOf(messaging)).toEqual(['unknown']);
    for (const other of [messaging, clientOf()]) {
      expect(await failureOf(other.send(mail, { once }))).toMatchObject({
        code: 'OUTCOME_UNKNOWN',
        outcome: 'unknown',
      });
    }
    expect(fake.outbox).toHaveLength(1);
    await clientOf().send(mail, { once, retry: { unknownOutcome: true } });
    expect(fake.outbox).toHaveLength(2);
    await clientOf().send(mail, { once });
    expect(fake.outbox).toHaveLength(2);
  });

  it('stays unknown if a later attempt of it certainly did nothing', async () => {
    fake.fail(call, { loseAnswer: true });
    await failureOf(clientOf().send(mail, { once }));
    fake.fail(call, { status: 422 });
    const again = { once, retry: { unknownOutcome: true } };
    expect(await failureOf(clientOf().send(mail, again))).toMatchObject({ status: 422 });
    expect(await failureOf(clientOf().send(mail, { once }))).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
    });
  });

  it('counts as unknown if its response was rejected', async () => {
    fake.fail(call, { status: 200, body: { success: true, data: { emails: 'none' } } });
    const strict = clientOf({ validation: { responses: 'throw' } });
    expect(await failureOf(strict.send(mail, { once }))).toMatchObject({ outcome: 'unknown' });
    expect(await statesOf(strict)).toEqual(['unknown']);
  });

  it('is stored as answered if its response comes late', async () => {
    let answer: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const fetch: typeof globalThis.fetch = async (...request) => {
      const response = await fake.fetch(...request);
      await held;
      return response;
    };
    const messaging = clientOf({ fetch });
    const abort = new AbortController();
    const sending = messaging.send(mail, { once, signal: abort.signal });
    await expect.poll(() => fake.outbox.length).toBe(1);
    abort.abort(new Error('enough'));
    expect(await failureOf(sending)).toMatchObject({ message: 'enough' });
    expect(sending.outcome).toBe('unknown');
    await expect.poll(() => statesOf(messaging)).toEqual(['unknown']);
    answer();
    await expect.poll(() => statesOf(messaging)).toEqual(['answered']);
    const { replayed, data } = await clientOf().send(mail, { once }).withResponse();
    expect([replayed, data.emails[0]?.email]).toEqual([true, fake.outbox[0]?.id]);
  });

  it('is not made again if the response to its first attempt comes late', async () => {
    const fetch: typeof globalThis.fetch = async (...request) => {
      const response = await fake.fetch(...request);
      if (fake.outbox.length === 1) {
        await new Promise((resolve) => setTimeout(resolve, 60));
      }
      return response;
    };
    const messaging = clientOf({ fetch, timeout: 30, retries: 5 });
    const again = { once, retry: { unknownOutcome: true } };
    await messaging.send(mail, again);
    expect(fake.outbox).toHaveLength(1);
  });
});

describe('a call with two attempts', () => {
  const again = { once, retry: { unknownOutcome: true } };
  /**
   * The first attempt is answered while the second one is in flight, which then ends as `second`
   * does.
   */
  const callWithTwoAttempts = async (
    second: (...request: Parameters<typeof fetch>) => Promise<Response>,
  ) => {
    fake = createFakeMessaging({ clock: { mode: 'manual' } });
    let attempts = 0;
    const own: typeof globalThis.fetch = async (...request) => {
      attempts += 1;
      if (attempts === 1) {
        const response = await fake.fetch(...request);
        await expect.poll(() => attempts).toBe(2);
        return response;
      }
      await expect.poll(() => statesOf(clientOf())).toEqual(['answered']);
      return second(...request);
    };
    for (const symbol of Object.getOwnPropertySymbols(fake.fetch)) {
      Object.defineProperty(own, symbol, { value: Reflect.get(fake.fetch, symbol) });
    }
    const messaging = clientOf({ fetch: own, timeout: 5_000, retries: 1 });
    messaging.on('warning', () => undefined);
    const sending = messaging.send(mail, again);
    sending.catch(() => undefined);
    await expect.poll(() => attempts).toBe(1);
    await fake.clock.advance(5_000); // the time limit of the first attempt
    await fake.clock.advance(1_000); // the backoff
    return sending;
  };

  it('keeps the response to the first attempt if the second one is lost', async () => {
    const lost = () => Promise.reject(new Error('lost'));
    expect(await failureOf(callWithTwoAttempts(lost))).toMatchObject({ outcome: 'unknown' });
    expect(await statesOf(clientOf())).toEqual(['answered']);
    expect((await clientOf().send(mail, { once })).emails[0]?.email).toBe(fake.outbox[0]?.id);
  });

  it('keeps the responses to both attempts', async () => {
    await callWithTwoAttempts((...request) => fake.fetch(...request));
    expect(fake.outbox).toHaveLength(2);
    const texts = async () => (await journal.list('once/')).map(({ value }) => value).join('\n');
    for (const { id } of fake.outbox) {
      await expect.poll(texts).toContain(id);
    }
  });
});

describe('a key that another process has changed during the call', () => {
  /** Another process writes its entry over the claim while the request is in flight. */
  const writing =
    (change: object): typeof globalThis.fetch =>
    async (...request) => {
      const [item] = await journal.list('once/');
      const foreign = { ...(JSON.parse(item!.value) as object), id: 'foreign', ...change };
      await journal.swap(item!.key, item!.value, JSON.stringify(foreign));
      return fake.fetch(...request);
    };

  it.each([
    ['another claim', { state: 'claimed' }, 'claimed'],
    ['the outcome of a call with other content', { state: 'unknown', print: 'other' }, 'unknown'],
  ])(
    'keeps %s; the response is stored next to it, and a warning says so',
    async (_, change, state) => {
      const messaging = clientOf();
      const warnings: string[] = [];
      messaging.on('warning', ({ message }) => warnings.push(message));
      await messaging.with({ fetch: writing(change) }).send(mail, { once });
      await expect.poll(() => statesOf(messaging)).toEqual([state, 'answered']);
      expect(warnings).toEqual([expect.stringContaining('was changed by another process')]);
      const texts = (await journal.list('')).map(({ value }) => value).join('\n');
      expect(texts).toContain(fake.outbox[0]!.id);
      if (state === 'unknown') {
        // Forgetting the key forgets both entries.
        expect(await messaging.journal.forget(once, { call })).toBe(true);
        expect(await journal.list('once/')).toEqual([]);
      }
    },
  );

  it('is answered if the other process wrote `unknown` for the same call', async () => {
    const messaging = clientOf();
    await messaging.with({ fetch: writing({ state: 'unknown' }) }).send(mail, { once });
    expect(await statesOf(messaging)).toEqual(['answered']);
  });

  it('is written again if the store has lost it', async () => {
    const fetch: typeof globalThis.fetch = async (...request) => {
      const [item] = await journal.list('once/');
      await journal.swap(item!.key, item!.value, undefined);
      return fake.fetch(...request);
    };
    await clientOf({ fetch }).send(mail, { once });
    await clientOf().send(mail, { once });
    expect(fake.outbox).toHaveLength(1);
  });

  it('is rejected if its entry cannot be read', async () => {
    await clientOf().send(mail, { once });
    const [item] = await journal.list('once/');
    await journal.swap(item!.key, item!.value, '"something else"');
    expect(await failureOf(clientOf().send(mail, { once }))).toMatchObject({
      code: 'JOURNAL_UNREADABLE',
      outcome: 'not-sent',
    });
    expect(fake.outbox).toHaveLength(1);
  });
});

describe('a journal that does not answer', () => {
  const failAsUnreachable = () =>
    Promise.reject(new Error('connect ECONNREFUSED redis://ann:s3cret@db:6379'));

  it.each(['get', 'swap'] as const)(
    'during the %s before the request ends the call unsent',
    async (verb) => {
      const watched = watchedJournal();
      watched.before((one) => (one === verb ? failAsUnreachable() : undefined));
      const messaging = clientOf({ journal: watched.journal });
      const failure = await failureOf(messaging.send(mail, { once }));
      expect(failure).toMatchObject({ code: 'JOURNAL_UNAVAILABLE', outcome: 'not-sent' });
      expect(isPostreelError(failure) && failure.message).not.toContain('s3cret');
      expect(fake.requests).toEqual([]);
      watched.before(() => undefined);
      await messaging.send(mail, { once });
      expect(fake.outbox).toHaveLength(1);
    },
  );

  it('to the claim of a call whose outcome is unknown leaves that unknown, though it wrote the claim', async () => {
    fake.fail(call, { loseAnswer: true });
    await failureOf(clientOf().send(mail, { once }));
    const swap: JournalStore['swap'] = async (key, from, to) => {
      const stored = await journal.swap(key, from, to);
      return to?.includes('"claimed"') ? failAsUnreachable() : stored;
    };
    const again = { once, retry: { unknownOutcome: true } };
    const repeated = clientOf({ journal: { ...journal, swap } }).send(mail, again);
    expect(await failureOf(repeated)).toMatchObject({ code: 'JOURNAL_UNAVAILABLE' });
    await expect.poll(() => statesOf(clientOf())).toEqual(['unknown']);
    expect(await failureOf(clientOf().send(mail, { once }))).toMatchObject({
      code: 'OUTCOME_UNKNOWN',
    });
    expect(fake.outbox).toHaveLength(1);
  });

  it('after the response lets the call resolve, warns, and is written to once it answers', async () => {
    const watched = watchedJournal();
    let isDown = false;
    watched.before(() => (isDown ? failAsUnreachable() : undefined));
    const fetch: typeof globalThis.fetch = async (...request) => {
      isDown = true;
      return fake.fetch(...request);
    };
    const messaging = clientOf({ journal: watched.journal });
    const warnings: string[] = [];
    messaging.on('warning', ({ message }) => warnings.push(message));
    const { emails } = await messaging.with({ fetch }).send(mail, { once });
    expect(emails).toHaveLength(1);
    await expect.poll(() => warnings.length).toBeGreaterThan(0);
    expect(warnings[0]).toMatch(/^The journal could not be .* as soon as the journal answers/);
    isDown = false;
    const other = clientOf({ journal: watched.journal });
    await expect.poll(() => statesOf(other)).toEqual(['answered']);
    expect((await other.send(mail, { once })).emails).toEqual(emails);
    expect(fake.outbox).toHaveLength(1);
  });

  it('for longer than the background retries is written to with the next call', async () => {
    const watched = watchedJournal();
    let isDown = false;
    watched.before(() => (isDown ? failAsUnreachable() : undefined));
    const fetch: typeof globalThis.fetch = async (...request) => {
      isDown = true;
      return fake.fetch(...request);
    };
    const messaging = clientOf({ journal: watched.journal });
    const warnings: string[] = [];
    messaging.on('warning', ({ message }) => warnings.push(message));
    await messaging.with({ fetch }).send(mail, { once });
    await expect.poll(() => warnings.at(-1)).toContain('still cannot be written');
    isDown = false;
    await messaging.send(mail, { once: 'another' });
    await expect
      .poll(() => statesOf(clientOf({ journal: watched.journal })))
      .toEqual(['answered', 'answered']);
  });

  it('when a late response arrives starts the background retries again', async () => {
    fake.fail(call, { slow: 100_000 });
    const watched = watchedJournal();
    const startedAt = fake.clock.now();
    const messaging = clientOf({ journal: watched.journal, timeout: 10_000, retries: 0 });
    messaging.on('warning', () => undefined);
    // The write of `unknown` is retried from the 10th second on, the last time in the 150th.
    watched.before(() => {
      const atMs = fake.clock.now() - startedAt;
      return atMs > 5_000 && atMs < 160_000 ? failAsUnreachable() : undefined;
    });
    expect(await failureOf(messaging.send(mail, { once }))).toMatchObject({ outcome: 'unknown' });
    const other = clientOf({ journal: watched.memory });
    await expect.poll(() => statesOf(other)).toEqual(['answered']);
    expect(fake.outbox).toHaveLength(1);
  });

  it.each([
    ['its claim', 0],
    ['its answer', 1],
  ] as const)('at %s does not hold up a caller who aborts', async (_, nth) => {
    const watched = watchedJournal();
    let swaps = 0;
    watched.before((verb) =>
      verb === 'swap' && swaps++ >= nth ? new Promise(() => undefined) : undefined,
    );
    fake = createFakeMessaging({ clock: { mode: 'manual' } }); // no time passes
    const abort = new AbortController();
    const sending = clientOf({ journal: watched.journal }).send(mail, {
      once,
      signal: abort.signal,
    });
    await expect.poll(() => swaps).toBeGreaterThan(nth);
    abort.abort('enough');
    if (nth === 0) {
      expect(await failureOf(sending)).toBe('enough');
      expect(sending.outcome).toBe('not-sent');
      expect(fake.requests).toEqual([]);
    } else {
      expect((await sending).emails).toHaveLength(1); // the response has come
    }
  });

  it('removes a claim that was written for an aborted call', async () => {
    const watched = watchedJournal();
    let write: () => void = () => undefined;
    watched.before((verb) =>
      verb === 'swap' && watched.written().length === 0
        ? new Promise((resolve) => {
            write = resolve;
          })
        : undefined,
    );
    const abort = new AbortController();
    const messaging = clientOf({ journal: watched.journal });
    const sending = messaging.send(mail, { once, signal: abort.signal });
    await expect.poll(() => watched.steps).toEqual(['get']);
    await new Promise((resolve) => setImmediate(resolve));
    abort.abort('enough');
    await failureOf(sending);
    write();
    await expect.poll(() => watched.written()).toEqual(['claimed', 'free']);
    await messaging.send(mail, { once });
    expect(fake.outbox).toHaveLength(1);
  });
});
