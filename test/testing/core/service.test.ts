import { describe, expect, it } from 'vitest';
import { createClock } from 'postreel/testing';
import { Refusal } from '../../../src/testing/core/http.js';
import type { FakeRequest, Handlers } from '../../../src/testing/core/types.js';
import { makeService } from '../../support/testing/make-service.js';

const json = (body: unknown, type = 'application/json'): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': type },
  body: JSON.stringify(body),
});

function echo(): { seen: FakeRequest[]; handlers: Handlers<string> } {
  const seen: FakeRequest[] = [];
  const answer = (request: FakeRequest) => {
    seen.push(request);
    return { body: { ok: true } };
  };
  return {
    seen,
    handlers: {
      'POST /contacts': answer,
      'GET /contacts/{id}': answer,
      'POST /contacts/import': answer,
    },
  };
}

describe('a service', () => {
  it('answers JSON with its length', async () => {
    const service = makeService(echo());
    const response = await service.fetch('http://fake.test/api/contacts/1');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('content-length')).toBe('11');
    expect(await response.json()).toEqual({ ok: true });
  });

  it('answers without a body when a handler gives none', async () => {
    const service = makeService({ handlers: { 'POST /contacts': () => ({ status: 204 }) } });
    const response = await service.fetch('http://fake.test/api/contacts', json({}));
    expect([response.status, await response.text()]).toEqual([204, '']);
  });

  it('hands parsed parts to the handler', async () => {
    const { seen, handlers } = echo();
    const service = makeService({ handlers });
    await service.fetch('http://fake.test/api/contacts?a=1', json({ email: 'a@b.c' }));
    await service.fetch('http://fake.test/api/contacts/x%20y');
    expect(seen[0]).toMatchObject({ method: 'POST', path: '/contacts', body: { email: 'a@b.c' } });
    expect(seen[0]?.query.get('a')).toBe('1');
    expect(seen[1]).toMatchObject({ params: { id: 'x y' }, body: undefined, form: undefined });
  });

  it('reads a multipart body as a form', async () => {
    const { seen, handlers } = echo();
    const form = new FormData();
    form.set('file', new File(['email\na@b.c'], 'contacts.csv', { type: 'text/csv' }));
    const service = makeService({ handlers });
    await service.fetch('http://fake.test/api/contacts/import', { method: 'POST', body: form });
    const file = seen[0]?.form?.get('file');
    expect(file).toBeInstanceOf(File);
    expect(seen[0]?.body).toBeUndefined();
  });

  it.each([
    ['broken JSON', { ...json({}), body: '{"a":' }],
    ['JSON without its content type', json({}, 'text/plain')],
  ])('refuses %s with 400', async (_name, init) => {
    const service = makeService(echo());
    expect((await service.fetch('http://fake.test/api/contacts', init)).status).toBe(400);
  });

  it.each([
    ['an unknown path', 'http://fake.test/api/nowhere', 'GET'],
    ['a known path with another method', 'http://fake.test/api/contacts', 'PUT'],
    ['the base address itself', 'http://fake.test/api', 'GET'],
  ])('answers 404 for %s', async (_name, url, method) => {
    const service = makeService(echo());
    const response = await service.fetch(url, { method });
    expect(response.status).toBe(404);
    expect(service.requests[0]).toMatchObject({ endpoint: undefined, status: 404 });
  });

  it.each(['http://elsewhere.test/api/contacts/1', 'http://fake.test/apis/contacts/1'])(
    'rejects like a network for %s',
    async (url) => {
      await expect(makeService(echo()).fetch(url)).rejects.toThrow(TypeError);
    },
  );

  it('refuses handlers that are not in the endpoint table', () => {
    const handlers = { 'GET /made-up': () => ({}) };
    expect(() => makeService({ handlers })).toThrow('Not in the endpoint table: GET /made-up.');
  });

  it('turns a refusal into the error body', async () => {
    const handlers: Handlers<string> = {
      'POST /contacts': () => {
        throw new Refusal(409, 'CONFLICT', 'Taken.');
      },
    };
    const response = await makeService({ handlers }).fetch(
      'http://fake.test/api/contacts',
      json({}),
    );
    expect(response.status).toBe(409);
    expect(await response.json()).toEqual({
      code: 'CONFLICT',
      message: 'Taken.',
      id: 'req_000001',
    });
  });

  it('sends the body of a refusal as it is', async () => {
    const handlers: Handlers<string> = {
      'POST /contacts': () => {
        throw new Refusal(404, 'NOT_FOUND', 'Gone.', { body: { error: 'gone' } });
      },
    };
    const response = await makeService({ handlers }).fetch(
      'http://fake.test/api/contacts',
      json({}),
    );
    expect(await response.json()).toEqual({ error: 'gone' });
  });

  it('shows a fault of its own as 500', async () => {
    const handlers: Handlers<string> = {
      'POST /contacts': () => {
        throw new Error('oops');
      },
    };
    const response = await makeService({ handlers }).fetch(
      'http://fake.test/api/contacts',
      json({}),
    );
    expect(response.status).toBe(500);
    expect(await response.text()).toContain('oops');
  });

  it('asks who calls before it counts, and counts before it reads the body', async () => {
    const service = makeService({ ...echo(), limit: () => ({ limit: 1, windowMs: 1_000 }) });
    const post = (key: string, body: string) =>
      service.fetch('http://fake.test/api/contacts', {
        ...json({}),
        body,
        headers: { 'content-type': 'application/json', 'x-key': key },
      });
    const statuses = [];
    for (const [key, body] of [
      ['wrong', '{}'],
      ['right', '{"a":'],
      ['right', '{}'],
    ] as const) {
      statuses.push((await post(key, body)).status);
    }
    expect(statuses).toEqual([401, 400, 429]);
  });

  it('opens the rate limit again as its clock moves', async () => {
    const service = makeService({ ...echo(), limit: () => ({ limit: 1, windowMs: 60_000 }) });
    const get = () => service.fetch('http://fake.test/api/contacts/1');
    await get();
    const refused = await get();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    await service.advance('1m');
    expect((await get()).status).toBe(200);
  });

  it('records every request', async () => {
    const service = makeService({ ...echo(), clock: createClock({ start: 9_000 }) });
    await service.fetch('http://fake.test/api/contacts?a=1', json({ email: 'a@b.c' }));
    expect(service.requests).toEqual([
      {
        method: 'POST',
        path: '/contacts',
        endpoint: 'POST /contacts',
        query: { a: '1' },
        headers: { 'content-type': 'application/json' },
        body: { email: 'a@b.c' },
        at: 9_000,
        status: 200,
      },
    ]);
  });

  it('runs what is due before it answers', async () => {
    let time = 0;
    const clock = createClock({ now: () => time });
    let state = 'queued';
    clock.after(10, () => {
      state = 'done';
    });
    const service = makeService({
      clock,
      handlers: { 'GET /contacts/{id}': () => ({ body: { state } }) },
    });
    time = 10;
    const response = await service.fetch('http://fake.test/api/contacts/1');
    expect(await response.json()).toEqual({ state: 'done' });
  });

  it('forgets requests, faults and counts on reset', async () => {
    const service = makeService({ ...echo(), limit: () => ({ limit: 1, windowMs: 60_000 }) });
    const get = () => service.fetch('http://fake.test/api/contacts/1');
    await get();
    service.fail('*', { status: 503 });
    service.reset();
    expect(service.requests).toEqual([]);
    expect((await get()).status).toBe(200);
  });

  it('rejects with the reason of a signal that is already aborted', async () => {
    const reason = new Error('enough');
    const request = makeService(echo()).fetch('http://fake.test/api/contacts/1', {
      signal: AbortSignal.abort(reason),
    });
    await expect(request).rejects.toBe(reason);
  });
});
