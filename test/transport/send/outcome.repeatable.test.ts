import { describe, expect, it } from 'vitest';
import endpoints from '../../../src/testing/endpoints.json' with { type: 'json' };
import { mediaOver, messagingOver } from '../../support/clients.js';
import { samples } from '../../support/contract/samples.js';
import { inTime, useFakeTime } from '../../support/media/fake-time.js';

type Answer = () => Promise<Response>;

const reset = Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' });
const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED', syscall: 'connect' });

/** Faults that happen once, after which the service may have acted. */
const lost: readonly [string, Answer][] = [
  ['a lost answer', () => Promise.reject(new TypeError('fetch failed', { cause: reset }))],
  ['half an answer', () => Promise.resolve(new Response(halfABody()))],
  ['408', () => Promise.resolve(new Response(null, { status: 408 }))],
  ['503', () => Promise.resolve(new Response(null, { status: 503 }))],
];
const certain: readonly [string, Answer][] = [
  [
    '429',
    () => Promise.resolve(new Response(null, { status: 429, headers: { 'Retry-After': '0' } })),
  ],
  ['no connection', () => Promise.reject(new TypeError('fetch failed', { cause: refused }))],
];

// A wait between two attempts takes up to half a second: too long in 300 tests.
useFakeTime();

describe.each(endpoints.filter(({ repeatable }) => repeatable))('$sdk', ({ sdk, path }) => {
  it.each([...lost, ...certain])('recovers from %s', async (_, fault) => {
    const { attempts, call } = callOnce(sdk, path, fault);
    await expect(call).resolves.not.toThrow();
    expect(attempts()).toBe(2);
  });
});

describe.each(endpoints.filter(({ repeatable }) => !repeatable))('$sdk', ({ sdk, path }) => {
  it.each(lost)('is sent once despite %s, and is unknown', async (_, fault) => {
    const { attempts, call } = callOnce(sdk, path, fault);
    await expect(call).rejects.toMatchObject({ outcome: 'unknown' });
    expect(attempts()).toBe(1);
  });

  it.each(certain)('recovers from %s', async (_, fault) => {
    const { attempts, call } = callOnce(sdk, path, fault);
    await expect(call).resolves.not.toThrow();
    expect(attempts()).toBe(2);
  });
});

describe('a call without a method', () => {
  it.each(['GET', 'PUT', 'PATCH', 'DELETE'] as const)(
    'is repeated if it is a %s',
    async (method) => {
      const { fetch, attempts } = failingOnce(lost[0]![1], { id: 'one' });
      const client = messagingOver(fetch);
      await expect(inTime(client.request(method, '/new'))).resolves.toEqual({ id: 'one' });
      expect(attempts()).toBe(2);
    },
  );

  it('is not repeated if it is a POST', async () => {
    const { fetch, attempts } = failingOnce(lost[0]![1], {});
    const call = inTime(messagingOver(fetch).request('POST', '/new'));
    await expect(call).rejects.toMatchObject({ outcome: 'unknown' });
    expect(attempts()).toBe(1);
  });
});

/** A `fetch` whose first request fails. */
function failingOnce(fault: Answer, answer: unknown) {
  let attempts = 0;
  const fetch = () => (++attempts === 1 ? fault() : Promise.resolve(Response.json(answer)));
  return { fetch, attempts: () => attempts };
}

/** Calls a method whose first attempt fails. */
function callOnce(sdk: string, path: string, fault: Answer) {
  const { fetch, attempts } = failingOnce(fault, answerOf(sdk));
  const clients = { messaging: messagingOver(fetch), media: mediaOver(fetch) };
  const names = sdk.split('.');
  const method = names.pop() ?? '';
  const owner = names.reduce<object>((value, name) => Reflect.get(value, name) as object, clients);
  const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => `${name}_1`);
  const input = samples[sdk]?.body ?? samples[sdk]?.query;
  const args = [...ids, ...(input === undefined ? [] : [input])];
  const run = Reflect.get(owner, method) as (...values: unknown[]) => PromiseLike<unknown>;
  return { call: inTime(run.apply(owner, args)), attempts };
}

function answerOf(sdk: string): unknown {
  if (sdk === 'media.generate.video') {
    return { filesCreated: ['file_1'], folderId: 'folder_1' };
  }
  return sdk === 'media.generate.audio' ? { fileId: 'file_1' } : { data: [] };
}

function halfABody(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('{"data": [')),
    pull: (controller) => controller.error(new TypeError('terminated')),
  });
}
