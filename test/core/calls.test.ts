import { PostreelError } from 'postreel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { answering, mediaOver, messagingOver } from '../support/clients.js';
import { scripted, step } from '../support/script.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('a call is a promise', () => {
  const working = () => messagingOver(answering(() => ({ id: 'con_1' })).fetch);
  const failing = () => messagingOver(answering(() => new Response(null, { status: 404 })).fetch);

  it('that starts without being awaited', async () => {
    const { fetch, requests } = answering(() => ({ id: 'con_1' }));
    void messagingOver(fetch).contacts.get('con_1');
    await vi.waitFor(() => expect(requests).toHaveLength(1));
  });

  it('that can be caught', async () => {
    const statusOf = (error: unknown) => (error as PostreelError).status;
    await expect(failing().contacts.get('con_1').catch(statusOf)).resolves.toBe(404);
    await expect(working().contacts.get('con_1').catch(statusOf)).resolves.toEqual({ id: 'con_1' });
  });

  it('with a finally()', async () => {
    const ended = vi.fn();
    await expect(working().contacts.get('con_1').finally(ended)).resolves.toEqual({ id: 'con_1' });
    await expect(failing().contacts.get('con_1').finally(ended)).rejects.toThrow('404');
    expect(ended).toHaveBeenCalledTimes(2);
  });

  it('that also returns its response and request id', async () => {
    const headers = { 'x-request-id': 'req_1' };
    const { fetch } = answering(() => Response.json({ id: 'con_1' }, { headers }));
    const answer = await messagingOver(fetch).contacts.get('con_1').withResponse();
    expect(answer).toMatchObject({ data: { id: 'con_1' }, requestId: 'req_1' });
    expect(answer.response?.status).toBe(200);
  });

  it('whose failure can be a value, also after an abort', async () => {
    expect(await working().contacts.get('con_1').safe()).toEqual({ data: { id: 'con_1' } });
    const { error } = await failing().contacts.get('con_1').safe();
    expect(error).toMatchObject({ name: 'NotFoundError', status: 404 });
    const reason = { left: true };
    const signal = AbortSignal.abort(reason);
    const aborted = await working().contacts.get('con_1', { signal }).safe();
    expect(aborted.error).toBeInstanceOf(PostreelError);
    expect(aborted.error).toMatchObject({ code: 'ABORTED', outcome: 'not-sent', cause: reason });
  });
});

describe('the request of a call', () => {
  it('reaches `fetch` as an address and an init, without a cache and without redirects', async () => {
    const fetch = vi
      .fn<typeof globalThis.fetch>()
      .mockResolvedValue(Response.json({ id: 'con_1' }));
    await messagingOver(fetch).contacts.create({ email: 'ann@example.com' });
    expect(fetch).toHaveBeenCalledTimes(1);
    const [url, init] = fetch.mock.calls[0] ?? [];
    expect(url).toBe('https://messaging.test/contacts');
    expect(init).toMatchObject({
      method: 'POST',
      body: '{"email":"ann@example.com"}',
      headers: { authorization: 'Bearer sk_test_key', 'content-type': 'application/json' },
      redirect: 'manual',
      cache: 'no-store',
    });
  });

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)(
    'is answered from no cache, whatever its method: %s',
    async (method) => {
      const { fetch, requests } = answering(() => ({}));
      await messagingOver(fetch).request(method, '/x');
      expect(requests[0]?.cache).toBe('no-store');
    },
  );

  it('has the content type JSON for the media service, even without a body', async () => {
    const { fetch, requests } = answering(() => ({ fileId: 'file_1', status: 'queued' }));
    await mediaOver(fetch).generate.status({ fileId: 'file_1' });
    await messagingOver(fetch).contacts.get('con_1');
    const types = requests.map(({ headers }) => headers.get('content-type'));
    expect(types).toEqual(['application/json', null]);
  });

  it('is the same on every attempt', async () => {
    vi.useFakeTimers();
    const { client, requests } = scripted([step.refused, step.status(429, { 'retry-after': '1' })]);
    const call = client.send(mail);
    await vi.runAllTimersAsync();
    await call;
    const bodies = await Promise.all(requests.map((request) => request.json() as unknown));
    expect(bodies).toEqual([mail, mail, mail]);
  });
});

describe('a call to an endpoint without a method', () => {
  it.each([
    ['/a?x=1&x=2&y=', undefined, '/a?x=1&x=2&y='],
    ['/a?x=1', { x: 2, z: true }, '/a?x=2&z=true'],
    ['/a', { z: 1 }, '/a?z=1'],
    ['/a', undefined, '/a'],
  ])('%s with %j requests %s', async (path, query, expected) => {
    const { fetch, requests } = answering(() => ({}));
    await messagingOver(fetch).request('GET', path, { query });
    expect(requests[0]?.url).toBe(`https://messaging.test${expected}`);
  });

  it.each(['a', '/%2e%2e/a', '/a/%2E/b', '/a/../b', '/..', '/./a', '/a\\b', '/a#b', '/{id}', ''])(
    'refuses the path %j, which could lead elsewhere',
    async (path) => {
      const { fetch, requests } = answering(() => ({}));
      const { error } = await messagingOver(fetch).request('GET', path).safe();
      expect(error?.message).toBe(
        '`path` must start with a slash, without `..`, `#`, `\\` and braces.',
      );
      expect(error?.outcome).toBe('not-sent');
      expect(requests).toEqual([]);
    },
  );

  it('stays at its own address for a path that looks like another host', async () => {
    const { fetch, requests } = answering(() => ({}));
    await messagingOver(fetch).request('GET', '//other.test');
    expect(requests[0]?.url).toMatch(/^https:\/\/messaging\.test\//);
  });

  it('rejects a method in lower case', async () => {
    const { fetch, requests } = answering(() => ({}));
    const { error } = await messagingOver(fetch)
      .request('get' as 'GET', '/contacts')
      .safe();
    expect(error?.message).toBe('`method` must be one of GET, POST, PUT, PATCH, DELETE.');
    expect(requests).toEqual([]);
  });

  it.each([
    ['GET', 3],
    ['PUT', 3],
    ['PATCH', 3],
    ['DELETE', 3],
    ['POST', 1],
  ] as const)('%s is sent up to %i times, as every call is', async (method, times) => {
    vi.useFakeTimers();
    const failing = Array.from({ length: 9 }, () => step.status(500));
    const { client, requests } = scripted(failing);
    const failed = expect(client.request(method, '/a')).rejects.toHaveProperty('status', 500);
    await vi.runAllTimersAsync();
    await failed;
    expect(requests).toHaveLength(times);
  });

  it('sends any JSON, and a form with any field names', async () => {
    const { fetch, requests } = answering(() => ({}));
    const form = new FormData();
    form.append('contacts', new Blob(['a,b']), 'a.csv');
    await messagingOver(fetch).request('POST', '/bulk', { body: [1, 'two'] });
    await messagingOver(fetch).request('POST', '/contacts/import', { body: form });
    await mediaOver(fetch).request('POST', '/v1/upload', { body: form });
    const [json, ...forms] = requests;
    await expect(json?.json()).resolves.toEqual([1, 'two']);
    expect(forms).toHaveLength(2);
    for (const request of forms) {
      expect(request.headers.get('content-type')).toMatch(/^multipart\/form-data; boundary=/);
      expect([...(await request.formData()).keys()]).toEqual(['contacts']);
    }
  });

  it('has no key if the client has none', async () => {
    const { fetch, requests } = answering(() => ({ ok: true }));
    const client = messagingOver(fetch, { apiKey: null });
    await expect(client.request('GET', '/health')).resolves.toEqual({ ok: true });
    expect(requests[0]?.headers.has('authorization')).toBe(false);
  });

  it('keeps its query out of errors, events and logs', async () => {
    const told: unknown[] = [];
    const debug = (message: string, facts?: object) => told.push(message, facts);
    const { fetch, requests } = answering(() => new Response(null, { status: 404 }));
    const messaging = messagingOver(fetch, { logger: { debug } });
    const query = { token: 'hidden-7' };
    for (const call of [
      messaging.request('GET', '/reports', { query }),
      messaging.request('GET', '/reports?token=hidden-7&year=2026'),
    ]) {
      const { error } = await call.safe();
      expect(error?.path).toBe('/reports');
      told.push(error?.message, JSON.stringify(error));
    }
    expect(JSON.stringify(told)).not.toContain('hidden-7');
    const sent = 'https://messaging.test/reports?token=hidden-7';
    expect(requests.map(({ url }) => url)).toEqual([sent, `${sent}&year=2026`]);
  });
});
