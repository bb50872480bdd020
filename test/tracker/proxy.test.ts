import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTrackProxy } from '../../src/tracker/proxy/index.js';
import { type Service, startService } from '../support/tracker/service.js';

let service: Service;
beforeEach(async () => {
  service = await startService();
});
afterEach(async () => {
  vi.useRealTimers();
  await service.close();
});

const proxyOf = (fetching?: typeof fetch) =>
  createTrackProxy({
    apiKey: 'sk_test',
    baseUrl: service.url,
    ...(fetching && { fetch: fetching }),
  });

const request = (body: unknown, type = 'application/json') =>
  new Request('https://app.test/collect/v1/track', {
    method: 'POST',
    headers: { 'Content-Type': type },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const event = (id: string) => ({ id, event: 'x', email: 'ann@example.com', data: { a: 1 } });

describe('the proxy', () => {
  it('sends an event on with the key of the server and without its id', async () => {
    const response = await proxyOf()(request(event('1')));
    expect([response.status, await response.json()]).toEqual([200, { success: true }]);
    expect(service.arrivals).toMatchObject([
      { event: 'x', email: 'ann@example.com', data: { a: 1 } },
    ]);
    expect(service.arrivals[0]?.headers.authorization).toBe('Bearer sk_test');
    expect(service.arrivals[0]).not.toHaveProperty('id');
  });
  it('sends one event once, however often and however fast it comes', async () => {
    const proxy = proxyOf();
    const statuses = await Promise.all([1, 2, 3].map(() => proxy(request(event('1')))));
    statuses.push(await proxy(request(event('1'))));
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(service.arrivals).toHaveLength(1);
  });
  it('sends an event again that the service did not take', async () => {
    const proxy = proxyOf();
    service.reply = () => ({ status: 503 });
    expect((await proxy(request(event('1')))).status).toBe(503);
    service.reply = () => ({ status: 200 });
    expect((await proxy(request(event('1')))).status).toBe(200);
    expect(service.accepted).toHaveLength(1);
  });
  it('answers 502 when the service cannot be reached', async () => {
    const proxy = proxyOf(() => Promise.reject(new TypeError('down')));
    expect((await proxy(request(event('1')))).status).toBe(502);
  });
  it.each([
    ['a form of another site', request(event('1'), 'text/plain'), 415],
    ['a GET', new Request('https://app.test/collect/v1/track'), 415],
    ['no JSON', request('{'), 400],
    ['no object', request('"x"'), 400],
  ])('refuses %s', async (_, bad, status) => {
    expect((await proxyOf()(bad)).status).toBe(status);
    expect(service.arrivals).toEqual([]);
  });
  it('keeps to 1000 a minute, each slot held until a minute after its answer', async () => {
    vi.useFakeTimers({ now: 0 });
    const sent: number[] = [];
    const proxy = proxyOf(() => {
      sent.push(Date.now());
      return Promise.resolve(new Response('{}'));
    });
    const statuses = async (count: number) => {
      const responses = Array.from({ length: count }, (_, n) =>
        proxy(request(event(`${Date.now()}-${n}`))),
      );
      return (await Promise.all(responses)).map(({ status }) => status);
    };
    expect(new Set(await statuses(1000))).toEqual(new Set([200]));
    vi.setSystemTime(30_000);
    const refused = await proxy(request(event('late')));
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '30']);
    vi.setSystemTime(60_000);
    expect(new Set(await statuses(1000))).toEqual(new Set([200]));
    expect(sent).toHaveLength(2000);
  });
  it('lets nobody through for a while after a 429', async () => {
    vi.useFakeTimers({ now: 0 });
    let status = 429;
    const proxy = proxyOf(() =>
      Promise.resolve(new Response('', { status, headers: { 'Retry-After': '20' } })),
    );
    expect((await proxy(request(event('1')))).status).toBe(429);
    status = 200;
    vi.setSystemTime(19_000);
    const refused = await proxy(request(event('2')));
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '1']);
    vi.setSystemTime(20_000);
    expect((await proxy(request(event('1')))).status).toBe(200);
  });
});
