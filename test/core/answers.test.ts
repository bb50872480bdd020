import { isPostreelError, type MediaClient, type MessagingClient } from 'postreel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { answering, mediaOver, messagingOver } from '../support/clients.js';
import fc, { runs } from '../support/property.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const over = (answer: () => Response) => messagingOver(answering(answer).fetch, { retries: 0 });
const json = (body: unknown) => () => Response.json(body);

afterEach(() => void vi.restoreAllMocks());

/** Responses that only confirm success. */
const bareYes: readonly [string, () => Response][] = [
  ['a 204', () => new Response(null, { status: 204 })],
  ['an empty 200', () => new Response('')],
  ['an empty 202', () => new Response(null, { status: 202 })],
  ['`true`', json(true)],
  ['`null`', json(null)],
  ['`{ success: true }`', json({ success: true })],
];

describe.each(bareYes)('%s', (_, answer) => {
  it('counts as success for every call, and its lists are empty arrays', async () => {
    const { emails } = await over(answer).send(mail);
    expect(emails).toEqual([]);
    expect(await over(answer).contacts.create({ email: 'ann@example.com' })).toBeTypeOf('object');
    const { reasons } = await over(answer).verify({ email: 'ann@example.com' });
    expect(reasons).toEqual([]);
    expect(await over(answer).contacts.list().toArray()).toEqual([]);
    await over(answer).contacts.delete('con_1');
  });
});

it('two empty responses do not share their lists', async () => {
  const client = over(json({ success: true }));
  const first = await client.send(mail);
  first.emails.push({ email: 'em_1', contact: { id: 'con_1', email: 'ann@example.com' } });
  expect((await client.send(mail)).emails).toEqual([]);
});

describe('an envelope', () => {
  it.each([
    [{ success: true, data: { id: 'con_1' } }, { id: 'con_1' }],
    [
      { id: 'con_1', data: { plan: 'pro' } },
      { id: 'con_1', data: { plan: 'pro' } },
    ],
    [{ data: { id: 'con_1' } }, { data: { id: 'con_1' } }],
    [
      { success: true, id: 'con_1' },
      { success: true, id: 'con_1' },
    ],
  ])('is removed from the response of any call: %j', async (body, result) => {
    await expect(over(json(body)).contacts.get('con_1')).resolves.toEqual(result);
  });
});

describe('a redirect', () => {
  const answered = (response: Response, fields: object = {}) => {
    for (const [name, value] of Object.entries(fields)) {
      Object.defineProperty(response, name, { value });
    }
    return over(() => response).send(mail);
  };

  it.each([301, 302, 303, 307, 308])(
    'with %i is no answer, and is not followed',
    async (status) => {
      const { fetch, requests } = answering(
        () => new Response(null, { status, headers: { location: 'https://other.test/' } }),
      );
      const { error } = await messagingOver(fetch).send(mail).safe();
      expect(error).toMatchObject({ name: 'UnexpectedResponseError', status });
      expect(requests).toHaveLength(1);
    },
  );

  it('that a browser hides has an unknown outcome', async () => {
    const hidden = { ok: false, status: 0, type: 'opaqueredirect', headers: new Headers() };
    const { error } = await answered(new Response(null), hidden).safe();
    expect(error).toMatchObject({ name: 'UnexpectedResponseError', outcome: 'unknown' });
  });

  it('that `fetch` followed is an error, because it answers another request', async () => {
    const { error } = await answered(Response.json({ emails: [] }), { redirected: true }).safe();
    expect(error).toMatchObject({ code: 'UNEXPECTED_RESPONSE', outcome: 'unknown' });
    expect(error?.message).toContain(
      '`fetch` followed the redirect although the client forbids it',
    );
  });
});

describe('a large response', () => {
  it('of a million items can be read', async () => {
    const text = `{"data":[${'{},'.repeat(999_999)}{}]}`;
    const { items } = await over(() => new Response(text)).contacts.list();
    expect(items).toHaveLength(1_000_000);
  });

  it.each([
    ['a record', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['lists', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ])('nested as deep as the stack can be read: %s', async (_, text) => {
    await expect(over(() => new Response(text)).contacts.get('con_1')).resolves.toBeDefined();
  });
});

/** One call for each kind of result: none, a record, an enveloped record, each style of list. */
const calls: Record<string, (client: MessagingClient) => PromiseLike<unknown>> = {
  send: (client) => client.send(mail),
  get: (client) => client.contacts.get('con_1'),
  delete: (client) => client.contacts.delete('con_1'),
  contacts: (client) => client.contacts.list().toArray({ max: 200 }),
  templates: (client) => client.templates.list().toArray({ max: 200 }),
  segments: (client) => client.segments.list(),
  graph: (client) => client.workflows.get('wf_1'),
  login: (client) => client.auth.login({ email: 'ann@example.com', password: 'x' }),
};
const call = fc.constantFrom(...Object.keys(calls));

const name = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', 'then', 'length', 'data', 'success'),
  fc.constantFrom('error', 'errors', 'code', 'message', 'cursor', 'hasMore', 'total', 'page', 'id'),
  fc.string({ maxLength: 8 }),
);
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, -1, 1e308, '', 'x', 'completed'),
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(name, tie('value')), { maxLength: 5 }).map(asObject),
  ),
})).value;
const text = fc.oneof(
  value.map((one) => JSON.stringify(one)),
  fc.tuple(value, fc.nat(50)).map(([one, cut]) => JSON.stringify(one).slice(0, cut)),
  fc.constant('<html><body>502 Bad Gateway</body></html>'),
  fc.string({ unit: 'binary', maxLength: 100 }),
);
const status = fc.oneof(
  fc.constantFrom(200, 201, 202, 400, 401, 404, 408, 422, 429, 500, 503),
  fc.integer({ min: 200, max: 599 }),
);
const headers = fc.dictionary(
  fc.constantFrom('content-type', 'retry-after', 'x-ratelimit-reset', 'x-request-id', 'location'),
  fc.oneof(
    fc.constantFrom('', '0', '-1', '1e9', 'NaN', '9'.repeat(400), 'application/json', 'http://'),
    fc.string({ unit: 'grapheme-ascii', maxLength: 40 }),
  ),
  { maxKeys: 3 },
);

/** Like a JSON parser: `__proto__` is a key like every other. */
function asObject(entries: readonly (readonly [string, unknown])[]): unknown {
  const fields = entries.map(([key, one]) => `${JSON.stringify(key)}:${JSON.stringify(one)}`);
  return JSON.parse(`{${fields.join(',')}}`) as unknown;
}

function answer(code: number, body: string, fields: Record<string, string> = {}): Response {
  const isEmpty = [204, 205, 304].includes(code);
  return new Response(isEmpty ? null : body, { status: code, headers: fields });
}

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
  expect(['not-sent', 'rejected', 'unknown']).toContain(failure.outcome);
  expect(failure.message.length).toBeLessThan(1_000);
  expect(failure.message).not.toMatch(/\p{Cc}/u);
  expect(JSON.stringify(failure).length).toBeLessThan(400_000);
}

describe('whatever the service answers', () => {
  it('a call resolves, or rejects with a PostreelError that has an outcome', async () => {
    await fc.assert(
      fc.asyncProperty(call, status, headers, text, async (which, code, fields, body) => {
        await expectSound(() => calls[which]!(over(() => answer(code, body, fields))));
      }),
      { numRuns: runs(400) },
    );
    expect([Object.keys(Object.prototype), Reflect.get({}, 'polluted')]).toEqual([[], undefined]);
  });

  it('strict checks also reject with a PostreelError', async () => {
    await fc.assert(
      fc.asyncProperty(call, value, async (which, one) => {
        const { fetch } = answering(() => Response.json(one));
        const validation = { responses: 'throw' } as const;
        await expectSound(() => calls[which]!(messagingOver(fetch, { retries: 0, validation })));
      }),
      { numRuns: runs(200) },
    );
  });

  it('the same holds for the media client', async () => {
    const film = { workflowType: 'idea', prompt: 'Cats', voiceId: 'v' } as const;
    const of = fc.constantFrom<((media: MediaClient) => PromiseLike<unknown>)[]>(
      ({ generate }) => generate.video(film),
      ({ generate }) => generate.audio({ content: 'x', voiceId: 'v' }),
      ({ generate }) => generate.status({ fileId: 'file_1' }),
    );
    await fc.assert(
      fc.asyncProperty(status, text, of, async (code, body, one) => {
        const { fetch } = answering(() => answer(code, body));
        await expectSound(() => one(mediaOver(fetch, { retries: 0 })));
      }),
      { numRuns: runs(100) },
    );
  });
});
