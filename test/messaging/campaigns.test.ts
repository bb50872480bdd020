import { MessagingClient, type CampaignCreate, type CampaignSend } from 'postreel';
import { messaging as schemas } from 'postreel/schemas';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

const messaging = new MessagingClient({
  apiKey: 'sk_test',
  baseUrl: 'https://messaging.test',
  retries: 0,
  rateLimit: false,
  fetch: () => {
    throw new Error('must not reach the network');
  },
});

const content = {
  name: 'Spring sale',
  subject: 'Spring sale',
  body: '<p>Everything must go.</p>',
  from: 'shop@example.com',
};
const condition = { field: 'data.plan', operator: 'equals', value: 'pro' } as const;
const draft = {
  id: 'cmp_1',
  name: 'Spring sale',
  subject: 'Spring sale',
  type: 'ALL',
  status: 'DRAFT',
  scheduledAt: null,
};

const refusal = (field: string, message: unknown) => ({
  name: 'InvalidRequestError',
  outcome: 'not-sent',
  fieldErrors: [{ field, message }],
});

const unavailable = () =>
  Response.json({ error: 'busy' }, { status: 503, headers: { 'retry-after': '0' } });

afterEach(() => {
  vi.useRealTimers();
});

describe('the audience of a campaign', () => {
  const audiences: [string, object, object][] = [
    [
      'requires a segment for SEGMENT',
      { audienceType: 'SEGMENT' },
      refusal('segmentId', 'is required when `audienceType` is SEGMENT'),
    ],
    [
      'takes null for no segment',
      { audienceType: 'SEGMENT', segmentId: null },
      refusal('segmentId', 'is required when `audienceType` is SEGMENT'),
    ],
    [
      'requires a filter for FILTERED',
      { audienceType: 'FILTERED', audienceFilter: null },
      refusal('audienceFilter', 'is required when `audienceType` is FILTERED'),
    ],
    [
      'refuses a filter that is no object',
      { audienceType: 'FILTERED', audienceFilter: 'plan = pro' },
      refusal('audienceFilter', 'must be an object'),
    ],
    ...[{}, { and: [] }, { or: [{}] }, { and: [condition, {}] }, { all: [], any: [] }].map(
      (audienceFilter): [string, object, object] => [
        `refuses the empty filter ${JSON.stringify(audienceFilter)}, which may select everybody`,
        { audienceType: 'FILTERED', audienceFilter },
        refusal('audienceFilter', expect.stringContaining("use `audienceType: 'ALL'`")),
      ],
    ),
    ['requires an audience', {}, refusal('audienceType', 'is required')],
    [
      'refuses an audience that is not listed',
      { audienceType: 'EVERYBODY' },
      refusal('audienceType', expect.stringContaining('"ALL", "SEGMENT", "FILTERED"')),
    ],
  ];

  it.each(audiences)('%s', async (_, audience, problem) => {
    const body = { ...content, ...audience } as CampaignCreate; // what JavaScript callers may pass
    await expect(messaging.campaigns.create(body)).rejects.toMatchObject(problem);
    await expect(messaging.campaigns.replace('cmp_1', body)).rejects.toMatchObject(problem);
  });

  // The methods leave out what is null before they check; a program may use the schemas itself.
  it.each([
    ['segmentId', { audienceType: 'SEGMENT', segmentId: null }],
    ['audienceFilter', { audienceType: 'FILTERED', audienceFilter: null }],
  ])('accepts null as a missing `%s` in the schemas too', (field, audience) => {
    for (const { body } of [schemas.campaigns.create, schemas.campaigns.replace]) {
      expect(body.safeParse({ ...content, ...audience })).toMatchObject({
        success: false,
        error: { issues: [{ path: [field] }] },
      });
    }
  });

  it.each<[string, string, object]>([
    ['segmentId', 'SEGMENT', { audienceType: 'ALL', segmentId: 'seg_1' }],
    [
      'audienceFilter',
      'FILTERED',
      { audienceType: 'SEGMENT', segmentId: 'seg_1', audienceFilter: condition },
    ],
  ])(
    'sends a remaining `%s` with a warning, so that audiences can be edited',
    async (field, only, audience) => {
      const { fetch, requests } = answering();
      const client = messagingOver(fetch);
      const warnings: string[] = [];
      client.on('warning', ({ message }) => warnings.push(message));
      const body = { ...content, ...audience } as CampaignCreate; // left over from another audience
      await client.campaigns.replace('cmp_1', body);
      await expect(requests[0]?.json()).resolves.toEqual(body);
      expect(warnings).toEqual([
        `\`${field}\` has no effect: it is only for the audience type ${only}.`,
      ]);
    },
  );

  it.each<CampaignCreate>([
    { ...content, audienceType: 'ALL' },
    { ...content, audienceType: 'SEGMENT', segmentId: 'seg_1' },
    { ...content, audienceType: 'FILTERED', audienceFilter: condition },
    { ...content, audienceType: 'FILTERED', audienceFilter: { and: [condition] } },
  ])('sends $audienceType', async (body) => {
    const { fetch, requests } = answering(() => ({ success: true, data: draft }));
    const campaign = await messagingOver(fetch).campaigns.create(body);
    expect(campaign).toEqual(draft);
    expect(await requests[0]?.json()).toEqual(body);
  });
});

describe('the content of a campaign', () => {
  it.each([
    [{ subject: 'a\nb' }, refusal('subject', 'must not contain a line break')],
    [{ subject: '' }, refusal('subject', 'must not be empty')],
    [{ subject: 'x'.repeat(999) }, refusal('subject', 'must be at most 998 characters; got 999')],
    [{ from: 'shop' }, refusal('from', 'must be an email address')],
    [{ replyTo: 'help@' }, refusal('replyTo', 'must be an email address')],
  ])('rejects %j', async (change, problem) => {
    await expect(
      messaging.campaigns.create({ ...content, ...change, audienceType: 'ALL' }),
    ).rejects.toMatchObject(problem);
  });

  it.each(['name', 'subject', 'body', 'from'])('requires %s', async (field) => {
    const body = { ...content, audienceType: 'ALL', [field]: undefined };
    await expect(
      messaging.campaigns.create(body as unknown as CampaignCreate), // a field short
    ).rejects.toMatchObject(refusal(field, 'is required'));
  });

  it('replaces a campaign with PUT', async () => {
    const { fetch, requests } = answering();
    await messagingOver(fetch).campaigns.replace('cmp_1', { ...content, audienceType: 'ALL' });
    expect(requests[0]?.method).toBe('PUT');
    expect(requests[0]?.url).toBe('https://messaging.test/campaigns/cmp_1');
  });
});

describe('sending a campaign', () => {
  it.each([
    ['without a body', undefined, {}],
    ['with an empty body', {}, {}],
    ['with null for a body', null as unknown as undefined, {}],
    [
      'at a Date',
      { scheduledFor: new Date('2999-01-01T09:00:00Z') },
      { scheduledFor: '2999-01-01T09:00:00.000Z' },
    ],
    [
      'at an ISO 8601 string',
      { scheduledFor: '2999-01-01T09:00:00+02:00' },
      { scheduledFor: '2999-01-01T09:00:00+02:00' },
    ],
  ])('succeeds %s', async (_, body, sent) => {
    const { fetch, requests } = answering();
    await messagingOver(fetch).campaigns.send('cmp_1', body);
    expect(requests[0]?.url).toBe('https://messaging.test/campaigns/cmp_1/send');
    expect(await requests[0]?.json()).toEqual(sent);
  });

  it('now takes options and no body', async () => {
    const { fetch, requests } = answering();
    await messagingOver(fetch).campaigns.sendNow('cmp_1', { headers: { 'x-team': 'cats' } });
    expect(await requests[0]?.json()).toEqual({});
    expect(requests[0]?.headers.get('x-team')).toBe('cats');
  });

  it('sends now if `scheduledFor` is null, as the document says', async () => {
    const { fetch, requests } = answering();
    await messagingOver(fetch).campaigns.send('cmp_1', { scheduledFor: null });
    expect(await requests[0]?.json()).toEqual({ scheduledFor: null });
  });

  it('rejects a `scheduledFor` that was never set', async () => {
    const body = { scheduledFor: undefined } as unknown as CampaignSend; // lenient compilers let it pass
    const message =
      'must not be undefined: the service would send to everybody now; if you mean that, use `campaigns.sendNow(id)`';
    await expect(messaging.campaigns.send('cmp_1', body)).rejects.toMatchObject(
      refusal('scheduledFor', message),
    );
  });

  it.each(['scheduledfor', 'scheduled_for', 'scheduledAt', 'at'])(
    'rejects `%s`, because the service would send to everybody now',
    async (name) => {
      const body = { [name]: '2999-01-01T09:00:00Z' } as CampaignSend; // a slip that types cannot see
      await expect(messaging.campaigns.send('cmp_1', body)).rejects.toMatchObject(
        refusal(
          name,
          'is not a known field: without `scheduledFor` the campaign is sent to everybody now',
        ),
      );
    },
  );

  it('sends unknown fields next to a time', async () => {
    const { fetch, requests } = answering();
    const body = { scheduledFor: '2999-01-01T09:00:00Z', pace: 'slow' };
    await messagingOver(fetch).campaigns.send('cmp_1', body);
    expect(await requests[0]?.json()).toEqual(body);
  });

  it('rejects a time more than 60 s in the past', async () => {
    vi.useFakeTimers({ now: Date.parse('2026-11-21T09:01:01Z'), toFake: ['Date'] });
    for (const scheduledFor of ['2026-11-21T09:00:00Z', new Date('2026-11-21T09:00:00Z')]) {
      await expect(messaging.campaigns.send('cmp_1', { scheduledFor })).rejects.toMatchObject(
        refusal('scheduledFor', 'must be in the future; got 2026-11-21T09:00:00.000Z'),
      );
    }
  });

  it.each([
    ['2027-02-30T09:00:00Z', 'names a day that does not exist: 2027-02-30'],
    ['2027-02-29T09:00:00+01:00', 'names a day that does not exist: 2027-02-29'],
    ['2027-03-20T09:00', 'has no time zone: add `Z` or an offset such as `+01:00`'],
    ['2027-03-20T09:00:00.000', 'has no time zone: add `Z` or an offset such as `+01:00`'],
    ['tomorrow', 'must be a `Date`, or an ISO 8601 string with date, time and zone'],
  ])('refuses the time %s, and says what is wrong with it', async (at, words) => {
    await expect(messaging.campaigns.schedule('cmp_1', at)).rejects.toMatchObject({
      name: 'InvalidRequestError',
      outcome: 'not-sent',
      message: expect.stringContaining(`\`scheduledFor\` ${words}`) as string,
    });
  });

  it('takes the last day of February in a leap year', async () => {
    const { fetch, requests } = answering();
    await messagingOver(fetch).campaigns.schedule('cmp_1', '2096-02-29T09:00:00+01:00');
    expect(requests).toHaveLength(1);
  });

  it('allows 60 s for different clocks', async () => {
    vi.useFakeTimers({ now: Date.parse('2026-11-21T09:01:00Z'), toFake: ['Date'] });
    const { fetch, requests } = answering();
    await messagingOver(fetch).campaigns.send('cmp_1', { scheduledFor: '2026-11-21T09:00:00Z' });
    expect(requests).toHaveLength(1);
  });

  it.each([
    ...['tomorrow', '1', '', '21 Nov 2999', '2999-11-21', '2999-11-21 09:00', '2999-11-21 GMT'],
    ...['2999-13-01T00:00:00Z', new Date(Number.NaN)],
  ])('rejects %s, which is not a date with time and zone', async (scheduledFor) => {
    await expect(messaging.campaigns.send('cmp_1', { scheduledFor })).rejects.toMatchObject(
      refusal('scheduledFor', expect.stringMatching(/^(must be a `Date`|is not a date)/)),
    );
  });

  it('never sends a campaign twice', async () => {
    const { fetch, requests } = answering(unavailable);
    await expect(messagingOver(fetch).campaigns.send('cmp_1')).rejects.toMatchObject({
      status: 503,
      outcome: 'unknown',
    });
    expect(requests).toHaveLength(1);
  });

  it('never sends a test twice', async () => {
    const { fetch, requests } = answering(unavailable);
    const test = messagingOver(fetch).campaigns.sendTest('cmp_1', { email: 'ann@example.com' });
    await expect(test).rejects.toMatchObject({ outcome: 'unknown' });
    expect(requests).toHaveLength(1);
  });

  it('cancels again if the first response was lost', async () => {
    const answers = [unavailable(), Response.json({ success: true })];
    const { fetch, requests } = answering(() => answers.shift());
    await messagingOver(fetch).campaigns.cancel('cmp_1');
    expect(requests.map(({ url }) => new URL(url).pathname)).toEqual([
      '/campaigns/cmp_1/cancel',
      '/campaigns/cmp_1/cancel',
    ]);
  });

  it('rejects a test without an address', async () => {
    await expect(messaging.campaigns.sendTest('cmp_1', { email: 'ann' })).rejects.toMatchObject(
      refusal('email', 'must be an email address'),
    );
  });
});

describe('campaigns of a service with other responses', () => {
  it.each([
    ['a bare array', [draft]],
    ['the items under data', { data: [draft], cursor: null, hasMore: false, total: 1 }],
    ['the items under their name', { campaigns: [draft], page: 1, pageSize: 20, total: 1 }],
    ['an envelope', { success: true, data: { campaigns: [draft] } }],
  ])('lists from %s', async (_, body) => {
    const { fetch } = answering(() => body);
    const list = messagingOver(fetch, { validation: { responses: 'throw' } }).campaigns.list();
    expect(await list.toArray()).toEqual([draft]);
  });

  it('accepts a created campaign without an envelope, and unknown values', async () => {
    const odd = { ...draft, status: 'PAUSED', type: 'LOOKALIKE', extra: 1 };
    const { fetch } = answering(() => odd);
    const strict = messagingOver(fetch, { validation: { responses: 'throw' } });
    expect(await strict.campaigns.create({ ...content, audienceType: 'ALL' })).toEqual(odd);
  });
});

describe('a date in place of the body', () => {
  const inAnHour = new Date(Date.now() + 3_600_000);

  it.each<[string, unknown]>([
    ['a Date', inAnHour],
    ['an ISO string', inAnHour.toISOString()],
    ['an array', [inAnHour]],
    ['a promise that was not awaited', Promise.resolve({ scheduledFor: inAnHour })],
    ['a Map', new Map([['scheduledFor', inAnHour]])],
  ])('is rejected for %s: the service would send to everybody now', async (_, body) => {
    for (const requests of ['throw', 'off'] as const) {
      const client = messagingOver(unreachable, { validation: { requests } });
      const call = client.campaigns.send('cmp_1', body as never); // what JavaScript callers may pass
      await expect(call).rejects.toMatchObject({
        name: 'InvalidRequestError',
        outcome: 'not-sent',
        message: expect.stringContaining('campaigns.send(id, { scheduledFor })') as string,
      });
    }
  });
});

function unreachable(): never {
  throw new Error('must not reach the network');
}
