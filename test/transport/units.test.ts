import { MessagingClient, PostreelError, type ValidationOptions } from 'postreel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { clientOptions } from '../../src/core/options.js';
import { of, route } from '../../src/core/route.js';
import { cleanCause } from '../../src/core/redact.js';
import { Connection } from '../../src/core/client.js';
import { onAbort, abortable } from '../../src/core/async.js';
import { readText, unwrap } from '../../src/transport/response/read.js';
import { invalidRequest } from '../../src/core/errors.js';
import { answerWithin, sleep } from '../../src/core/async.js';
import { answering, mediaOver, messagingOver } from '../support/clients.js';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('a call is a promise', () => {
  const failing = () => messagingOver(answering(() => new Response(null, { status: 404 })).fetch);
  const working = () => messagingOver(answering(() => ({ id: 'con_1' })).fetch);

  it('that can be caught', async () => {
    const status = failing().contacts.get('con_1');
    await expect(status.catch((error: unknown) => (error as PostreelError).status)).resolves.toBe(
      404,
    );
    const value = working().contacts.get('con_1');
    await expect(value.catch(() => 'never')).resolves.toMatchObject({ id: 'con_1' });
  });

  it('that has an end', async () => {
    const ended = vi.fn();
    await expect(working().contacts.get('con_1').finally(ended)).resolves.toMatchObject({
      id: 'con_1',
    });
    await expect(failing().contacts.get('con_1').finally(ended)).rejects.toHaveProperty(
      'status',
      404,
    );
    expect(ended).toHaveBeenCalledTimes(2);
    await expect(working().contacts.get('con_1').finally()).resolves.toBeDefined();
  });

  it('whose failure can be a value, an abort included', async () => {
    const { data } = await working().contacts.get('con_1').safe();
    expect(data).toMatchObject({ id: 'con_1' });
    const signal = AbortSignal.abort('enough');
    const { error } = await working().contacts.get('con_1', { signal }).safe();
    expect(error).toBeInstanceOf(PostreelError);
    expect(error).toMatchObject({
      message: 'The call was aborted.',
      code: 'ABORTED',
      outcome: 'not-sent',
      cause: 'enough',
    });
  });
});

describe('a call to an endpoint without a method', () => {
  it.each([
    ['/a?x=1&x=2&y=', undefined, '/a?x=1&x=2&y='],
    ['/a?x=1', { x: 2, z: true }, '/a?x=2&z=true'],
    ['/a', { z: 1 }, '/a?z=1'],
    ['/a', undefined, '/a'],
  ])('%s with %j asks for %s', async (path, query, expected) => {
    const { fetch, requests } = answering(() => ({}));
    await messagingOver(fetch).request('GET', path, { query });
    expect(requests[0]?.url).toBe(`https://messaging.test${expected}`);
  });

  it.each([
    'a',
    '//other.test',
    '/%2e%2e/a',
    '/a/%2E/b',
    '/a/../b',
    '/..',
    '/./a',
    '/a\\b',
    '/a#b',
    '/{id}',
    '',
  ])('refuses the path %j, or stays at its own address', async (path) => {
    const { fetch, requests } = answering(() => ({}));
    const { error } = await messagingOver(fetch).request('GET', path).safe();
    if (path === '//other.test') {
      expect(requests[0]?.url).toMatch(/^https:\/\/messaging\.test\//);
    } else {
      expect(error?.fieldErrors[0]?.field).toBe('path');
      expect(error?.message).toBe(
        '`path` must start with a slash and name one place below the base address.',
      );
      expect(requests).toEqual([]);
    }
  });

  it.each([
    ['GET', 3],
    ['PUT', 3],
    ['DELETE', 3],
    ['POST', 1],
    ['PATCH', 1],
  ] as const)('%s is sent up to %i times, as HTTP defines it', async (method, times) => {
    vi.useFakeTimers();
    const { fetch, requests } = answering(() => new Response(null, { status: 500 }));
    const client = messagingOver(fetch, { validation: { requests: 'off', responses: 'off' } });
    const failed = expect(client.request(method, '/a')).rejects.toHaveProperty('status', 500);
    await vi.runAllTimersAsync();
    await failed;
    expect(requests).toHaveLength(times);
  });

  it('sends a form as it is, under any name of a field', async () => {
    const { fetch, requests } = answering(() => ({}));
    const form = new FormData();
    form.append('contacts', new Blob(['a,b']), 'a.csv');
    await messagingOver(fetch).request('POST', '/contacts/import', { body: form });
    await mediaOver(fetch).request('POST', '/v1/upload', { body: form });
    for (const request of requests) {
      expect(request.headers.get('content-type')).toMatch(/^multipart\/form-data; boundary=/);
      expect([...(await request.formData()).keys()]).toEqual(['contacts']);
    }
    expect(requests).toHaveLength(2);
  });

  it('takes no key where there is none', async () => {
    const { fetch, requests } = answering(() => ({ ok: true }));
    const client = messagingOver(fetch, { apiKey: null });
    await expect(client.request('GET', '/health')).resolves.toEqual({ ok: true });
    expect(requests[0]?.headers.has('authorization')).toBe(false);
  });
});

describe('an envelope', () => {
  it.each([
    [{ success: true, data: { id: 1 } }, { id: 1 }],
    [{ success: true, data: null }, null],
    [{ success: true, data: [1] }, [1]],
    [{ success: true }, { success: true }],
    [
      { success: false, data: 1 },
      { success: false, data: 1 },
    ],
    [{ data: { id: 1 } }, { data: { id: 1 } }],
    ['text', 'text'],
    [null, null],
  ])('%j holds %j', (body, content) => {
    expect(unwrap(body)).toEqual(content);
  });
});

describe('a refusal of our own', () => {
  it.each([
    [[], {}, 'It is not valid.'],
    [[{ field: '', message: 'takes one id' }], {}, 'Takes one id.'],
    [[{ field: 'to', message: 'is required' }], {}, '`to` is required.'],
    [
      [
        { field: 'to', message: 'is required' },
        { field: 'from', message: 'is required' },
        { field: 'subject', message: 'is required' },
      ],
      { method: 'POST', path: '/v1/send' },
      'POST /v1/send was not sent: `to` is required (and 2 more).',
    ],
    [[], { method: 'POST' }, 'POST  was not sent: it is not valid.'],
  ])('of %j at %j says %s', (fieldErrors, where, message) => {
    expect(invalidRequest(fieldErrors, where)).toMatchObject({
      ...where,
      message,
      fieldErrors,
      code: 'INVALID_REQUEST',
      outcome: 'not-sent',
    });
  });
});

describe('a listener on a signal', () => {
  it('is called once, at once where the signal has aborted', () => {
    const controller = new AbortController();
    const heard = vi.fn();
    onAbort(controller.signal, heard);
    onAbort(controller.signal, heard); // the same one, twice
    controller.abort();
    expect(heard).toHaveBeenCalledTimes(2);
    onAbort(controller.signal, heard)();
    expect(heard).toHaveBeenCalledTimes(3);
    expect(onAbort(undefined, heard)).not.toThrow();
    expect(heard).toHaveBeenCalledTimes(3);
  });

  it('shares one listener of the signal, which goes with the last', () => {
    const controller = new AbortController();
    const add = vi.spyOn(controller.signal, 'addEventListener');
    const remove = vi.spyOn(controller.signal, 'removeEventListener');
    const heard = vi.fn();
    const stops = Array.from({ length: 20 }, () => onAbort(controller.signal, heard));
    expect(add).toHaveBeenCalledTimes(1);
    for (const stop of stops.slice(1)) {
      stop();
    }
    stops[1]?.(); // once more is nothing
    expect(remove).not.toHaveBeenCalled();
    stops[0]?.();
    expect(remove).toHaveBeenCalledTimes(1);
    controller.abort();
    expect(heard).not.toHaveBeenCalled();
  });

  it('may be stopped by another one', () => {
    const controller = new AbortController();
    const heard = vi.fn();
    onAbort(controller.signal, () => stop());
    const stop = onAbort(controller.signal, heard);
    controller.abort();
    expect(heard).toHaveBeenCalledTimes(1);
  });
});

describe('time', () => {
  it('a sleep ends on time, or with the reason of an abort', async () => {
    vi.useFakeTimers();
    const woken = vi.fn();
    void sleep(1_000, undefined).then(woken);
    await vi.advanceTimersByTimeAsync(999);
    expect(woken).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(woken).toHaveBeenCalledTimes(1);
    const controller = new AbortController();
    const aborted = expect(sleep(1_000, controller.signal)).rejects.toBe('enough');
    controller.abort('enough');
    await aborted;
    expect(vi.getTimerCount()).toBe(0);
  });

  it('a sleep longer than a timer can be does not end at once', async () => {
    vi.useFakeTimers();
    const woken = vi.fn();
    void sleep(2 ** 31, undefined).then(woken);
    await vi.advanceTimersByTimeAsync(2 ** 31 - 2);
    expect(woken).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(woken).toHaveBeenCalledTimes(1);
  });

  it('an abort leaves a promise behind, and lets go of the signal after it', async () => {
    const { signal } = new AbortController();
    const remove = vi.spyOn(signal, 'removeEventListener');
    await expect(abortable(Promise.resolve(1), signal)).resolves.toBe(1);
    await expect(abortable(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
    await vi.waitFor(() => expect(remove).toHaveBeenCalledTimes(2));
    const never = new Promise(() => undefined);
    await expect(abortable(never, AbortSignal.abort('enough'))).rejects.toBe('enough');
    await expect(abortable(Promise.resolve(1), undefined)).resolves.toBe(1);
  });

  it('an answer that is late goes where late answers go', async () => {
    vi.useFakeTimers();
    const onLate = vi.fn();
    const terms = { onLate, signal: new AbortController().signal };
    await expect(answerWithin(Promise.resolve(1), 10, terms)).resolves.toBe(1);
    expect(vi.getTimerCount()).toBe(0);
    await expect(answerWithin(Promise.reject(new Error('no')), 10, terms)).rejects.toThrow('no');
    const slow = new Promise((resolve) => setTimeout(resolve, 20, 'late'));
    const failed = expect(answerWithin(slow, 10, terms)).rejects.toThrow('within 10 ms');
    await vi.advanceTimersByTimeAsync(10);
    await failed;
    expect(onLate).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(10);
    expect(onLate.mock.calls).toEqual([['late']]);
  });
});

describe('a body', () => {
  const { signal } = new AbortController();
  const read = (body: BodyInit | null, most: number) => readText(new Response(body), most, signal);

  it('is read up to a limit, in bytes', async () => {
    await expect(read('abcdef', 6)).resolves.toBe('abcdef');
    await expect(read('abcdef', 5)).resolves.toBe('abcde');
    await expect(read('é', 1)).resolves.toBe('');
    await expect(read(null, 5)).resolves.toBe('');
    await expect(read(new Uint8Array([0xff, 0x61]), 5)).resolves.toBe('\ufffda');
    await expect(read(new Uint8Array([0x61, 0xc3]), 5)).resolves.toBe('a\ufffd');
  });

  it('is not read further than that', async () => {
    const cancel = vi.fn();
    let pulls = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulls++;
        controller.enqueue(new Uint8Array(10).fill(0x61));
      },
      cancel,
    });
    await expect(read(endless, 25)).resolves.toHaveLength(25);
    expect(cancel).toHaveBeenCalledTimes(1);
    expect(pulls).toBeLessThan(6);
  });

  it('is let go of by an abort, even where fetch does not', async () => {
    const cancel = vi.fn();
    const controller = new AbortController();
    const silent = new Response(new ReadableStream({ cancel }));
    const text = readText(silent, 10, controller.signal);
    controller.abort();
    await expect(text).resolves.toBe('');
    expect(cancel).toHaveBeenCalled();
  });
});

describe('a cause', () => {
  it('is passed on, but never with the key', () => {
    const harmless = new Error('broken', { cause: new Error('deep') });
    expect(cleanCause(harmless, 'sk_secret')).toBe(harmless);
    const telling = Object.assign(new TypeError('sent sk_secret'), { code: 'E_sk_secret' });
    const clean = cleanCause(telling, 'sk_secret') as Error & { code: string };
    expect(clean).not.toBe(telling);
    expect(clean.name).toBe('TypeError');
    expect(clean.message).not.toContain('sk_secret');
    expect(clean.code).not.toContain('sk_secret');
    expect(clean.stack).not.toContain('sk_secret');
  });

  it('may have no stack, and hold what it likes', () => {
    const bare = new Error('sk_secret');
    delete bare.stack;
    const clean = cleanCause(Object.assign(bare, { code: 7 }), 'sk_secret') as Error;
    expect(clean).toHaveProperty('code', 7);
    expect(clean.message).not.toContain('sk_secret');
  });
});

describe('schemas that cannot be loaded', () => {
  const facts = {
    name: 'messaging',
    environment: { apiKey: 'NO_KEY', baseUrl: 'NO_URL' },
    keyPrefixes: { secret: 'sk_', public: 'pk_' },
    limit: 1,
    windowMs: 1,
    alwaysJson: false,
    options: clientOptions,
  };
  const gone = new TypeError('Failed to fetch dynamically imported module');
  const row = route('GET /one', { query: of<object>(), returns: of<object>() });
  const call = (validation: ValidationOptions) => {
    const { fetch, requests } = answering(() => ({ id: 'con_1' }));
    const { transport, events } = new Connection(
      facts,
      { apiKey: 'sk_key', baseUrl: 'https://messaging.test', rateLimit: false, fetch, validation },
      () => Promise.reject(gone),
    );
    const mismatches = vi.fn();
    events.on('mismatch', mismatches);
    return { call: transport.call(row, {}), requests, mismatches };
  };

  it('let no request leave unchecked', async () => {
    const { call: refused, requests } = call({});
    await expect(refused).rejects.toMatchObject({
      name: 'ConfigurationError',
      code: 'SCHEMAS_MISSING',
      outcome: 'not-sent',
      cause: gone,
    });
    expect(refused.hasLeft).toBe(false);
    expect(requests).toEqual([]);
  });

  it('do not take an answer away', async () => {
    const { call: answered, mismatches } = call({ requests: 'off' });
    await expect(answered).resolves.toEqual({ id: 'con_1' });
    expect(Object.prototype.toString.call(answered)).toBe('[object Call]');
    expect(mismatches.mock.calls).toEqual([
      [
        {
          method: 'GET',
          path: '/one',
          issues: [{ field: 'body', message: 'could not be checked' }],
        },
      ],
    ]);
  });

  it('are a mismatch where a mismatch throws', async () => {
    const { call: thrown } = call({ requests: 'off', responses: 'throw' });
    await expect(thrown).rejects.toMatchObject({ code: 'RESPONSE_MISMATCH', outcome: 'rejected' });
  });
});

it('an answer that is not as its document says is told, and taken as it is', async () => {
  const { fetch } = answering(() => ({ id: 'con_1' }));
  const client = new MessagingClient({
    apiKey: 'sk_key',
    baseUrl: 'https://messaging.test',
    rateLimit: false,
    fetch,
    validation: { requests: 'off' },
  });
  const mismatches = vi.fn();
  client.on('mismatch', mismatches);
  await expect(client.contacts.get('con_1')).resolves.toMatchObject({ id: 'con_1' });
  expect(mismatches).toHaveBeenCalledTimes(1);
});
