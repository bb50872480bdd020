import { context, SpanKind, SpanStatusCode, trace, type Attributes } from '@opentelemetry/api';
import { createFakeMedia, createFakeMessaging } from 'postreel/testing';
import { MediaClient, MessagingClient } from 'postreel';
import { instrument } from 'postreel/otel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';
import { followContext, startRecording } from '../support/otel/recording.js';
import { conventions } from '../support/otel/semantic-conventions.js';

const email = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'A secret' };
const found = { id: 'con_1', email: 'ann@example.com' };
/** The headers of a failure that may be retried at once. */
const atOnce = { 'retry-after': '0' };
const serverError = () => new Response(null, { status: 503, headers: atOnce });

let record: ReturnType<typeof startRecording>;
beforeEach(() => {
  record = startRecording();
});
afterEach(async () => {
  await record.stop();
});

describe('the spans of a call', () => {
  it('are one for the call and, below it, one of kind CLIENT for each attempt', async () => {
    const answers = [serverError(), found];
    const messaging = messagingOver(answering(() => answers.shift()).fetch);
    await instrument(messaging, record);
    await messaging.contacts.get('con_1');
    const name = 'GET /contacts/{id}';
    const [first, second, call] = record.spans();
    expect([first?.name, second?.name, call?.name]).toEqual([name, name, `postreel ${name}`]);
    expect([first?.kind, call?.kind]).toEqual([SpanKind.CLIENT, SpanKind.INTERNAL]);
    const { spanId } = call!.spanContext();
    expect([first, second].map((span) => span?.parentSpanContext?.spanId)).toEqual([
      spanId,
      spanId,
    ]);
    expect(first?.attributes).toMatchObject({
      'http.request.method': 'GET',
      'http.response.status_code': 503,
      'url.template': '/contacts/{id}',
      'url.full': 'https://messaging.test/contacts/REDACTED',
      'server.address': 'messaging.test',
      'server.port': 443,
      'error.type': '503',
      'postreel.outcome': 'rejected',
    });
    expect(first?.status.code).toBe(SpanStatusCode.ERROR);
    expect(second?.attributes).toMatchObject({
      'http.request.resend_count': 1,
      'postreel.outcome': 'done',
    });
    expect(second?.status.code).toBe(SpanStatusCode.UNSET);
    expect(call?.attributes).toMatchObject({ 'postreel.attempts': 2, 'postreel.outcome': 'done' });
    expect(call?.events.map((event) => event.name)).toEqual(['retry']);
  });

  it('are children of the span that is active when the call is made', async () => {
    const stop = followContext();
    try {
      const messaging = messagingOver(answering(() => found).fetch);
      await instrument(messaging, record);
      const parent = record.tracer.startSpan('checkout');
      await context.with(trace.setSpan(context.active(), parent), () =>
        messaging.contacts.get('con_1'),
      );
      const call = record.span('postreel GET /contacts/{id}');
      expect(call?.parentSpanContext?.spanId).toBe(parent.spanContext().spanId);
    } finally {
      stop();
    }
  });

  it('are active while `fetch` runs, so that the spans of `fetch` are their children', async () => {
    const stop = followContext();
    try {
      const active: (string | undefined)[] = [];
      const messaging = messagingOver(() => {
        active.push(trace.getActiveSpan()?.spanContext().spanId);
        return Promise.resolve(Response.json(found));
      });
      await instrument(messaging, record);
      await messaging.contacts.get('con_1');
      expect(active).toEqual([record.span('GET /contacts/{id}')?.spanContext().spanId]);
    } finally {
      stop();
    }
  });

  it('keep concurrent calls apart', async () => {
    const messaging = messagingOver(answering(() => found).fetch);
    await instrument(messaging, record);
    await Promise.all([1, 2, 3].map((id) => messaging.contacts.get(`con_${id}`)));
    const parents = record.spans().flatMap(({ parentSpanContext }) => parentSpanContext ?? []);
    expect(new Set(parents.map(({ spanId }) => spanId)).size).toBe(3);
  });

  it('record how long the call waited for the rate limit', async () => {
    const rateLimit = { limit: 1, windowMs: 120, group: 'telemetry' };
    const messaging = messagingOver(answering(() => found).fetch, { rateLimit });
    await instrument(messaging, record);
    await messaging.contacts.get('con_1');
    await messaging.contacts.get('con_2');
    const queued = record
      .spans()
      .filter(({ kind }) => kind === SpanKind.CLIENT)
      .map(({ attributes }) => Number(attributes['postreel.queue.duration']));
    expect(queued[0]).toBeLessThan(0.1);
    expect(queued[1]).toBeGreaterThan(0.1);
  });

  it('record the error of a failed call, and whether it may have happened', async () => {
    const fetch = () => Promise.reject(new TypeError('fetch failed'));
    const messaging = messagingOver(fetch);
    await instrument(messaging, record);
    const error = await messaging.send(email).then(undefined, (reason: unknown) => reason);
    const { code, outcome } = error as { code: string; outcome: string };
    const call = record.span('postreel POST /v1/send');
    expect(call?.attributes).toMatchObject({ 'error.type': code, 'postreel.outcome': outcome });
    expect(call?.status.code).toBe(SpanStatusCode.ERROR);
  });

  it('end if the call is aborted while it waits for the rate limit', async () => {
    const rateLimit = { limit: 1, windowMs: 60_000, group: 'aborted telemetry' };
    const messaging = messagingOver(answering(() => found).fetch, { rateLimit });
    await instrument(messaging, record);
    await messaging.contacts.get('con_1');
    const controller = new AbortController();
    const call = messaging.contacts.get('con_2', { signal: controller.signal });
    controller.abort();
    await expect(call).rejects.toThrow();
    expect(record.spans().at(-1)?.attributes).toMatchObject({
      'postreel.attempts': 0,
      'postreel.outcome': 'not-sent',
    });
  });

  it('never contain an API key, an address or a body, for any call', async () => {
    const fake = createFakeMessaging();
    const { secretKey: apiKey, baseUrl, fetch } = fake;
    const messaging = new MessagingClient({ apiKey, baseUrl, fetch });
    await instrument(messaging, record);
    await messaging.send(email).catch(() => undefined);
    await messaging.contacts.create({ email: 'ann@example.com' });
    await messaging.contacts.get('ann@example.com').catch(() => undefined);
    await messaging.contacts.list({ search: 'ann@example.com' });
    await messaging.request('GET', '/people/ann@example.com').catch(() => undefined);
    const recorded = JSON.stringify([
      record
        .spans()
        .map(({ name, attributes, events, status }) => [name, attributes, events, status]),
      [...(await record.metrics())],
    ]);
    expect(record.spans().length).toBeGreaterThanOrEqual(10);
    expect(recorded).not.toMatch(/ann(@|%40)|A secret|sk_|Bearer/);
  });
});

describe('the metrics of calls', () => {
  it('are those of the semantic conventions, plus the queue and the retries', async () => {
    const answers = [serverError(), found];
    const messaging = messagingOver(answering(() => answers.shift()).fetch);
    await instrument(messaging, record);
    await messaging.contacts.get('con_1');
    const metrics = await record.metrics();
    const durations = metrics.get('postreel.client.attempt.duration') ?? [];
    expect(durations.map(({ attributes }) => attributes['http.response.status_code'])).toEqual([
      503, 200,
    ]);
    expect(durations[0]?.attributes).not.toHaveProperty('url.full');
    expect(metrics.get('postreel.client.queue.duration')?.[0]?.value).toMatchObject({ count: 2 });
    expect(metrics.get('postreel.client.retries')?.[0]?.value).toBe(1);
  });
});

describe('the semantic conventions for HTTP clients', () => {
  const typesOf = (attributes: Attributes) =>
    Object.fromEntries(
      Object.entries(attributes)
        .filter(([name]) => !name.startsWith('postreel.'))
        .map(([name, value]) => [name, typeof value]),
    );

  it('are followed: every name and type is on their list, and others have the prefix `postreel`', async () => {
    const answers = [serverError(), found, new Error('down')];
    const messaging = messagingOver(
      answering(() => {
        const next = answers.shift() ?? new Response(null, { status: 404 });
        if (next instanceof Error) {
          throw next;
        }
        return next;
      }).fetch,
    );
    await instrument(messaging, record);
    await messaging.contacts.get('con_1');
    await messaging.send(email).catch(() => undefined);
    await messaging.contacts.get('con_2').catch(() => undefined);
    const requests = record.spans().filter(({ kind }) => kind === SpanKind.CLIENT);
    expect(requests).toHaveLength(4);
    for (const { attributes, name } of requests) {
      const { required, others } = conventions.span;
      expect(typesOf(attributes)).toMatchObject(required);
      expect({ ...required, ...others }).toMatchObject(typesOf(attributes));
      expect(name).toBe([attributes['http.request.method'], attributes['url.template']].join(' '));
      const isFailure = Number(attributes['http.response.status_code'] ?? 500) >= 400;
      expect('error.type' in attributes).toBe(isFailure);
    }
    const metric = await record.instrument('postreel.client.attempt.duration');
    expect(metric?.descriptor).toMatchObject({
      unit: conventions.duration.unit,
      advice: { explicitBucketBoundaries: conventions.duration.boundaries },
    });
    for (const { attributes } of metric?.dataPoints ?? []) {
      const { required, others } = conventions.duration;
      expect(typesOf(attributes)).toMatchObject(required);
      expect({ ...required, ...others }).toMatchObject(typesOf(attributes));
    }
  });
});

describe('the span of a media job', () => {
  it('is linked to the call that submitted the job, and ends when the file is finished', async () => {
    const { apiKey, baseUrl, fetch } = createFakeMedia({
      durations: () => 1,
      queueTime: 1,
      clock: { mode: 'real' },
    });
    const media = new MediaClient({ apiKey, baseUrl, fetch });
    await instrument(media, record);
    const job = await media.generate.audio({ content: 'Good morning!', voiceId: 'voice_1' });
    await job.waitForFile({ interval: 100 });
    const submit = record.span('postreel POST /v1/generate/audio');
    const span = record.span('postreel job audio');
    expect(span?.links.map((link) => link.context.spanId)).toEqual([submit?.spanContext().spanId]);
    expect(span?.attributes).toMatchObject({
      'postreel.job.file_id': job.fileId,
      'postreel.job.status': 'success',
    });
    expect((await record.metrics()).get('postreel.media.job.duration')).toHaveLength(1);
  });

  it('ends when `stop()` is called if no caller waits for the file', async () => {
    const { apiKey, baseUrl, fetch } = createFakeMedia();
    const media = new MediaClient({ apiKey, baseUrl, fetch });
    const stop = await instrument(media, record);
    await media.generate.audio({ content: 'Good morning!', voiceId: 'voice_1' });
    expect(record.span('postreel job audio')).toBeUndefined();
    stop();
    expect(record.span('postreel job audio')).toBeDefined();
    await media.generate.audio({ content: 'Good night!', voiceId: 'voice_1' });
    expect(record.spans().filter(({ name }) => name === 'postreel job audio')).toHaveLength(1);
  });
});

describe('an attribute of a span or a metric', () => {
  /** All attribute values, except the ids of files: those identify a span, and group nothing. */
  const attributeTexts = async () => {
    const attributes = [
      ...record
        .spans()
        .flatMap((span) => [
          span.attributes,
          ...span.events.map((event) => event.attributes ?? {}),
        ]),
      ...[...(await record.metrics()).values()].flat().map((point) => point.attributes),
    ];
    return attributes.flatMap((all) =>
      Object.entries(all).flatMap(([name, value]) =>
        typeof value === 'string' && name !== 'postreel.job.file_id' ? [`${name} ${value}`] : [],
      ),
    );
  };
  const texts = [
    'ANN_SMITH_NOT_FOUND',
    'ann.smith',
    'mailbox:ann/smith',
    'ann@smith.example is not known',
    'ORDER_4711',
  ];

  it.each([400, 404, 422, 500])(
    "never contains the service's own text, whatever code it sends with a %i",
    async (status) => {
      for (const text of texts) {
        const bodies = [
          { error: { code: text, message: text } },
          { code: text, error: text, message: text },
          { error: text, message: 'no' },
          { error: { message: text, errors: [{ field: text, code: text }] } },
        ];
        for (const body of bodies) {
          const answer = () => Response.json(body, { status, headers: { 'x-request-id': text } });
          const messaging = messagingOver(answering(answer).fetch, { retries: 0 });
          await instrument(messaging, record);
          await messaging.contacts.get('con_1').safe();
          await messaging.send(email).safe();
        }
      }
      const values = await attributeTexts();
      expect(values.filter((value) => /ann|smith|4711/i.test(value))).toEqual([]);
      expect(values).toContain(`error.type HTTP_${status}`);
    },
  );

  it("never contains the service's text in the event of a retry", async () => {
    const refusal = Response.json(
      { code: texts[0], message: texts[0] },
      { status: 503, headers: atOnce },
    );
    const answers = [refusal, found];
    const messaging = messagingOver(answering(() => answers.shift()).fetch);
    await instrument(messaging, record);
    await messaging.contacts.get('con_1');
    const [retry] = record.span('postreel GET /contacts/{id}')?.events ?? [];
    expect(retry?.attributes).toMatchObject({ 'error.type': 'HTTP_503' });
  });

  it('contains the one code that is documented', async () => {
    const body = { error: { code: 'VALIDATION_ERROR', message: 'no' } };
    const messaging = messagingOver(answering(() => Response.json(body, { status: 422 })).fetch);
    await instrument(messaging, record);
    await messaging.send(email).safe();
    expect(await attributeTexts()).toContain('error.type VALIDATION_ERROR');
  });

  it('never contains the message of a network error or of an abort', async () => {
    for (const text of texts) {
      const cause = Object.assign(new Error(text), { code: text });
      const fault = () => Promise.reject(new TypeError(text, { cause }));
      const messaging = messagingOver(fault, { retries: 0 });
      await instrument(messaging, record);
      await messaging.send(email).safe();
      await messaging.send(email, { signal: AbortSignal.abort(text) }).safe();
      await messaging.send(email, { signal: AbortSignal.abort(cause) }).safe();
    }
    const values = await attributeTexts();
    expect(values.filter((value) => /ann|smith|4711/i.test(value))).toEqual([]);
    expect(values).toContain('error.type _OTHER');
  });

  it.each(['failed', 'rendering'])(
    'never contains the status of a job that is not a known word (%s)',
    async (end) => {
      const records = [
        ...texts.map((status) => ({ fileId: 'file_1', status })),
        { fileId: 'file_1', status: end === 'failed' ? ' FAILED ' : 'success', download: 'x' },
      ];
      const fetch = answering(() => records.shift()).fetch;
      const media = new MediaClient({ apiKey: 'k', baseUrl: 'https://media.test', fetch });
      await instrument(media, record);
      await media.waitForFile('file_1', { interval: 1 }).catch(() => undefined);
      const values = await attributeTexts();
      expect(values.filter((value) => /ann|smith|4711/i.test(value))).toEqual([]);
      expect(values).toContain(`postreel.job.status ${end === 'failed' ? 'failed' : 'success'}`);
      expect(values).toContain('postreel.job.status _OTHER');
      expect(values.includes('error.type failed')).toBe(end === 'failed');
    },
  );
});
