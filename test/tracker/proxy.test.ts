import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type ProxiedEvent,
  type TrackProxyOptions,
  createTrackProxy,
} from 'postreel/tracker/proxy';
import { Callers } from '../../src/tracker/proxy/callers.js';
import { Sender } from '../../src/tracker/proxy/sender.js';
import { type Service, startService } from '../support/tracker/service.js';

let service: Service;
beforeEach(async () => {
  service = await startService();
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  await service.close();
});

const proxyOf = (fetching?: typeof fetch, more: Partial<TrackProxyOptions> = {}) =>
  createTrackProxy({
    apiKey: 'sk_test',
    baseUrl: service.url,
    ...(fetching && { fetch: fetching }),
    ...more,
  });

const request = (body: unknown, type = 'application/json', headers: Record<string, string> = {}) =>
  new Request('https://app.test/collect/v1/track', {
    method: 'POST',
    headers: { 'Content-Type': type, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const event = (id: string) => ({
  id,
  event: 'x',
  email: 'ann@example.com',
  data: { a: 1 },
});

describe('the proxy', () => {
  it('forwards an event with the API key of the server and without its id', async () => {
    const response = await proxyOf()(request(event('1')));
    expect([response.status, await response.json()]).toEqual([200, { success: true }]);
    expect(service.arrivals).toMatchObject([
      { event: 'x', email: 'ann@example.com', data: { a: 1 } },
    ]);
    expect(service.arrivals[0]?.headers.authorization).toBe('Bearer sk_test');
    expect(service.arrivals[0]).not.toHaveProperty('id');
  });
  it('sends an event once, however often and fast it comes', async () => {
    const proxy = proxyOf();
    const statuses = await Promise.all([1, 2, 3].map(() => proxy(request(event('1')))));
    statuses.push(await proxy(request(event('1'))));
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(service.arrivals).toHaveLength(1);
  });
  it('sends an event again if the service did not take it', async () => {
    const proxy = proxyOf();
    service.reply = () => ({ status: 503 });
    expect((await proxy(request(event('1')))).status).toBe(503);
    service.reply = () => ({ status: 200 });
    expect((await proxy(request(event('1')))).status).toBe(200);
    expect(service.accepted).toHaveLength(1);
  });
  it.each([
    [65_536, 200],
    [65_537, 413],
  ])('answers a body of %i bytes with %i', async (size, status) => {
    const empty = JSON.stringify({ ...event('1'), data: { a: '' } });
    const data = { a: 'x'.repeat(size - empty.length) };
    expect((await proxyOf()(request({ ...event('1'), data }))).status).toBe(status);
  });
  it('reads a body that is not a web stream, as some servers pass it', async () => {
    const odd = request(event('1'));
    const text = JSON.stringify(event('1'));
    Object.defineProperty(odd, 'body', { value: { pipe: () => undefined } });
    Object.defineProperty(odd, 'text', { value: () => Promise.resolve(text) });
    expect((await proxyOf()(odd)).status).toBe(200);
    const none = request(event('2'));
    Object.defineProperty(none, 'body', { value: undefined });
    Object.defineProperty(none, 'text', { value: () => Promise.resolve('x'.repeat(65_537)) });
    expect((await proxyOf()(none)).status).toBe(413);
  });
  it('sends the events of one contact in order, and those of other contacts in parallel', async () => {
    const begun: string[] = [];
    const open: (() => void)[] = [];
    const proxy = proxyOf((_, init) => {
      begun.push((JSON.parse(init!.body as string) as { event: string }).event);
      return new Promise((resolve) => open.push(() => resolve(Response.json({ success: true }))));
    });
    const items = ['a', 'b'].map((name) => ({ ...event(name), event: name }));
    const answer = proxy(request([...items, { ...event('c'), event: 'c', email: 'bob@b.c' }]));
    await expect.poll(() => begun).toEqual(['a', 'c']);
    open.forEach((end) => end());
    await expect.poll(() => begun).toEqual(['a', 'c', 'b']);
    open.forEach((end) => end());
    expect(await (await answer).json()).toEqual({ success: true, results: [200, 200, 200] });
  });
  it('asks for no cache, and warns once of a redirect of the service', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const asked: (RequestInit | undefined)[] = [];
    const proxy = proxyOf(
      (_, init) => {
        asked.push(init);
        return Promise.resolve(new Response(null, { status: 308, headers: { location: '/v1/' } }));
      },
      { baseUrl: 'https://moved.test' },
    );
    const statuses = [await proxy(request(event('1'))), await proxy(request(event('2')))];
    expect(statuses.map(({ status }) => status)).toEqual([503, 503]);
    expect(asked[0]).toMatchObject({ cache: 'no-store', redirect: 'manual' });
    expect(warn.mock.calls).toEqual([[expect.stringContaining('https://moved.test/v1/track')]]);
  });
  it('sends at least one event a minute, however low its limit', async () => {
    const proxy = proxyOf(undefined, { perMinute: 0 });
    expect((await proxy(request(event('1')))).status).toBe(200);
    expect((await proxy(request(event('2')))).status).toBe(429);
  });
  it('does not follow a redirect with the API key', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const asked: (RequestInit | undefined)[] = [];
    const proxy = proxyOf(
      (_, init) => {
        asked.push(init);
        return Promise.resolve(new Response(null, { status: 307, headers: { location: '/' } }));
      },
      { baseUrl: 'https://elsewhere.test' },
    );
    expect((await proxy(request(event('1')))).status).toBe(503);
    expect(asked).toMatchObject([{ redirect: 'manual' }]);
    expect(warn).toHaveBeenCalledOnce();
  });
  it('answers 502 when the service cannot be reached', async () => {
    const proxy = proxyOf(() => Promise.reject(new TypeError('down')));
    expect((await proxy(request(event('1')))).status).toBe(502);
  });
  it.each([
    ['a form of another site', request(event('1'), 'text/plain'), 415],
    ['a GET', new Request('https://app.test/collect/v1/track'), 415],
    ['invalid JSON', request('{'), 400],
    ['a JSON string', request('"x"'), 400],
  ])('rejects %s', async (_, bad, status) => {
    expect((await proxyOf()(bad)).status).toBe(status);
    expect(service.arrivals).toEqual([]);
  });
  it('keeps to 1000 a minute, and holds each slot until a minute after its answer', async () => {
    vi.useFakeTimers({ now: 0 });
    const sent: number[] = [];
    const take = () => {
      sent.push(Date.now());
      return Promise.resolve(Response.json({ success: true }));
    };
    const proxy = proxyOf(take, { perMinute: 1000 });
    const statuses = async (count: number) => {
      const responses = Array.from({ length: count }, (_, n) =>
        proxy(request(event(`${Date.now()}-${n}`))),
      );
      return (await Promise.all(responses)).map(({ status }) => status);
    };
    expect(new Set(await statuses(1000))).toEqual(new Set([200]));
    vi.advanceTimersByTime(30_000);
    const refused = await proxy(request(event('late')));
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '30']);
    vi.advanceTimersByTime(30_000);
    expect(new Set(await statuses(1000))).toEqual(new Set([200]));
    expect(sent).toHaveLength(2000);
  });
  it('rejects all events after a 429 until Retry-After is over', async () => {
    vi.useFakeTimers({ now: 0 });
    let status = 429;
    const proxy = proxyOf(() =>
      Promise.resolve(
        Response.json({ success: true }, { status, headers: { 'Retry-After': '20' } }),
      ),
    );
    expect((await proxy(request(event('1')))).status).toBe(429);
    status = 200;
    vi.advanceTimersByTime(19_000);
    const refused = await proxy(request(event('2')));
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '1']);
    vi.advanceTimersByTime(1_000);
    expect((await proxy(request(event('1')))).status).toBe(200);
  });
  it('sends one event first after a 429, and with each answer one more', async () => {
    vi.useFakeTimers({ now: 0 });
    const proxy = proxyOf(
      vi
        .fn<typeof fetch>(() => Promise.resolve(Response.json({ success: true })))
        .mockResolvedValueOnce(new Response('', { status: 429, headers: { 'Retry-After': '5' } })),
    );
    await proxy(request(event('0')));
    vi.advanceTimersByTime(5_000);
    const list = (id: string) =>
      request(
        ['ann', 'bob', 'cay', 'dan'].map((name) => ({
          ...event(id + name),
          email: `${name}@example.com`,
        })),
      );
    for (const results of [
      [200, 429, 429, 429],
      [200, 200, 429, 429],
      [200, 200, 200, 200],
    ]) {
      const answer = await proxy(list(results.join()));
      expect(await answer.json()).toMatchObject({ results });
      expect(answer.headers.get('Retry-After')).toBe(results.includes(429) ? '1' : null);
    }
  });
  it('waits as long as after any 429 when its clock is set back', async () => {
    vi.useFakeTimers({ now: 3_600_000 });
    const proxy = proxyOf(
      vi
        .fn<typeof fetch>(() => Promise.resolve(Response.json({ success: true })))
        .mockResolvedValueOnce(new Response('', { status: 429 })),
    );
    expect((await proxy(request(event('1')))).status).toBe(429);
    vi.setSystemTime(0);
    expect((await proxy(request(event('1')))).headers.get('Retry-After')).toBe('60');
    vi.advanceTimersByTime(60_000);
    expect((await proxy(request(event('1')))).status).toBe(200);
  });

  it('leaves half of the limit to the rest of the project', async () => {
    vi.useFakeTimers({ now: 0 });
    const proxy = proxyOf(() => Promise.resolve(Response.json({ success: true })));
    const responses = Array.from({ length: 600 }, (_, n) => proxy(request(event(`${n}`))));
    const statuses = (await Promise.all(responses)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(500);
    expect(statuses.filter((status) => status === 429)).toHaveLength(100);
  });
});

describe('a public route', () => {
  it('forwards only event, email and data', async () => {
    const extra = {
      subscribed: true,
      projectId: 'x',
      headers: {},
      __proto__x: 1,
    };
    await proxyOf()(request({ ...event('1'), ...extra }));
    const { headers, index, path, ...sent } = service.arrivals[0]!;
    expect([Object.keys(sent).sort(), index, path, 'cookie' in headers]).toEqual([
      ['data', 'email', 'event'],
      0,
      '/v1/track',
      false,
    ]);
  });
  it('takes the contact from authorize(), which knows the session', async () => {
    const proxy = proxyOf(undefined, {
      authorize: (asked, { event: name, data }) =>
        asked.headers.get('Cookie') === 'session=1'
          ? { event: name, data, email: 'bob@example.com' }
          : null,
    });
    const answer = await proxy(request(event('1'), 'application/json', { Cookie: 'session=1' }));
    const refused = await proxy(request(event('2')));
    expect([answer.status, refused.status]).toEqual([200, 403]);
    expect(service.arrivals.map(({ email }) => email)).toEqual(['bob@example.com']);
  });
  it('sends no contact if authorize() returns none', async () => {
    const authorize = (_: Request, { event: name }: ProxiedEvent) => ({ event: name });
    await proxyOf(undefined, { authorize })(request(event('1')));
    expect(service.arrivals).toMatchObject([{ event: 'x' }]);
    expect(service.arrivals[0]).not.toHaveProperty('email');
    expect(service.arrivals[0]).not.toHaveProperty('data');
  });
  it('sends nothing if authorize() fails', async () => {
    const authorize = () => Promise.reject(new Error('no database: postgres://secret'));
    const answer = await proxyOf(undefined, { authorize })(request(event('1')));
    expect([answer.status, await answer.text()]).toEqual([503, '{"success":false}']);
    expect(service.arrivals).toEqual([]);
  });
  it.each([
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['another subdomain', { 'Sec-Fetch-Site': 'same-site' }],
    ['another origin, in an old browser', { Origin: 'https://evil.test' }],
    ['an origin that ends like this one', { Origin: 'https://evil-app.test' }],
    ['an opaque origin', { Origin: 'null' }],
  ])('rejects %s', async (_, headers) => {
    const answer = await proxyOf()(request(event('1'), 'application/json', headers));
    expect([answer.status, service.arrivals]).toEqual([403, []]);
  });
  it.each([
    ['its own pages', { 'Sec-Fetch-Site': 'same-origin' }],
    ['its own pages, in an old browser', { Origin: 'https://app.test' }],
    ['its own pages behind another server', { Origin: 'https://shop.test', Host: 'shop.test' }],
  ])('serves %s', async (_, headers) => {
    const answer = await proxyOf()(request(event('1'), 'application/json', headers));
    expect(answer.status).toBe(200);
  });
  it('rejects a body above 64 KB, whatever its headers say', async () => {
    const answer = await proxyOf()(request({ ...event('1'), data: { text: 'x'.repeat(65_536) } }));
    expect([answer.status, service.arrivals]).toEqual([413, []]);
  });
  it('rejects more than 20 events', async () => {
    const events = Array.from({ length: 21 }, (_, n) => event(`${n}`));
    expect((await proxyOf()(request(events))).status).toBe(413);
    expect(service.arrivals).toEqual([]);
  });
  it.each([
    ['no name', { event: '' }],
    ['a name that is not a string', { event: 1 }],
    ['an email that is not a string', { event: 'x', email: { $ne: null } }],
    ['data that are not an object', { event: 'x', data: [1] }],
  ])('rejects an event with %s', async (_, bad) => {
    expect((await proxyOf()(request(bad))).status).toBe(400);
    expect(service.arrivals).toEqual([]);
  });
  it('sends each event of a list, and returns a result for each', async () => {
    service.reply = ({ event: name }) => ({
      status: name === 'bad' ? 422 : 200,
    });
    const answer = await proxyOf()(
      request([event('1'), { ...event('2'), event: 'bad' }, 'junk', event('4')]),
    );
    const body: unknown = await answer.json();
    expect([answer.status, body]).toEqual([200, { success: true, results: [200, 400, 400, 200] }]);
    expect(service.accepted).toHaveLength(2);
  });
  it('answers in time when the service hangs, and frees its slot a minute after that', async () => {
    vi.useFakeTimers({ now: 0 });
    const signals: (AbortSignal | null | undefined)[] = [];
    const hang = (_: unknown, init?: RequestInit) => {
      signals.push(init?.signal);
      return new Promise<Response>(() => undefined);
    };
    const proxy = proxyOf(hang, { perMinute: 1 });
    const answer = proxy(request(event('1')));
    await vi.advanceTimersByTimeAsync(10_000);
    expect([(await answer).status, signals[0]?.aborted]).toEqual([504, false]);
    await vi.advanceTimersByTimeAsync(50_000);
    expect(signals[0]?.aborted).toBe(true);
    vi.advanceTimersByTime(62_000); // with two seconds in which the request may still arrive
    const next = proxy(request(event('2')));
    await vi.advanceTimersByTimeAsync(10_000);
    expect([(await next).status, signals.length]).toEqual([504, 2]);
  });
  it('does not send an event again that is still in flight after a minute', async () => {
    vi.useFakeTimers({ now: 0 });
    let sends = 0;
    const proxy = proxyOf(
      () => {
        sends++;
        return new Promise<Response>(() => undefined);
      },
      { timeout: 120_000 },
    );
    const answer = proxy(request(event('1')));
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await answer).status).toBe(504);
    expect([(await proxy(request(event('1')))).status, sends]).toEqual([504, 1]);
  });
  it.each([
    [401, 503],
    [403, 503],
    [404, 503],
    [302, 503],
    [422, 400],
    [500, 502],
    [503, 503],
  ])('answers a %i with %i, and reveals nothing else', async (status, expected) => {
    const secret = 'key sk_test of project 7 is not valid';
    const headers = {
      Location: 'https://internal.test/login',
      'X-Secret': secret,
    };
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const proxy = proxyOf(() => Promise.resolve(new Response(secret, { status, headers })), {
      baseUrl: `https://answers-${status}.test`,
    });
    const answer = await proxy(request(event('1')));
    expect([answer.status, await answer.text()]).toEqual([expected, '{"success":false}']);
    expect([...answer.headers.keys()].sort()).toEqual(['cache-control', 'content-type']);
    expect(warn).toHaveBeenCalledTimes(status === 302 ? 1 : 0);
  });
  it('does not count a login page as a delivery', async () => {
    const proxy = proxyOf(() => Promise.resolve(new Response('<!doctype html>')));
    expect((await proxy(request(event('1')))).status).toBe(502);
  });
});

describe('an event that the service may have taken', () => {
  it.each([500, 502, 504, 408])('is never sent again after a %i', async (status) => {
    const proxy = proxyOf();
    service.reply = () => ({ status });
    const first = await proxy(request(event('1')));
    service.reply = () => ({ status: 200 });
    const again = await proxy(request([event('1'), event('2')]));
    expect([first.status, await again.json()]).toEqual([
      502,
      { success: true, results: [502, 200] },
    ]);
    expect(service.arrivals).toHaveLength(2);
  });
  it('is never sent again after a lost or unreadable answer', async () => {
    for (const fetching of [
      () => Promise.reject(new TypeError('reset')),
      () => Promise.resolve(new Response('<!doctype html>')),
    ]) {
      const send = vi.fn(fetching);
      const proxy = proxyOf(send);
      const statuses = [await proxy(request(event('1'))), await proxy(request(event('1')))];
      expect(statuses.map(({ status }) => status)).toEqual([502, 502]);
      expect(send).toHaveBeenCalledTimes(1);
    }
  });
  it('counts as taken once a late answer has come', async () => {
    vi.useFakeTimers({ now: 0 });
    let take: (response: Response) => void = () => undefined;
    const send = vi.fn(
      () =>
        new Promise<Response>((resolve) => {
          take = resolve;
        }),
    );
    const proxy = proxyOf(send);
    const first = proxy(request(event('1')));
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await first).status).toBe(504);
    const again = proxy(request(event('1')));
    await vi.advanceTimersByTimeAsync(1000);
    take(Response.json({ success: true }));
    expect((await again).status).toBe(200);
    expect((await proxy(request(event('1')))).status).toBe(200);
    expect(send).toHaveBeenCalledTimes(1);
  });
  it('does not hide the results of the other events', async () => {
    vi.useFakeTimers({ now: 0 });
    const proxy = proxyOf((_, init) =>
      (init!.body as string).includes('slow')
        ? new Promise<Response>(() => undefined)
        : Promise.resolve(Response.json({ success: true })),
    );
    const answer = proxy(request([{ ...event('1'), event: 'slow' }, event('2')]));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await (await answer).json()).toEqual({ success: true, results: [504, 200] });
  });
  it('stays in memory, however many other ids come', async () => {
    vi.useFakeTimers({ now: 0 });
    let status = 500;
    const send = vi.fn(() => Promise.resolve(Response.json({ success: true }, { status })));
    const sender = new Sender({ apiKey: 'sk_test', baseUrl: service.url, fetch: send });
    await sender.send({ id: 'in doubt', event: event('') });
    status = 200;
    for (let n = 0; n <= 10_000; n++) {
      vi.advanceTimersByTime(200);
      await sender.send({ id: `${n}`, event: event('') });
    }
    const answer = await sender.send({ id: 'in doubt', event: event('') });
    expect([answer.status, send.mock.calls.length]).toEqual([502, 10_002]);
    // The oldest event that was taken has been removed to make room.
    await sender.send({ id: '1', event: event('') });
    expect(send.mock.calls.length).toBe(10_002);
    await sender.send({ id: '0', event: event('') });
    expect(send.mock.calls.length).toBe(10_003);
  });
  it('has an id of limited length', async () => {
    expect((await proxyOf()(request(event('x'.repeat(501))))).status).toBe(400);
    expect((await proxyOf()(request(event('x'.repeat(500))))).status).toBe(200);
  });
});

describe('a wait that the service asks for', () => {
  it.each([
    ['99999999', '300'],
    ['Fri, 31 Dec 2099 23:59:59 GMT', '300'],
    ['Thu, 01 Jan 1970 00:00:30 GMT', '30'],
    ['20', '20'],
    ['0', '1'],
    ['soon', '60'],
    ['Infinity', '60'],
    ['', '60'],
  ])('is clamped: %s becomes %s seconds', async (retryAfter, seconds) => {
    vi.useFakeTimers({ now: 0 });
    const headers = { 'Retry-After': retryAfter };
    const proxy = proxyOf(() => Promise.resolve(new Response('', { status: 429, headers })));
    const answers = [await proxy(request(event('1'))), await proxy(request(event('2')))];
    for (const answer of answers) {
      expect([answer.status, answer.headers.get('Retry-After')]).toEqual([429, seconds]);
    }
  });
});

describe('the share of a caller', () => {
  const callerOf = ({ headers }: Request) => headers.get('X-Real-IP') ?? undefined;
  const batch = (ip: string, count = 20) =>
    request(
      Array.from({ length: count }, () => event(`${Math.random()}`)),
      'application/json',
      { 'X-Real-IP': ip },
    );
  const countOf = (results: number[], status: number) =>
    results.filter((result) => result === status).length;
  const resultsOf = async (answer: Response) =>
    ((await answer.json()) as { results: number[] }).results;
  const take = () => Promise.resolve(Response.json({ success: true }));

  it('leaves the rest to the other callers, and is available again after a minute', async () => {
    vi.useFakeTimers({ now: 0 });
    const proxy = proxyOf(take, { callerOf, perCaller: 30 });
    await proxy(batch('1'));
    const second = await proxy(batch('1'));
    expect(second.headers.get('Retry-After')).toBe('60');
    const results = await resultsOf(second);
    expect([countOf(results, 200), countOf(results, 429)]).toEqual([10, 10]);
    expect(countOf(await resultsOf(await proxy(batch('2'))), 200)).toBe(20);
    vi.setSystemTime(60_000);
    expect(countOf(await resultsOf(await proxy(batch('1'))), 200)).toBe(20);
  });
  it('is 60 events a minute by default', async () => {
    vi.useFakeTimers({ now: 0 });
    const proxy = proxyOf(take, { callerOf: () => Promise.resolve('same') });
    let taken = 0;
    for (let n = 0; n < 5; n++) {
      taken += countOf(await resultsOf(await proxy(batch('1'))), 200);
    }
    expect(taken).toBe(60);
  });
  it('limits the number of callers in memory', () => {
    vi.useFakeTimers({ now: 0 });
    const callers = new Callers(1);
    for (let ip = 0; ip < 10_000; ip++) {
      callers.take(`${ip}`);
    }
    expect([callers.take('10000'), callers.take('10001'), callers.take('7')]).toEqual([
      0, 60_000, 60_000,
    ]);
    vi.setSystemTime(60_000);
    expect([callers.take('10000'), callers.take('10001'), callers.take('7')]).toEqual([0, 0, 0]);
  });
  it('keeps only the beginning of a long name', () => {
    vi.useFakeTimers({ now: 0 });
    const callers = new Callers(1);
    const name = 'x'.repeat(200);
    expect([callers.take(`${name}1`), callers.take(`${name}2`)]).toEqual([0, 60_000]);
  });
  it('sends nothing if the caller is unknown', async () => {
    const proxy = proxyOf(undefined, { callerOf: () => Promise.reject(new Error('no session')) });
    expect([(await proxy(request(event('1')))).status, service.arrivals]).toEqual([503, []]);
  });
  it.each([
    ['a number', 7, 200],
    ['a value that cannot be converted to text', Object.create(null), 503],
  ])(
    'accepts %s as a name or treats the caller as unknown, and leaves no timer',
    async (_, name, status) => {
      vi.useFakeTimers({ now: 0 });
      // Plain JavaScript may return any value.
      const proxy = proxyOf(take, { callerOf: () => name as string, perCaller: 1 });
      expect((await proxy(request(event('1')))).status).toBe(status);
      expect((await proxy(request(event('2')))).status).toBe(status === 200 ? 429 : status);
      expect(vi.getTimerCount()).toBe(0);
    },
  );
  it('needs callerOf()', () => {
    expect(() => proxyOf(take, { perCaller: 30 })).toThrow(
      new TypeError('perCaller needs callerOf, which names the caller of a request'),
    );
  });
  it('is all of perMinute without callerOf()', async () => {
    vi.useFakeTimers({ now: 0 });
    const proxy = proxyOf(take, { perMinute: 30 });
    await proxy(batch('1'));
    expect(countOf(await resultsOf(await proxy(batch('2'))), 429)).toBe(10);
  });
});

describe('a route behind a server', () => {
  const behind = { Origin: 'https://shop.test', Host: '10.0.0.7:3000' };

  it.each([
    ['names the requested host', { ...behind, 'X-Forwarded-Host': 'shop.test, cdn' }, {}],
    ['rewrites Host, with origins', behind, { origins: ['https://shop.test'] }],
    [
      'serves pages of another host of yours',
      { ...behind, 'Sec-Fetch-Site': 'same-site' },
      { origins: ['https://shop.test'] },
    ],
  ])('serves pages if that server %s', async (_, headers, options) => {
    const answer = await proxyOf(
      undefined,
      options,
    )(request(event('1'), 'application/json', headers));
    expect(answer.status).toBe(200);
  });
  it.each([
    ['rewrites Host without X-Forwarded-Host', behind],
    ['names another host', { ...behind, 'X-Forwarded-Host': 'other.test' }],
  ])('rejects pages if that server %s', async (_, headers) => {
    const answer = await proxyOf()(request(event('1'), 'application/json', headers));
    expect(answer.status).toBe(403);
  });
  it.each([
    ['application/json', 200],
    ['Application/JSON; charset=UTF-8', 200],
    ['application/json ; charset=utf-8', 200],
    ['application/jsonp', 415],
    ['text/plain; application/json', 415],
    ['text/json', 415],
  ])('answers a %s with %i', async (type, status) => {
    expect((await proxyOf()(request(event('1'), type))).status).toBe(status);
  });
});
