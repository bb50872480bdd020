import { describe, expect, it } from 'vitest';
import type { Fault, Service } from 'postreel/testing';
import { makeService } from '../../support/testing/make-service.js';

function counting(random?: () => number): { service: Service; calls: () => number } {
  let calls = 0;
  const answer = () => {
    calls += 1;
    return { body: { call: calls } };
  };
  const handlers = { 'GET /contacts/{id}': answer, 'GET /templates/{id}': answer };
  return {
    service: makeService({ handlers, ...(random === undefined ? {} : { random }) }),
    calls: () => calls,
  };
}

const url = 'http://fake.test/api/contacts/1';
const get = (service: Service, init?: RequestInit) => service.fetch(url, init);
const contact = 'GET /contacts/{id}';

async function statuses(service: Service, count: number): Promise<number[]> {
  const seen = [];
  for (let index = 0; index < count; index += 1) {
    seen.push((await get(service)).status);
  }
  return seen;
}

describe('kinds of faults', () => {
  it('status answers before the handler runs', async () => {
    const { service, calls } = counting();
    service.fail(contact, { status: 503 });
    const response = await get(service);
    expect([response.status, await response.text(), calls()]).toEqual([503, '', 0]);
  });

  it('stall ends with the reason of an abort, also after the headers came', async () => {
    const { service } = counting();
    service.fail(contact, { stall: true });
    const controller = new AbortController();
    const response = await get(service, { signal: controller.signal });
    const text = response.text();
    controller.abort(new Error('enough'));
    await expect(text).rejects.toThrow('enough');
  }, 2_000);

  it('status can carry a body, headers and Retry-After', async () => {
    const { service } = counting();
    service.fail(contact, { status: 429, body: { a: 1 }, headers: { 'x-b': 'c' }, retryAfter: 7 });
    const response = await get(service);
    expect(await response.json()).toEqual({ a: 1 });
    expect([response.headers.get('x-b'), response.headers.get('retry-after')]).toEqual(['c', '7']);
  });

  it('drop is a network error before the handler ran', async () => {
    const { service, calls } = counting();
    service.fail(contact, { drop: true });
    await expect(get(service)).rejects.toThrow(TypeError);
    expect(calls()).toBe(0);
    expect(service.requests[0]).toMatchObject({ endpoint: contact, status: undefined });
  });

  it('loseAnswer is a network error after the handler ran', async () => {
    const { service, calls } = counting();
    service.fail(contact, { loseAnswer: true });
    await expect(get(service)).rejects.toThrow(TypeError);
    expect(calls()).toBe(1);
  });

  it('hang answers nothing until the caller gives up', async () => {
    const { service, calls } = counting();
    service.fail(contact, { hang: true });
    const controller = new AbortController();
    const reason = new Error('gave up');
    const request = get(service, { signal: controller.signal });
    controller.abort(reason);
    await expect(request).rejects.toBe(reason);
    expect(calls()).toBe(0);
  });

  it('slow answers late, by the time of the service', async () => {
    const { service } = counting();
    service.fail(contact, { slow: 5_000 });
    const startedAt = service.clock.now();
    await get(service);
    expect(service.clock.now() - startedAt).toBe(5_000);
  });

  it('slow ends at once when the caller gives up', async () => {
    const { service } = counting();
    service.fail(contact, { slow: 5_000 });
    const startedAt = service.clock.now();
    const controller = new AbortController();
    const request = get(service, { signal: controller.signal });
    controller.abort();
    await expect(request).rejects.toThrow('aborted');
    expect(service.clock.now()).toBe(startedAt);
  });

  it('truncate sends half of the answer and breaks', async () => {
    const { service, calls } = counting();
    service.fail(contact, { truncate: true });
    const response = await get(service);
    expect(response.headers.get('content-length')).toBe('10');
    const reader = response.body!.getReader();
    expect((await reader.read()).value).toHaveLength(5);
    await expect(reader.read()).rejects.toThrow('terminated');
    expect(calls()).toBe(1);
  });

  it('malformed answers broken JSON after the handler ran', async () => {
    const { service, calls } = counting();
    service.fail(contact, { malformed: true });
    const response = await get(service);
    expect([response.status, calls()]).toEqual([200, 1]);
    await expect(response.json()).rejects.toThrow(SyntaxError);
  });

  it('html answers the page of a gateway', async () => {
    const { service, calls } = counting();
    service.fail(contact, { html: true });
    const response = await get(service);
    expect([response.status, response.headers.get('content-type')]).toEqual([502, 'text/html']);
    expect(await response.text()).toContain('<html>');
    expect(calls()).toBe(0);
  });
});

describe('when a fault strikes', () => {
  const plan = async (fault: Fault, count: number, random?: () => number) => {
    const { service } = counting(random);
    service.fail(contact, { status: 503, ...fault });
    return statuses(service, count);
  };

  it('once, unless told otherwise', async () => {
    expect(await plan({}, 3)).toEqual([503, 200, 200]);
  });

  it('as often as times says', async () => {
    expect(await plan({ times: 2 }, 3)).toEqual([503, 503, 200]);
    expect(await plan({ times: Infinity }, 3)).toEqual([503, 503, 503]);
  });

  it('after the first n requests', async () => {
    expect(await plan({ after: 2 }, 4)).toEqual([200, 200, 503, 200]);
  });

  it('with its probability', async () => {
    const chances = [0.9, 0.1, 0.5, 0.2];
    const random = () => chances.shift() ?? 1;
    expect(await plan({ times: Infinity, probability: 0.3 }, 4, random)).toEqual([
      200, 503, 200, 503,
    ]);
  });

  it('on every endpoint for *', async () => {
    const { service } = counting();
    service.fail('*', { status: 503, times: 2 });
    expect((await get(service)).status).toBe(503);
    expect((await service.fetch('http://fake.test/api/templates/1')).status).toBe(503);
  });

  it('on its own endpoint only', async () => {
    const { service } = counting();
    service.fail('GET /templates/{id}', { status: 503 });
    expect(await statuses(service, 1)).toEqual([200]);
  });

  it('one after the other', async () => {
    const { service } = counting();
    service.fail(contact, { status: 503 });
    service.fail(contact, { status: 500 });
    expect(await statuses(service, 3)).toEqual([503, 500, 200]);
  });

  it('never after it was taken back or cleared', async () => {
    const { service } = counting();
    service.fail(contact, { status: 503 })();
    service.fail(contact, { status: 503 });
    service.faults.clear();
    expect(await statuses(service, 1)).toEqual([200]);
  });

  it('refuses an endpoint that does not exist', () => {
    const { service } = counting();
    const fail = (endpoint: string) => () => service.fail(endpoint as never, { drop: true });
    expect(fail('GET /contact')).toThrow(
      /^No such endpoint: GET \/contact\. Did you mean 'GET \/contacts/,
    );
  });
});
