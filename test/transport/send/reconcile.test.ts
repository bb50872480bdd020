import type { MessagingClient } from 'postreel';
import type { FakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { answering, messagingOver } from '../../support/clients.js';
import { arrivals, serve } from '../../support/fake-server.js';
import { settled } from '../../support/settled.js';

const reconcile = { reconcile: true, retries: 0 } as const;
const soon = () => new Date(Date.now() + 3_600_000).toISOString();

interface Case {
  readonly endpoint: string;
  /** Makes what the call is about and resolves to the call. */
  prepare(client: MessagingClient, fake: FakeMessaging): Promise<() => PromiseLike<unknown>>;
}

const cases: [string, Case][] = [
  [
    'campaigns.send()',
    {
      endpoint: 'POST /campaigns/{id}/send',
      async prepare({ campaigns }) {
        const { id } = await campaigns.create(campaign);
        return () => campaigns.send(id, undefined, reconcile);
      },
    },
  ],
  [
    'campaigns.cancel()',
    {
      endpoint: 'POST /campaigns/{id}/cancel',
      async prepare({ campaigns }) {
        const { id } = await campaigns.create(campaign);
        await campaigns.send(id, { scheduledFor: soon() });
        return () => campaigns.cancel(id, reconcile);
      },
    },
  ],
  [
    'workflows.update() that enables',
    {
      endpoint: 'PATCH /workflows/{id}',
      async prepare({ workflows }) {
        const { id } = await workflows.create({ name: 'Welcome', eventName: 'signed_up' });
        return () => workflows.update(id, { enabled: true }, reconcile);
      },
    },
  ],
  [
    'workflows.executions.cancel()',
    {
      endpoint: 'DELETE /workflows/{id}/executions/{executionId}',
      async prepare(client) {
        const { id: contactId } = await client.contacts.create({ email: 'ann@example.com' });
        const { id } = await client.workflows.create({ name: 'Welcome', eventName: 'signed_up' });
        const delay = { type: 'DELAY' as const, config: { duration: '1d' } };
        await client.workflows.steps.create(id, delay);
        await client.workflows.update(id, { enabled: true });
        const execution = await client.workflows.executions.start(id, { contactId });
        return () => client.workflows.executions.cancel(id, execution.id, reconcile);
      },
    },
  ],
  [
    'contacts.delete()',
    {
      endpoint: 'DELETE /contacts/{id}',
      async prepare({ contacts }) {
        const { id } = await contacts.create({ email: 'ann@example.com' });
        return () => contacts.delete(id, reconcile);
      },
    },
  ],
  [
    'templates.delete()',
    {
      endpoint: 'DELETE /templates/{id}',
      async prepare({ templates }) {
        const mail = { subject: 'Hi', body: '<p>Hi</p>', type: 'TRANSACTIONAL' } as const;
        const { id } = await templates.create({ name: 'Welcome', ...mail });
        return () => templates.delete(id, reconcile);
      },
    },
  ],
  [
    'segments.delete()',
    {
      endpoint: 'DELETE /segments/{id}',
      async prepare({ segments }) {
        const { id } = await segments.create({ name: 'Friends', type: 'STATIC' });
        return () => segments.delete(id, reconcile);
      },
    },
  ],
];

const campaign = {
  name: 'Spring',
  subject: 'Hi',
  body: '<p>Hi</p>',
  from: 'shop@example.com',
  audienceType: 'ALL' as const,
};

describe.each(cases)('%s with reconcile', (_, plan) => {
  const { endpoint } = plan;

  it('resolves when it happened and its answer was lost', async () => {
    const { messaging, fake } = await serve();
    const call = await plan.prepare(messaging(), fake);
    fake.fail(endpoint, { loseAnswer: true });
    await expect(call()).resolves.not.toThrow();
    expect(arrivals(fake.requests, endpoint)).toBe(1);
  });

  it('stays unknown, and is sent once, when nothing tells that it happened', async () => {
    const { messaging, fake } = await serve();
    const call = await plan.prepare(messaging(), fake);
    fake.fail(endpoint, { drop: true });
    await expect(call()).rejects.toMatchObject({ outcome: 'unknown' });
    expect(arrivals(fake.requests, endpoint)).toBe(1);
  });
});

describe('a campaign that is scheduled already', () => {
  it.each([
    ['loseAnswer', 'the new time is read back'],
    ['drop', 'the old time is'],
  ] as const)('is known to be scheduled anew by its time: %s, %s', async (...[kind]) => {
    const { messaging, fake } = await serve();
    const { campaigns } = messaging();
    const { id } = await campaigns.create(campaign);
    await campaigns.send(id, { scheduledFor: soon() });
    const later = new Date(Date.now() + 7_200_000);
    fake.fail('POST /campaigns/{id}/send', { [kind]: true });
    const { error } = await settled(() => campaigns.send(id, { scheduledFor: later }, reconcile));
    if (kind === 'loseAnswer') {
      expect(error).toBeUndefined();
    } else {
      expect(error).toMatchObject({ outcome: 'unknown' });
    }
  });
});

describe('reading back', () => {
  it('looks twice, since the service may still be at work', async () => {
    const states = ['DRAFT', 'SENDING'];
    const { fetch, requests } = answering(({ method }) =>
      method === 'POST'
        ? new Response(null, { status: 504 })
        : { id: 'cam_1', status: states.shift() },
    );
    const call = messagingOver(fetch).campaigns.send('cam_1', undefined, reconcile);
    await expect(call).resolves.toMatchObject({ status: 'SENDING' });
    expect(requests.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET']);
    expect(call.outcome).toBeUndefined();
  });

  it.each([
    ['send', 'DRAFT', 'unknown'],
    ['send', 'SENT', undefined],
    ['send', 'CANCELLED', 'unknown'],
    ['send', 'PAUSED', 'unknown'], // a state that we do not know proves nothing
    ['cancel', 'SENT', 'unknown'], // too late: everybody has the mail
    ['cancel', 'SENDING', 'unknown'],
    ['cancel', 'CANCELLED', undefined],
    ['cancel', 'canceled', undefined],
  ] as const)('takes a %s that finds the campaign %s as %s', async (method, status, outcome) => {
    const { fetch } = answering((request) =>
      request.method === 'POST' ? new Response(null, { status: 504 }) : { id: 'cam_1', status },
    );
    const { campaigns } = messagingOver(fetch, { retries: 0 });
    const call =
      method === 'send'
        ? campaigns.send('cam_1', undefined, reconcile)
        : campaigns.cancel('cam_1', reconcile);
    const { error } = await call.safe();
    expect(error?.outcome).toBe(outcome);
  });

  it('asks for fresh answers', async () => {
    const { fetch, requests } = answering(({ method }) =>
      method === 'POST' ? new Response(null, { status: 504 }) : { status: 'SENT' },
    );
    await messagingOver(fetch).campaigns.send('cam_1', undefined, reconcile);
    expect(requests[1]?.cache).toBe('no-store');
  });

  it('is not done unless it is asked for', async () => {
    const { fetch, requests } = answering(() => new Response(null, { status: 504 }));
    await messagingOver(fetch)
      .campaigns.send('cam_1')
      .then(undefined, () => undefined);
    expect(requests).toHaveLength(1);
  });

  it('is not done after a refusal', async () => {
    const { fetch, requests } = answering(() => new Response(null, { status: 409 }));
    const call = messagingOver(fetch).campaigns.send('cam_1', undefined, reconcile);
    await expect(call).rejects.toMatchObject({ status: 409, outcome: 'rejected' });
    expect(requests).toHaveLength(1);
  });

  it('that fails leaves the first failure', async () => {
    const { fetch } = answering(({ method }) =>
      method === 'POST' ? new Response(null, { status: 504 }) : new Response(null, { status: 403 }),
    );
    const call = messagingOver(fetch).campaigns.send('cam_1', undefined, reconcile);
    await expect(call).rejects.toMatchObject({ status: 504, outcome: 'unknown' });
  });

  it('keeps to the deadline of the call', async () => {
    const { fetch } = answering(({ method }) =>
      method === 'POST' ? new Response(null, { status: 504 }) : new Promise(() => undefined),
    );
    const call = messagingOver(fetch).campaigns.send('cam_1', undefined, {
      ...reconcile,
      deadline: 300,
    });
    const { error, tookMs } = await settled(() => call);
    expect(error).toMatchObject({ status: 504, outcome: 'unknown' });
    expect(tookMs).toBeLessThan(5_000); // an attempt would take 30 s
  });

  it('is not begun when the deadline has passed', async () => {
    const { fetch, requests } = answering(() => new Promise(() => undefined));
    const call = messagingOver(fetch).campaigns.send('cam_1', undefined, {
      ...reconcile,
      deadline: 100,
    });
    await expect(call).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED', outcome: 'unknown' });
    expect(requests).toHaveLength(1);
  });

  it('hears an abort, with its reason', async () => {
    const controller = new AbortController();
    const { fetch } = answering(({ method }) => {
      if (method === 'POST') {
        return new Response(null, { status: 504 });
      }
      controller.abort('enough');
      return { status: 'DRAFT' };
    });
    const call = messagingOver(fetch).campaigns.send('cam_1', undefined, {
      ...reconcile,
      signal: controller.signal,
    });
    await expect(call).rejects.toBe('enough');
    expect(call.outcome).toBe('unknown');
  });
});

describe('a delete that was lost', () => {
  it('is done when its repeat finds nothing', async () => {
    const { messaging, fake } = await serve();
    const client = messaging();
    const { id } = await client.contacts.create({ email: 'ann@example.com' });
    fake.fail('DELETE /contacts/{id}', { loseAnswer: true });
    await expect(client.contacts.delete(id)).resolves.toEqual({});
    expect(fake.requests.map(({ status }) => status)).toEqual([201, undefined, 404]);
  });

  it('is not, when the attempt before it never left', async () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    let attempts = 0;
    const messaging = messagingOver(() =>
      ++attempts === 1
        ? Promise.reject(new TypeError('fetch failed', { cause: refused }))
        : Promise.resolve(new Response(null, { status: 404 })),
    );
    await expect(messaging.contacts.delete('con_1')).rejects.toMatchObject({
      name: 'NotFoundError',
      outcome: 'rejected',
    });
  });
});
