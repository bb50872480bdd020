import {
  MediaClient,
  type MessagingClient,
  type MessagingOptions,
  type RequestOptions,
  type SendRequest,
} from 'postreel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answering, mediaOver, messagingOver } from '../support/clients.js';
import { settledInTime } from '../support/settled.js';
import { scripted, step, type Step } from '../support/script.js';

const now = Date.parse('2030-01-01T00:00:00Z');
const mail: SendRequest = { from: 'a@shop.test', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const several: SendRequest = { ...mail, to: ['ann@example.com', 'bea@example.com'] };

beforeEach(() => void vi.useFakeTimers({ now }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Failures of one attempt: those that may pass, and those that stay. */
const passing: Readonly<Record<string, Step>> = {
  'a connection that was refused': step.refused,
  'a connection that broke': step.lost,
  'a body that was cut': () => new Response('{"id": "co'),
  'a compressed body that was cut to nothing': () =>
    new Response('', { headers: { 'content-encoding': 'gzip' } }),
  'a timeout': step.silence,
  'a 408': step.status(408),
  'a 429': step.status(429, { 'retry-after': '1' }),
  'a 500': step.status(500),
  'a 503': step.status(503),
};
const lasting: Readonly<Record<string, Step>> = {
  'a 400': step.status(400),
  'a 401': step.status(401),
  'a 402': step.status(402),
  'a 403': step.status(403),
  'a 404': step.status(404),
  'a 409': step.status(409),
  'a 422': step.status(422),
  'a redirect': step.status(302, { location: '/other' }),
  'a page of HTML with 200': () =>
    new Response('<html>', { headers: { 'content-type': 'text/html' } }),
};

interface Kind {
  readonly repeatedAfter: readonly string[];
  readonly call: (client: MessagingClient, options?: RequestOptions) => PromiseLike<unknown>;
}

/** One call that may be repeated and one that must not happen twice. */
const kinds: Readonly<Record<string, Kind>> = {
  'that does no harm twice': {
    repeatedAfter: Object.keys(passing),
    call: (client, options) => client.contacts.get('con_1', options),
  },
  'that does harm twice': {
    repeatedAfter: ['a connection that was refused', 'a 429'],
    call: (client, options) => client.send(mail, options),
  },
};

describe.each(Object.entries(kinds))('a call %s', (_, { call, repeatedAfter }) => {
  it.each(Object.entries({ ...passing, ...lasting }))('after %s', async (name, fault) => {
    const isRepeated = repeatedAfter.includes(name);
    const { client, requests, retries } = scripted([fault]);
    const { error } = await settledInTime<unknown>(() => call(client));
    expect(requests).toHaveLength(isRepeated ? 2 : 1);
    expect(retries).toHaveLength(isRepeated ? 1 : 0);
    expect(error === undefined).toBe(isRepeated);
  });

  it.each(Object.entries(passing))('with `retries: 0` is sent once, after %s', async (_, fault) => {
    for (const [ofClient, ofCall] of [
      [{ retries: 0 }, {}],
      [{}, { retries: 0 }],
    ]) {
      const { client, requests } = scripted([fault], ofClient);
      const { error } = await settledInTime<unknown>(() => call(client, ofCall));
      expect(error).toBeDefined();
      expect(requests).toHaveLength(1);
    }
  });
});

/** How calls are repeated after a 503, which may have taken effect. */
const harmless: Readonly<Record<string, (client: MessagingClient) => PromiseLike<unknown>>> = {
  'contacts.create': ({ contacts }) => contacts.create({ email: 'ann@example.com' }),
  'contacts.update': ({ contacts }) => contacts.update('con_1', { subscribed: false }),
  'contacts.delete': ({ contacts }) => contacts.delete('con_1'),
  'contacts.fields.delete': ({ contacts }) => contacts.fields.delete('data.plan'),
  'contacts.lookup': ({ contacts }) => contacts.lookup({ emails: ['ann@example.com'] }),
  'contacts.bulkSubscribe': ({ contacts }) => contacts.bulkSubscribe({ contactIds: ['con_1'] }),
  'contacts.bulkUnsubscribe': ({ contacts }) => contacts.bulkUnsubscribe({ contactIds: ['con_1'] }),
  'contacts.bulkDelete': ({ contacts }) => contacts.bulkDelete({ contactIds: ['con_1'] }),
  'events.delete': ({ events }) => events.delete('paid'),
  'campaigns.replace': ({ campaigns }) => campaigns.replace('cam_1', campaign),
  'campaigns.cancel': ({ campaigns }) => campaigns.cancel('cam_1'),
  'segments.members.add': ({ segments }) =>
    segments.members.add('seg_1', { emails: ['ann@example.com'] }),
  'segments.refresh': ({ segments }) => segments.refresh('seg_1'),
  'workflows.executions.cancelAll': ({ workflows }) => workflows.executions.cancelAll('wf_1'),
  verify: (client) => client.verify({ email: 'ann@example.com' }),
};
const harmful: Readonly<Record<string, (client: MessagingClient) => PromiseLike<unknown>>> = {
  send: (client) => client.send(mail),
  track: (client) => client.track({ email: 'ann@example.com', event: 'paid' }),
  'campaigns.create': ({ campaigns }) => campaigns.create(campaign),
  'campaigns.send': ({ campaigns }) => campaigns.send('cam_1'),
  'contacts.import': ({ contacts }) => contacts.import({ data: 'email\nann@example.com\n' }),
  'workflows.executions.start': ({ workflows }) =>
    workflows.executions.start('wf_1', { contactId: 'con_1' }),
};
const campaign = {
  name: 'Spring',
  subject: 'Hi',
  body: 'Hi',
  from: 'a@shop.test',
  audienceType: 'ALL',
} as const;

const film = { workflowType: 'idea', prompt: 'Cats', voiceId: 'voice_1' } as const;

describe('after a 503', () => {
  it.each(Object.entries(harmless))('%s is sent again', async (_, call) => {
    const { client, requests } = scripted([step.status(503)]);
    expect(await settledInTime<unknown>(() => call(client))).toHaveProperty('error', undefined);
    expect(requests).toHaveLength(2);
  });

  it.each(Object.entries(harmful))(
    '%s is not sent again: it may have happened',
    async (_, call) => {
      const { client, requests } = scripted([step.status(503)]);
      const { error } = await settledInTime<unknown>(() => call(client));
      expect(error).toMatchObject({ status: 503, outcome: 'unknown' });
      expect(requests).toHaveLength(1);
    },
  );

  it.each<[string, (media: MediaClient) => PromiseLike<unknown>]>([
    ['video', ({ generate }) => generate.video(film)],
    ['audio', ({ generate }) => generate.audio({ content: 'Hello', voiceId: 'voice_1' })],
  ])('generate.%s is not sent again: it would be billed twice', async (_, generating) => {
    const { fetch, requests } = answering(() => new Response(null, { status: 503 }));
    const validation = { requests: 'off', responses: 'off' } as const;
    const media = mediaOver(fetch, { validation });
    const { error } = await settledInTime(() => generating(media));
    expect(error).toMatchObject({ status: 503, outcome: 'unknown' });
    expect(requests).toHaveLength(1);
  });

  it('any call with `retry: { unknownOutcome: true }` is sent again', async () => {
    for (const [name, fault] of Object.entries(passing)) {
      const { client, requests } = scripted([fault]);
      const options = { retry: { unknownOutcome: true } };
      await settledInTime(() => client.send(mail, options));
      expect(requests, name).toHaveLength(2);
    }
  });
});

describe('an email to several recipients', () => {
  it('is not repeated after a 429: some recipients may have it', async () => {
    const { client, requests } = scripted([step.status(429, { 'retry-after': '1' })]);
    const { error } = await settledInTime(() => client.send(several));
    expect(error).toMatchObject({ status: 429, outcome: 'unknown' });
    expect(requests).toHaveLength(1);
  });

  it('is repeated if it was not sent', async () => {
    const { client, requests } = scripted([step.refused]);
    expect(await settledInTime(() => client.send(several))).toHaveProperty('error', undefined);
    expect(requests).toHaveLength(2);
  });
});

describe('a call is repeated', () => {
  const get = (options?: RequestOptions) => (client: MessagingClient) =>
    client.contacts.get('con_1', options);

  it('twice at most, and rejects with the last failure', async () => {
    const { client, requests } = scripted([500, 502, 503].map((status) => step.status(status)));
    const { error } = await settledInTime(() => get()(client));
    expect(error).toMatchObject({ status: 503 });
    expect(requests).toHaveLength(3);
  });

  it('as often as the caller wants', async () => {
    const { client, requests } = scripted(Array.from({ length: 5 }, () => step.lost));
    await settledInTime(() => get({ retries: 5 })(client));
    expect(requests).toHaveLength(6);
  });

  it('without counting the waits for the limit', async () => {
    const tooMany = step.status(429, { 'retry-after': '1' });
    const steps = [tooMany, tooMany, tooMany, step.lost, tooMany, step.lost];
    const { client, requests } = scripted(steps);
    expect(await settledInTime(() => get()(client))).toHaveProperty('error', undefined);
    expect(requests).toHaveLength(7);
  });

  it.each<[string, Record<string, string>, MessagingOptions]>([
    ['"at once"', { 'retry-after': '0' }, {}],
    ['a minute', { 'retry-after': '60' }, {}],
    ['a time that a fast clock has passed', { 'x-ratelimit-reset': '1000000001' }, {}],
    ['nothing', {}, {}],
    [
      '"at once", in a narrow limit',
      { 'retry-after': '0' },
      { rateLimit: { limit: 1, group: 'narrow' } },
    ],
  ])('ten times at most, if the service answers 429 and %s forever', async (...given) => {
    const [, headers, options] = given;
    const refusals = Array.from({ length: 99 }, () => step.status(429, headers));
    const { client, requests, retries } = scripted(refusals, options);
    const { error, tookMs } = await settledInTime(() => get({ retries: 5 })(client));
    expect(error).toMatchObject({ status: 429, outcome: 'rejected' });
    expect(requests.length).toBeLessThanOrEqual(10);
    expect(tookMs).toBeLessThanOrEqual(11 * 60_000);
    expect(Math.min(...retries.map(({ delayMs }) => delayMs))).toBeGreaterThanOrEqual(250);
  });

  it('with an event for each repeat and its error', async () => {
    const { client, retries } = scripted([step.status(429, { 'retry-after': '7' }), step.lost]);
    await settledInTime(() => get()(client));
    const call = { method: 'GET', path: '/contacts/con_1' };
    expect(retries).toMatchObject([
      { ...call, attempt: 1, delayMs: 7_000, error: { name: 'RateLimitError' } },
      { ...call, attempt: 2, error: { name: 'ConnectionError' } },
    ]);
  });
});

describe('the wait before a repeat', () => {
  const inSeconds = (seconds: number) => String(now / 1000 + seconds);

  it.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': ' 1.5 ' }, 1_500],
    [{ 'retry-after': 'Tue, 01 Jan 2030 00:00:09 GMT' }, 9_000],
    [{ 'retry-after': 'Tuesday, 01-Jan-30 00:00:09 GMT' }, 9_000],
    [{ 'ratelimit-reset': '11' }, 11_000],
    [{ 'ratelimit-reset': inSeconds(12) }, 12_000],
    [{ 'x-ratelimit-reset': inSeconds(13) }, 13_000],
    [{ 'x-ratelimit-reset': String(now + 14_000) }, 14_000],
    [{ 'retry-after': '2', 'ratelimit-reset': '11' }, 2_000],
    [{}, 60_000],
    [{ 'retry-after': 'soon' }, 60_000],
    [{ 'retry-after': '-5' }, 60_000],
  ])('after a 429 is as long as the service says, or one window: %j', async (headers, delayMs) => {
    const { client, retries } = scripted([step.status(429, headers)]);
    const { tookMs } = await settledInTime(() => client.contacts.get('con_1'));
    expect(tookMs).toBe(delayMs);
    expect(retries).toMatchObject([{ delayMs }]);
  });

  it.each<Record<string, string>>([
    { 'retry-after': 'Tue, 01 Jan 2030 00:00:09 GMT' },
    { 'x-ratelimit-reset': inSeconds(9) },
    { 'x-ratelimit-reset': String(now + 9_000) },
  ])(
    'is measured by the `Date` of the answer, however wrong our own clock is: %j',
    async (header) => {
      for (const offMs of [-86_400_000, -180_000, 180_000, 86_400_000]) {
        vi.setSystemTime(now + offMs);
        const headers = { date: new Date(now).toUTCString(), ...header };
        const { client } = scripted([step.status(429, headers)]);
        const { tookMs } = await settledInTime(() => client.contacts.get('con_1'));
        expect(tookMs).toBe(9_000);
      }
    },
  );

  it('after a 503 is `Retry-After` plus a backoff; the reset headers do not count', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const asked = scripted([step.status(503, { 'retry-after': '20' })]);
    expect(await settledInTime(() => asked.client.contacts.get('con_1'))).toMatchObject({
      tookMs: 20_500,
    });
    const busy = step.status(503, { 'x-ratelimit-reset': '60', 'ratelimit-reset': '60' });
    const { client } = scripted([busy]);
    expect(await settledInTime(() => client.contacts.get('con_1'))).toMatchObject({ tookMs: 500 });
  });

  it.each([0, 0.5, 0.999])(
    'is random and doubles up to eight seconds, where the service says nothing: %d',
    async (random) => {
      vi.spyOn(Math, 'random').mockReturnValue(random);
      const { client, retries } = scripted(Array.from({ length: 5 }, () => step.lost));
      await settledInTime(() => client.contacts.get('con_1', { retries: 5 }));
      const expected = [500, 1_000, 2_000, 4_000, 4_000].map((ms) => ms * (1 + random));
      expect(retries.map(({ delayMs }) => delayMs)).toEqual(expected);
    },
  );

  it('after a 429 that asks for no wait gets longer each time', async () => {
    const atOnce = step.status(429, { 'retry-after': '0' });
    const { client, retries } = scripted([atOnce, atOnce, atOnce, atOnce]);
    await settledInTime(() => client.contacts.get('con_1'));
    expect(retries.map(({ delayMs }) => delayMs)).toEqual([250, 500, 1_000, 2_000]);
  });

  it('is two minutes at most; a call that would wait longer rejects', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const patient = scripted([step.status(503, { 'retry-after': '120' })]);
    expect(await settledInTime(() => patient.client.contacts.get('con_1'))).toMatchObject({
      error: undefined,
      tookMs: 120_500,
    });
    for (const [asked, retryAfterMs] of [
      ['121', 121_000],
      ['3600', 3_600_000],
      ['9'.repeat(20), 2 ** 31 - 1], // no longer than a timer lasts
      ['Fri, 31 Dec 9999 23:59:59 GMT', 2 ** 31 - 1],
    ] as const) {
      const { client, requests } = scripted([step.status(503, { 'retry-after': asked })]);
      const { error, tookMs } = await settledInTime(() => client.contacts.get('con_1'));
      expect(error).toMatchObject({ status: 503, retryAfterMs });
      expect(tookMs).toBe(0);
      expect(requests).toHaveLength(1);
    }
  });

  it('is ten minutes at most in total', async () => {
    const busy = Array.from({ length: 20 }, () => step.status(429, { 'retry-after': '100' }));
    const { client, requests } = scripted(busy);
    const { error, tookMs } = await settledInTime(() => client.contacts.get('con_1'));
    expect(error).toMatchObject({ status: 429 });
    expect(tookMs).toBeLessThanOrEqual(600_000);
    expect(requests).toHaveLength(6);
  });

  it('does not begin if the deadline comes first', async () => {
    const { client, retries } = scripted([step.status(429, { 'retry-after': '7' })]);
    const call = () => client.contacts.get('con_1', { deadline: 6_000 });
    const { error, tookMs } = await settledInTime(call);
    expect(error).toMatchObject({ status: 429, retryAfterMs: 7_000 });
    expect([tookMs, retries]).toEqual([0, []]);
  });
});

describe('after an attempt that may have happened', () => {
  const update = (client: MessagingClient) => client.contacts.update('con_1', { subscribed: true });

  it('a DELETE whose repeat gets a 404 counts as done', async () => {
    const { client, requests } = scripted([step.lost, step.status(404)]);
    const call = client.contacts.delete('con_1');
    expect(await settledInTime(() => call)).toMatchObject({ value: {}, error: undefined });
    expect(call.outcome).toBeUndefined();
    expect(requests).toHaveLength(2);
  });

  it('a 404 to the repeat of another call is an error', async () => {
    const { client } = scripted([step.lost, step.status(404)]);
    const { error } = await settledInTime(() => update(client));
    expect(error).toMatchObject({ name: 'NotFoundError', outcome: 'unknown' });
  });

  it.each([400, 401, 403, 409, 422])(
    'a repeat that is refused with %i leaves it unknown',
    async (status) => {
      const { client } = scripted([step.lost, step.status(status)]);
      const call = client.contacts.delete('con_1');
      const { error } = await settledInTime(() => call);
      expect(error).toMatchObject({ status, outcome: 'unknown' });
      expect(call.outcome).toBe('unknown');
    },
  );

  it('a repeat that was not sent leaves the outcome unknown', async () => {
    const { client } = scripted([step.lost, step.refused, step.refused]);
    const { error } = await settledInTime(() => update(client));
    expect(error).toMatchObject({ code: 'NOT_CONNECTED', outcome: 'unknown' });
  });

  it('an abort before the repeat leaves the outcome unknown', async () => {
    const { client } = scripted([step.lost]);
    const controller = new AbortController();
    const call = client.contacts.delete('con_1', { signal: controller.signal });
    setTimeout(() => controller.abort('enough'), 100);
    expect(await settledInTime(() => call)).toMatchObject({ error: 'enough', tookMs: 100 });
    expect(call.outcome).toBe('unknown');
  });

  it('a repeat that succeeds is a success', async () => {
    const { client } = scripted([step.lost, step.status(503)]);
    const call = client.contacts.delete('con_1');
    await settledInTime(() => call);
    expect(call.outcome).toBeUndefined();
  });
});

describe('without an attempt that may have happened', () => {
  it.each([step.refused, step.status(429, { 'retry-after': '1' })])(
    'a delete that finds nothing has found nothing',
    async (first) => {
      const { client } = scripted([first, step.status(404)]);
      const { error } = await settledInTime(() => client.contacts.delete('con_1'));
      expect(error).toMatchObject({ name: 'NotFoundError', outcome: 'rejected' });
    },
  );

  it('the outcome of a read is never unknown', async () => {
    const { client } = scripted([step.lost, step.status(422)]);
    const { error } = await settledInTime(() => client.contacts.get('con_1'));
    expect(error).toMatchObject({ outcome: 'rejected' });
  });
});

it('calls of both clients are repeated twice by default', async () => {
  for (const client of [
    (fetch: typeof globalThis.fetch) => {
      const media = new MediaClient({ apiKey: 'key', baseUrl: 'https://media.test', fetch });
      return media.request('GET', '/x');
    },
    (fetch: typeof globalThis.fetch) => messagingOver(fetch).request('GET', '/x'),
  ]) {
    const { fetch, requests } = answering(() => new Response(null, { status: 503 }));
    await settledInTime(() => client(fetch));
    expect(requests).toHaveLength(3);
  }
});
