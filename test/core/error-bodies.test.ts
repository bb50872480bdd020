import { inspect } from 'node:util';
import { MessagingClient, type MessagingOptions, type PostreelError } from 'postreel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';
import { scripted, step } from '../support/script.js';
import { settledInTime } from '../support/settled.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

type Answer = Response | (() => Promise<Response>);

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

/** The error of an email to which the service responds like this. */
async function errorOf(answer: Answer, options: MessagingOptions = {}): Promise<PostreelError> {
  const { fetch } = answering(() => (typeof answer === 'function' ? answer() : answer.clone()));
  const { error } = await messagingOver(fetch, { retries: 0, ...options })
    .send(mail)
    .safe();
  if (!error) {
    throw new Error('it succeeded');
  }
  return error;
}

const refused = (status: number, body: unknown) => Response.json(body, { status });
const text = (status: number, body: string | null, headers: Record<string, string> = {}) =>
  new Response(body, { status, headers });

/** The messages: what happened, where, and what to do next. */
const wordings: [string, Answer, string][] = [
  [
    'the documented envelope',
    refused(422, {
      success: false,
      error: {
        code: 'VALIDATION_ERROR',
        message: 'Invalid body.',
        requestId: 'req_8f2',
        errors: [{ field: 'subject', message: 'must not contain a line break', code: 'custom' }],
        suggestion: 'Remove it.',
      },
    }),
    'POST /v1/send was rejected (422 VALIDATION_ERROR): Invalid body: `subject` must not contain a line break. Request id req_8f2.',
  ],
  [
    'the other documented body',
    refused(403, { code: 403, error: 'Forbidden', message: 'Not yours.', time: 1 }),
    'POST /v1/send was rejected (403 Forbidden): Not yours.',
  ],
  [
    'a bare text',
    refused(400, { error: 'Bad `to`.' }),
    'POST /v1/send was rejected (400): Bad `to`.',
  ],
  [
    'several fields',
    refused(422, { error: { errors: [{ field: 'to', message: 'is bad.' }, {}, {}] } }),
    'POST /v1/send was rejected (422): `to` is bad (and 2 more).',
  ],
  [
    'a rule that names its field',
    refused(422, { error: { errors: [{ field: 'to', message: '"to" must be an email.' }] } }),
    'POST /v1/send was rejected (422): "to" must be an email.',
  ],
  [
    'a rule that begins like its field',
    refused(422, { error: { errors: [{ field: 'to', message: 'too long' }] } }),
    'POST /v1/send was rejected (422): `to` too long.',
  ],
  [
    'a rule that is a sentence',
    refused(422, { error: { errors: [{ field: 'from', message: 'The domain is unknown.' }] } }),
    'POST /v1/send was rejected (422): `from`: The domain is unknown.',
  ],
  [
    'a plan that is used up',
    refused(402, { error: { code: 'PLAN_LIMIT', message: 'Upgrade.' } }),
    'POST /v1/send was rejected (402 PLAN_LIMIT): Upgrade.',
  ],
  ['the page of a gateway', text(502, '<html>502</html>'), 'POST /v1/send failed (502).'],
  ['nothing', text(500, null), 'POST /v1/send failed (500).'],
  [
    'nothing but a request id',
    text(500, null, { 'x-request-id': 'r1' }),
    'POST /v1/send failed (500). Request id r1.',
  ],
  [
    'half of a JSON text',
    text(422, '{"error": {"code": "VALI'),
    'POST /v1/send was rejected (422).',
  ],
  ['plain text', text(503, 'upstream is gone\n'), 'POST /v1/send failed (503): upstream is gone.'],
  ['a 408, after which nobody knows', text(408, null), 'POST /v1/send failed (408).'],
  [
    'HTTP 200 that says no',
    refused(200, { success: false, error: { code: 'LIMIT', message: 'Enough.' } }),
    'POST /v1/send was rejected (200 LIMIT): Enough.',
  ],
  [
    'HTML with 200',
    text(200, '<p>hello</p>', { 'content-type': 'text/html' }),
    'POST /v1/send was answered with something that is not JSON (200, text/html). It may have taken effect.',
  ],
  [
    'a JSON text that was cut, with 200',
    text(200, '{"success": tr'),
    'POST /v1/send lost the connection to messaging.test before the response was complete. It may have taken effect.',
  ],
  [
    'a long text of many lines',
    refused(400, { error: `Bad.\u0007\n\n${'x'.repeat(300)}` }),
    `POST /v1/send was rejected (400): Bad. ${'x'.repeat(195)}….`,
  ],
  [
    'a redirect to another host',
    text(307, null, { location: 'https://x.example/login?token=secret' }),
    "POST /v1/send was answered with a redirect to https://x.example, which is not followed. Set `baseUrl` to the service's own address.",
  ],
  [
    'a redirect within the service',
    text(302, null, { location: '/login' }),
    "POST /v1/send was answered with a redirect to another path, which is not followed. Set `baseUrl` to the service's own address.",
  ],
  [
    'a lost connection',
    () => Promise.reject(new TypeError('terminated')),
    'POST /v1/send lost the connection to messaging.test before the response was complete (terminated). It may have taken effect.',
  ],
  [
    'a connection that broke, with a code of the system',
    step.lost,
    'POST /v1/send lost the connection to messaging.test before the response was complete (ECONNRESET). It may have taken effect.',
  ],
];

describe('the message of', () => {
  it.each(wordings)('%s', async (_, answer, message) => {
    const error = await errorOf(answer);
    expect(error.message).toBe(message);
    expect(error).toMatchObject({ method: 'POST', path: '/v1/send' });
  });

  it('a timeout', async () => {
    vi.useFakeTimers();
    const { client } = scripted([step.silence, step.silence]);
    const sent = await settledInTime(() => client.send(mail, { timeout: 30 }));
    expect((sent.error as Error).message).toBe(
      'POST /v1/send got no complete response within 30 ms. It may have taken effect.',
    );
    const read = await settledInTime(() =>
      client.contacts.get('con_1', { timeout: 30, retries: 0 }),
    );
    expect((read.error as Error).message).toBe(
      'GET /contacts/con_1 got no complete response within 30 ms.',
    );
  });

  it('a response without the requested list', async () => {
    const { fetch } = answering(() => ({ message: 'hello' }));
    await expect(messagingOver(fetch).contacts.list()).rejects.toThrow(
      'GET /contacts: the response contains no list.',
    );
  });

  it.each([
    ['https://api.example.com/v1', true],
    ['https://api.example.com/prefix/v1/', true],
    ['https://api.example.com', false],
  ])('a 404 below %s hints at the `/v1` of the address: %s', async (baseUrl, isHinted) => {
    const { message } = await errorOf(text(404, null), { baseUrl });
    expect(message.includes('`baseUrl` ends in `/v1`: leave that out')).toBe(isHinted);
  });
});

describe('an address that cannot be reached', () => {
  const unreachable = async (options: MessagingOptions) => {
    const client = new MessagingClient({
      fetch: step.refused,
      apiKey: 'sk_1',
      retries: 0,
      ...options,
    });
    const { error } = await client.send(mail).safe();
    expect(error).toMatchObject({ code: 'NOT_CONNECTED', outcome: 'not-sent' });
    return error?.message;
  };

  it('is an error with the code of the system and the source of the address', async () => {
    const baseUrl = 'https://messaging.test';
    expect(await unreachable({ baseUrl })).toBe(
      'POST /v1/send could not reach messaging.test (ECONNREFUSED). The address came from the option `baseUrl`.',
    );
    vi.stubEnv('MESSAGING_BASE_URL', baseUrl);
    expect(await unreachable({})).toMatch(/The address came from MESSAGING_BASE_URL\.$/);
  });

  it.each(['http://127.0.0.1:4999', 'http://localhost:4999'])(
    'on this machine may be the fake: %s',
    async (baseUrl) => {
      expect(await unreachable({ baseUrl })).toMatch(
        /could not reach (127\.0\.0\.1|localhost):4999 \(ECONNREFUSED\)\. The address came from the option `baseUrl`\. If it is the fake: is `npx postreel fake` running\?$/,
      );
    },
  );
});

describe('the error response of the service', () => {
  it('fills the fields of the error', async () => {
    const error = {
      code: 'VALIDATION_ERROR',
      message: 'Invalid body.',
      statusCode: 422,
      requestId: 'req_1',
      errors: [{ field: 'to', message: 'is bad', code: 'format' }, { field: 'from' }, 'odd'],
      suggestion: 'Fix it.',
    };
    const timestamp = '2030-01-01T00:00:00Z';
    expect(await errorOf(refused(422, { success: false, error, timestamp }))).toMatchObject({
      name: 'UnprocessableError',
      code: 'VALIDATION_ERROR',
      status: 422,
      requestId: 'req_1',
      suggestion: 'Fix it.',
      timestamp,
      fieldErrors: [
        { field: 'to', message: 'is bad', code: 'format' },
        { field: 'from', message: 'is not valid' },
      ],
    });
  });

  it.each<[string, unknown, string]>([
    ['the service’s own', { error: { code: 'NO_CREDIT', message: 'No.' } }, 'NO_CREDIT'],
    ['its other one', { code: 400, error: 'BadThing', message: 'No.' }, 'BadThing'],
    ['the status, where it gives none', { error: 'No.' }, 'HTTP_400'],
    ['the status, where it gives a sentence', { code: 'ann@x.test is taken' }, 'HTTP_400'],
  ])('has a code: %s', async (_, body, code) => {
    expect(await errorOf(refused(400, body))).toMatchObject({ code });
  });

  it('has the requested pause in `retryAfterMs`', async () => {
    const headers = { 'retry-after': '7' };
    expect(await errorOf(text(429, null, headers))).toMatchObject({ retryAfterMs: 7_000 });
    expect(await errorOf(text(503, null, headers))).toMatchObject({ retryAfterMs: 7_000 });
    expect((await errorOf(text(400, null))).retryAfterMs).toBeUndefined();
  });

  it('is in `body` completely, which is not printed or logged', async () => {
    const said = { error: { message: 'No' }, hidden: ['of the service', 1, true, null] };
    const error = await errorOf(refused(422, said));
    expect(error.body).toEqual(said);
    expect(Object.keys(error)).not.toContain('body');
    expect(inspect(error) + JSON.stringify(error)).not.toContain('of the service');
    expect((await errorOf(text(502, '<b>502</b>'))).body).toBe('<b>502</b>');
    expect((await errorOf(text(200, '<p>Log in</p>'))).body).toBe('<p>Log in</p>');
  });

  it('is kept if it is long: a thousand fields, far more than 64 KB', async () => {
    const errors = Array.from({ length: 1_000 }, (_, index) => ({
      field: `payload[${index}].email`,
      message: `must be an email address, ${'x'.repeat(100)}`,
    }));
    const said = { code: 'VALIDATION_ERROR', message: 'Invalid body.', requestId: 'req_1', errors };
    const body = JSON.stringify({ success: false, error: said });
    expect(body.length).toBeGreaterThan(2 * 64 * 1024);
    const error = await errorOf(text(422, body, { 'content-length': String(body.length) }));
    expect(error).toMatchObject({ code: 'VALIDATION_ERROR', requestId: 'req_1' });
    expect(error.message).toMatch(
      /^POST \/v1\/send was rejected \(422 VALIDATION_ERROR\): Invalid body/,
    );
    expect(error.fieldErrors).toHaveLength(100);
    expect(error.fieldErrors.at(-1)).toMatchObject({ field: 'payload[99].email' });
  });

  it('is shortened: its texts, its size and its depth', async () => {
    const long = 'é'.repeat(5_000);
    const error = { code: long, message: long, suggestion: long, requestId: long };
    const { suggestion, requestId, message } = await errorOf(refused(422, { error }));
    expect([suggestion?.length, requestId?.length]).toEqual([1_000, 1_000]);
    expect(message.length).toBeLessThan(800);
    const headers = { 'x-request-id': 'r'.repeat(5_000) };
    expect((await errorOf(text(404, null, headers))).requestId).toHaveLength(200);
    const sizeOf = async (body: string) =>
      JSON.stringify((await errorOf(text(422, body))).body).length;
    expect(await sizeOf(`{"error":"no","list":[${'[],'.repeat(5_000)}[]]}`)).toBeLessThan(5_000);
    expect(await sizeOf(`${'{"a":'.repeat(500)}1${'}'.repeat(500)}`)).toBeLessThan(200);
    expect(await sizeOf('z'.repeat(60_000))).toBeLessThan(4_100);
  });

  it('loses its control characters in the message', async () => {
    const evil = 'a\n\u001b[31mb\u0000c\r\nd';
    const error = { code: evil, message: evil, requestId: evil };
    const { message } = await errorOf(
      refused(422, { error: { ...error, errors: [{ field: evil, message: evil }] } }),
    );
    expect(message).not.toMatch(/\p{Cc}/u);
    expect(message).toContain('a [31mb c d');
  });
});

describe('an error response whose body is lost', () => {
  /** A response whose headers arrive, and whose body breaks or never ends. */
  function headOnly(status: number, end: 'breaks' | 'stalls', headers: HeadersInit = {}): Response {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"error":{"co'));
        if (end === 'breaks') {
          controller.error(new TypeError('terminated'));
        }
      },
    });
    return new Response(body, { status, headers });
  }

  it.each([
    [400, 'breaks', 'BadRequestError', 'rejected'],
    [404, 'stalls', 'NotFoundError', 'rejected'],
    [422, 'stalls', 'UnprocessableError', 'rejected'],
    [500, 'breaks', 'ServerError', 'unknown'],
    [307, 'breaks', 'UnexpectedResponseError', 'rejected'],
  ] as const)('is what its status says: %i that %s', async (status, end, name, outcome) => {
    vi.useFakeTimers();
    const { client, requests } = scripted([() => headOnly(status, end)]);
    const { error } = await settledInTime(() => client.send(mail));
    expect(error).toMatchObject({ name, status, outcome });
    expect(requests).toHaveLength(1);
  });

  it('still renews the key, and pauses the rate limit', async () => {
    vi.useFakeTimers();
    let keys = 0;
    const steps = [
      () => headOnly(401, 'breaks'),
      () => headOnly(429, 'breaks', { 'retry-after': '7' }),
    ];
    const apiKey = () => `sk_lost_body_${++keys}`;
    const { client, retries } = scripted(steps, { apiKey, rateLimit: {} });
    const call = client.send(mail);
    await vi.advanceTimersByTimeAsync(1_000);
    expect([keys, retries]).toMatchObject([2, [{ delayMs: 7_000 }]]);
    expect(client.rateLimit.state()?.resetsAt).toBeInstanceOf(Date);
    await vi.advanceTimersByTimeAsync(10_000);
    await expect(call).resolves.toBeDefined();
  });

  it('does not hide an abort; a 200 whose body is lost is a lost connection', async () => {
    const controller = new AbortController();
    const { client } = scripted([() => headOnly(400, 'stalls'), () => headOnly(200, 'breaks')]);
    setTimeout(() => controller.abort('enough'), 20);
    await expect(client.send(mail, { signal: controller.signal })).rejects.toBe('enough');
    await expect(client.send(mail)).rejects.toMatchObject({
      code: 'CONNECTION_LOST',
      outcome: 'unknown',
    });
  });
});
