import { isPostreelError, type MessagingClient } from 'postreel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { mediaOver, messagingOver } from '../../support/clients.js';
import { settledInTime } from '../../support/settled.js';
import fc, { runs } from '../../support/property.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const outcomes = ['not-sent', 'rejected', 'unknown'];

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** One call of each kind of answer: none, a record, an enveloped record, each style of list. */
const calls: Record<string, (client: MessagingClient) => PromiseLike<unknown>> = {
  send: (client) => client.send(mail),
  get: (client) => client.contacts.get('con_1'),
  delete: (client) => client.contacts.delete('con_1'),
  create: (client) => client.campaigns.create({ ...campaign }),
  contacts: (client) => client.contacts.list(),
  templates: (client) => client.templates.list(),
  segments: (client) => client.segments.list(),
  graph: (client) => client.workflows.get('wf_1'),
  login: (client) => client.auth.login({ email: 'ann@example.com', password: 'x' }),
};
const campaign = {
  name: 'Spring',
  subject: 'Hi',
  body: 'Hi',
  from: 'shop@example.com',
  audienceType: 'ALL' as const,
};
const call = fc.constantFrom(...Object.keys(calls));

const name = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'then', 'length'),
  fc.constantFrom('data', 'success', 'error', 'errors', 'code', 'message', 'items', 'cursor'),
  fc.constantFrom(
    'hasMore',
    'total',
    'page',
    'totalPages',
    'id',
    'status',
    'requestId',
    'contacts',
  ),
  fc.string({ maxLength: 8 }),
);
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, -1, 1e308, '', 'x', 'completed'),
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.double(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(name, tie('value')), { maxLength: 5 }).map(asObject),
  ),
})).value;

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  json.map((value) => encodeJson(value)),
  json.map((value) => encode(`\uFEFF${JSON.stringify(value)}`)),
  fc.tuple(json, fc.nat(50)).map(([value, cut]) => encode(JSON.stringify(value)).slice(0, cut)),
  fc.constant(encode('<html><body>502 Bad Gateway</body></html>')),
  fc.constant(new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00])),
  fc.constant(new Uint8Array([0xc3, 0x28, 0xed, 0xa0, 0x80])),
);
const status = fc.oneof(
  fc.constantFrom(200, 201, 202, 400, 401, 403, 404, 408, 409, 422, 429, 500, 502, 503),
  fc.integer({ min: 200, max: 599 }),
);
const headers = fc.dictionary(
  fc.constantFrom(
    'content-type',
    'retry-after',
    'ratelimit-reset',
    'x-ratelimit-reset',
    'x-request-id',
    'location',
    'set-cookie',
    'content-length',
    'content-encoding',
  ),
  fc.oneof(
    fc.constantFrom('', '0', '-1', '1e9', 'NaN', '9'.repeat(400), 'application/json', 'text/html'),
    fc.constantFrom('http://', '//evil.example', 'Fri, 31 Dec 9999 23:59:59 GMT', 'gzip', 'a=b; c'),
    fc.string({ unit: 'grapheme-ascii', maxLength: 40 }),
  ),
  { maxKeys: 4 },
);

describe('whatever the service answers', () => {
  it('a call resolves, or rejects with an error of ours that knows its outcome', async () => {
    await fc.assert(
      fc.asyncProperty(call, status, headers, bytes, async (which, code, fields, body) => {
        const client = messagingOver(() => Promise.resolve(answer(code, fields, body)), {
          retries: 0,
        });
        await expectSound(() => calls[which]!(client));
      }),
      { numRuns: runs(400) },
    );
    expectCleanPrototypes();
  }, 120_000);

  it('strict checks of answers reject with an error of ours, too', async () => {
    await fc.assert(
      fc.asyncProperty(call, json, async (which, value) => {
        const client = messagingOver(() => Promise.resolve(answer(200, {}, encodeJson(value))), {
          retries: 0,
          validation: { responses: 'throw' },
        });
        await expectSound(() => calls[which]!(client));
      }),
      { numRuns: runs(200) },
    );
    expectCleanPrototypes();
  }, 120_000);

  it('a call with retries ends after so many attempts', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    await fc.assert(
      fc.asyncProperty(call, status, bytes, async (which, code, body) => {
        let attempts = 0;
        const client = messagingOver(() => {
          attempts++;
          return Promise.resolve(answer(code === 429 ? 503 : code, {}, body));
        });
        const { error } = await settledInTime(() => expectSound(() => calls[which]!(client)));
        expect(error).toBeUndefined();
        expect(attempts).toBeLessThanOrEqual(3);
      }),
      { numRuns: runs(100) },
    );
  }, 120_000);

  it('iterating a list ends, or ends in an error of ours', async () => {
    await fc.assert(
      fc.asyncProperty(json, fc.constantFrom('contacts', 'templates'), async (value, which) => {
        let requests = 0;
        const client = messagingOver(() => {
          // A service may claim pages without end; the caller stops.
          if (++requests > 20) {
            return Promise.resolve(Response.json({ data: [], hasMore: false }));
          }
          return Promise.resolve(answer(200, {}, encodeJson(value)));
        });
        await expectSound(() => client[which as 'contacts'].list().toArray({ max: 200 }));
      }),
      { numRuns: runs(100) },
    );
    expectCleanPrototypes();
  }, 120_000);

  it('the media client and its jobs are as sound', async () => {
    await fc.assert(
      fc.asyncProperty(status, bytes, fc.nat(2), async (code, body, which) => {
        const media = mediaOver(() => Promise.resolve(answer(code, {}, body)), { retries: 0 });
        const video = { workflowType: 'idea', workflowFormat: 'video', prompt: 'x', voiceId: 'v' };
        await expectSound(() => {
          if (which === 0) {
            return media.generate.video({ payload: [video as never] });
          }
          if (which === 1) {
            return media.generate.audio({ content: 'x', voiceId: 'v' });
          }
          return media.generate.status({ fileId: 'file_1' });
        });
      }),
      { numRuns: runs(200) },
    );
    expectCleanPrototypes();
  }, 120_000);
});

async function expectSound(run: () => PromiseLike<unknown>): Promise<void> {
  const failure: unknown = await Promise.resolve(run()).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure === undefined) {
    return;
  }
  if (!isPostreelError(failure)) {
    throw new Error('not an error of ours', { cause: failure });
  }
  expect(outcomes).toContain(failure.outcome);
  expect(failure.message.length).toBeLessThan(1_000);
  expect(failure.message).not.toMatch(/\p{Cc}/u);
  expect(JSON.stringify(failure).length).toBeLessThan(400_000);
}

function expectCleanPrototypes(): void {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(Object.keys(Array.prototype)).toEqual([]);
  expect(Reflect.get({}, 'polluted')).toBeUndefined();
}

function answer(code: number, fields: Record<string, string>, body: Uint8Array): Response {
  const sent = new Headers();
  for (const [field, value] of Object.entries(fields)) {
    sent.set(field, value);
  }
  const isEmpty = [101, 204, 205, 304].includes(code);
  return new Response(isEmpty ? null : (body as BodyInit), { status: code, headers: sent });
}

/** Like a JSON parser: `__proto__` is a key like every other. */
function asObject(entries: readonly (readonly [string, unknown])[]): unknown {
  const text = entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  return JSON.parse(`{${text.join(',')}}`) as unknown;
}

function encodeJson(value: unknown): Uint8Array {
  return encode(JSON.stringify(value));
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
