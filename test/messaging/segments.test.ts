import { MessagingClient, type SegmentCreate } from 'postreel';
import { messaging as schemas } from 'postreel/schemas';
import { describe, expect, it } from 'vitest';
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

const condition = { field: 'data.plan', operator: 'equals', value: 'pro' } as const;
const segment = { id: 'seg_1', type: 'STATIC', name: 'Friends' };

const refusal = (field: string, message: unknown) => ({
  name: 'InvalidRequestError',
  outcome: 'not-sent',
  fieldErrors: [{ field, message }],
});

const unavailable = () =>
  Response.json({ error: 'busy' }, { status: 503, headers: { 'retry-after': '0' } });

describe('segments', () => {
  const wrong: [string, object, object][] = [
    [
      'requires a condition for DYNAMIC',
      { type: 'DYNAMIC' },
      refusal('condition', 'is required for a DYNAMIC segment'),
    ],
    [
      'refuses a condition for STATIC',
      { type: 'STATIC', condition },
      refusal('condition', 'must not be set for a STATIC segment'),
    ],
    [
      'refuses a condition that is no object',
      { type: 'DYNAMIC', condition: 'plan = pro' },
      refusal('condition', 'must be an object'),
    ],
    ['requires a type', { name: 'Friends' }, refusal('type', 'is required')],
    [
      'refuses a type that segments do not have',
      { type: 'SMART' },
      refusal('type', expect.stringContaining('"DYNAMIC", "STATIC"')),
    ],
  ];

  it.each(wrong)('%s', async (_, body, problem) => {
    await expect(
      messaging.segments.create(body as SegmentCreate), // what JavaScript callers may pass
    ).rejects.toMatchObject(problem);
  });

  // `create()` leaves out what is null before it checks; a program may use the schema itself.
  it('accept null as a missing condition', () => {
    const { body } = schemas.segments.create;
    const dynamic = body.safeParse({ type: 'DYNAMIC', name: 'Pro', condition: null });
    expect(dynamic).toMatchObject({
      success: false,
      error: { issues: [{ path: ['condition'], message: 'is required for a DYNAMIC segment' }] },
    });
    expect(body.safeParse({ type: 'STATIC', name: 'Friends', condition: null }).success).toBe(true);
  });

  it.each<SegmentCreate>([
    { type: 'STATIC', name: 'Friends' },
    { type: 'DYNAMIC', name: 'Pro', condition, trackMembership: true },
    { type: 'DYNAMIC', name: 'Large', condition: { or: [condition, condition] } },
  ])('creates $type segments', async (body) => {
    const { fetch, requests } = answering();
    await messagingOver(fetch).segments.create(body);
    expect(await requests[0]?.json()).toEqual(body);
  });

  it('lists all segments with one request', async () => {
    const { fetch, requests } = answering(() => [segment, { ...segment, id: 'seg_2' }]);
    const ids = (await messagingOver(fetch).segments.list().toArray()).map(({ id }) => id);
    expect(ids).toEqual(['seg_1', 'seg_2']);
    expect(requests.map(({ url }) => url)).toEqual(['https://messaging.test/segments']);
  });

  it('never computes twice, because every computation fires events', async () => {
    const { fetch, requests } = answering(unavailable);
    await expect(messagingOver(fetch).segments.compute('seg_1')).rejects.toMatchObject({
      outcome: 'unknown',
    });
    expect(requests).toHaveLength(1);
  });

  it('refreshes again if the first response was lost', async () => {
    const answers = [unavailable(), Response.json({ memberCount: 3 })];
    const { fetch, requests } = answering(() => answers.shift());
    expect(await messagingOver(fetch).segments.refresh('seg_1')).toEqual({ memberCount: 3 });
    expect(requests).toHaveLength(2);
  });
});

describe('segments.members', () => {
  it.each([0, 101])('rejects pages of %d', async (pageSize) => {
    await expect(messaging.segments.members.list('seg_1', { pageSize })).rejects.toMatchObject(
      refusal('pageSize', expect.any(String)),
    );
  });

  it('rejects emails that are not a list', async () => {
    const emails = 'ann@example.com' as unknown as string[]; // what JavaScript callers may pass
    const problem = refusal('emails', expect.stringContaining('must be an array'));
    await expect(messaging.segments.members.add('seg_1', { emails })).rejects.toMatchObject(
      problem,
    );
    await expect(messaging.segments.members.remove('seg_1', { emails })).rejects.toMatchObject(
      problem,
    );
  });

  it('walks through pages of 100 by their numbers', async () => {
    const { fetch, requests } = answering((request) => {
      const { searchParams } = new URL(request.url);
      const page = Number(searchParams.get('page') ?? 1);
      const size = page < 3 ? 100 : 50;
      const contacts = Array.from({ length: size }, (_, index) => ({ id: `c_${page}_${index}` }));
      return { contacts, total: 250, page, pageSize: 100 };
    });
    const members = await messagingOver(fetch).segments.members.list('seg_1').toArray();
    expect(new Set(members.map(({ id }) => id)).size).toBe(250);
    expect(requests.map(({ url }) => new URL(url).search)).toEqual([
      '?pageSize=100',
      '?pageSize=100&page=2',
      '?pageSize=100&page=3',
    ]);
  });

  it('resumes at the cursor of a page', async () => {
    const { fetch, requests } = answering(() => ({
      contacts: [{}],
      total: 9,
      page: 1,
      pageSize: 1,
    }));
    const { members } = messagingOver(fetch).segments;
    const { cursor } = await members.list('seg_1', { pageSize: 1 });
    await members.list('seg_1', { cursor });
    expect(new URL(requests[1]?.url ?? '').search).toBe('?pageSize=1&page=2');
  });

  it('adds members, and again if the first response was lost', async () => {
    const answers = [unavailable(), Response.json({ added: 1 })];
    const { fetch, requests } = answering(() => answers.shift());
    const body = { emails: ['ann@example.com'], createMissing: true, subscribed: false };
    expect(await messagingOver(fetch).segments.members.add('seg_1', body)).toEqual({ added: 1 });
    expect(requests).toHaveLength(2);
    expect(await requests[1]?.json()).toEqual(body);
  });

  it('removes members with a DELETE that has a body', async () => {
    const { fetch, requests } = answering(() => new Response(null, { status: 204 }));
    await messagingOver(fetch).segments.members.remove('seg_1', { emails: ['ann@example.com'] });
    expect(requests[0]?.method).toBe('DELETE');
    expect(requests[0]?.url).toBe('https://messaging.test/segments/seg_1/members');
    expect(requests[0]?.headers.get('content-type')).toBe('application/json');
    expect(await requests[0]?.json()).toEqual({ emails: ['ann@example.com'] });
  });
});
