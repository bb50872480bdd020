import { isPostreelError, type PostreelError } from 'postreel';
import { describe, expect, it } from 'vitest';
import { answering, mediaOver, messagingOver } from '../../support/clients.js';
import { serve } from '../../support/fake-server.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };

type Answer = Response | (() => Promise<Response>);

/** What a caller reads: what happened, where, what to do next. */
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
    'several fields',
    refused(422, {
      error: { errors: [{ field: 'to', message: 'is bad.' }, {}, { field: 'from' }] },
    }),
    'POST /v1/send was rejected (422): `to` is bad (and 1 more).',
  ],
  [
    'a field without a name',
    refused(422, { error: { errors: [{ message: 'is bad' }] } }),
    'POST /v1/send was rejected (422): is bad.',
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
    'the page of a gateway',
    new Response('<html>502</html>', { status: 502 }),
    'POST /v1/send failed (502).',
  ],
  [
    'nothing but a request id',
    new Response(null, { status: 500, headers: { 'x-request-id': 'r1' } }),
    'POST /v1/send failed (500). Request id r1.',
  ],
  [
    'a 408, after which nobody knows',
    new Response(null, { status: 408 }),
    'POST /v1/send failed (408).',
  ],
  ['a list', refused(409, ['conflict']), 'POST /v1/send was rejected (409).'],
  [
    'HTTP 200 that says no',
    refused(200, { success: false, error: { code: 'LIMIT', message: 'Enough.' } }),
    'POST /v1/send was rejected (200 LIMIT): Enough.',
  ],
  [
    'what is not JSON',
    new Response('<p>hello</p>', { headers: { 'content-type': 'text/html' } }),
    'POST /v1/send was answered with something that is not JSON (200, text/html). It may have taken effect.',
  ],
  [
    'what is not JSON, from nobody',
    new Response(new Uint8Array([123]), { status: 201 }),
    'POST /v1/send was answered with something that is not JSON (201, no content type). It may have taken effect.',
  ],
  [
    'a long text of many lines',
    refused(400, { error: `Bad.\u0007\n\n${'x'.repeat(300)}` }),
    `POST /v1/send was rejected (400): Bad. ${'x'.repeat(195)}….`,
  ],
  [
    'a text of just so many characters',
    refused(400, { error: 'x'.repeat(200) }),
    `POST /v1/send was rejected (400): ${'x'.repeat(200)}.`,
  ],
  [
    'a redirect that leads nowhere',
    new Response(null, { status: 300 }),
    "POST /v1/send was answered with a redirect, which is not followed. Set `baseUrl` to the service's own address.",
  ],
  [
    'a redirect within the service',
    new Response(null, { status: 302, headers: { location: '/login' } }),
    "POST /v1/send was answered with a redirect to another path, which is not followed. Set `baseUrl` to the service's own address.",
  ],
  [
    'a redirect',
    new Response(null, { status: 307, headers: { location: 'https://x.example/y?z' } }),
    "POST /v1/send was answered with a redirect to https://x.example, which is not followed. Set `baseUrl` to the service's own address.",
  ],
  [
    'a lost connection',
    () => Promise.reject(new TypeError('terminated')),
    'POST /v1/send lost the connection to messaging.test before the answer was complete. It may have taken effect.',
  ],
  [
    'no connection',
    () => Promise.reject(Object.assign(new Error('x'), { code: 'ECONNREFUSED' })),
    'POST /v1/send could not reach messaging.test (ECONNREFUSED).',
  ],
  [
    'no time',
    () => new Promise(() => undefined),
    'POST /v1/send got no complete answer within 30 ms. It may have taken effect.',
  ],
];

describe('the message of', () => {
  it.each(wordings)('%s', async (_, answer, message) => {
    const fetch = () => (typeof answer === 'function' ? answer() : Promise.resolve(answer.clone()));
    const call = messagingOver(fetch, { retries: 0, timeout: 30 }).send(mail);
    const error = await failureOf(call);
    expect(error.message).toBe(message);
    expect(error).toMatchObject({ method: 'POST', path: '/v1/send' });
  });

  it('what the service says goes into the fields, within bounds', async () => {
    const errors = [
      { field: 'to', message: 'is bad', code: 'format' },
      { field: 'from' },
      'odd',
      ...Array.from({ length: 200 }, () => ({ message: 'more' })),
    ];
    const said = { suggestion: 'Fix it.', requestId: 'r2', code: '', message: 'y'.repeat(2_000) };
    const { fetch } = answering(() => refused(500, { error: { ...said, errors } }));
    const error = await failureOf(messagingOver(fetch).send(mail));
    expect(error).toMatchObject({
      name: 'ServerError',
      code: 'HTTP_500',
      status: 500,
      suggestion: 'Fix it.',
      requestId: 'r2',
    });
    expect(error.fieldErrors.slice(0, 3)).toEqual([
      { field: 'to', message: 'is bad', code: 'format' },
      { field: 'from', message: 'is not valid' },
      { field: '', message: 'odd' },
    ]);
    expect(error.fieldErrors).toHaveLength(100);
  });

  it('a read does not speak of effects', async () => {
    const client = messagingOver(() => Promise.reject(new TypeError('terminated')), { retries: 0 });
    const error = await failureOf(client.contacts.get('con_1'));
    expect(error.message).toBe(
      'GET /contacts/con_1 lost the connection to messaging.test before the answer was complete.',
    );
  });

  it('a list without a list', async () => {
    const client = messagingOver(() => Promise.resolve(Response.json({ a: 1 })));
    const error = await failureOf(client.contacts.list());
    expect(error.message).toBe('GET /contacts was answered without a list in it.');
  });

  it('an answer that strict checks refuse', async () => {
    const validation = { responses: 'throw' } as const;
    const client = messagingOver(
      () => Promise.resolve(Response.json({ success: true, data: {} })),
      {
        validation,
      },
    );
    const error = await failureOf(client.send(mail));
    expect(error.message).toMatch(/^POST \/v1\/send was answered, but not as its document says: /);
    expect(error).toMatchObject({ code: 'RESPONSE_MISMATCH', outcome: 'unknown' });
  });

  it('a deadline that passed before the call could leave', async () => {
    const client = messagingOver(() => Promise.reject(new Error('must not be called')), {
      apiKey: () => new Promise(() => undefined),
    });
    const error = await failureOf(client.send(mail, { deadline: 10 }));
    expect(error.message).toBe('POST /v1/send was not sent: its `deadline` passed before.');
  });

  it('a wait for the rate limit that has no room', async () => {
    const { messaging } = await serve();
    const client = messaging({ rateLimit: { limit: 1, windowMs: 60_000 } });
    await client.contacts.list();
    const error = await failureOf(client.send(mail, { deadline: 1_000 }));
    expect(error.message).toMatch(
      /^The rate limit leaves no room in time: about \d+ s to wait\. Try again later, or allow a longer `deadline`\.$/,
    );
  });

  it('a wait for the rate limit that is longer than the client allows', async () => {
    const { messaging } = await serve();
    const client = messaging({ rateLimit: { limit: 1, windowMs: 60_000, maxQueueMs: 10 } });
    await client.contacts.list();
    const error = await failureOf(client.send(mail));
    expect(error.message).toMatch(/ Try again later, or allow a longer `maxQueueMs`\.$/);
  });

  it('file ids that are missing names those that exist: they are paid for', async () => {
    const job = {
      workflowType: 'idea',
      workflowFormat: 'video',
      prompt: 'x',
      voiceId: 'v',
    } as const;
    const client = mediaOver(() => Promise.resolve(Response.json({ filesCreated: ['file_1'] })));
    const call = client.generate.video({ payload: [job, job] });
    const error = await failureOf(call);
    expect(error.message).toBe(
      'POST /v1/generate/video was answered with 1 file ids for 2 jobs. The files that exist: file_1.',
    );
    expect(error).toMatchObject({ fileIds: ['file_1'], outcome: 'unknown' });
    expect(call.outcome).toBe('unknown');
  });
});

function refused(status: number, body: unknown): Response {
  return Response.json(body, { status });
}

async function failureOf(call: PromiseLike<unknown>): Promise<PostreelError> {
  const error: unknown = await Promise.resolve(call).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isPostreelError(error)) {
    throw new Error('not an error of ours', { cause: error });
  }
  return error;
}
