import type { MessagingClient, Paginated } from 'postreel';
import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

type Projects = MessagingClient['projects'];

const offline = messagingOver(() => {
  throw new Error('must not reach the network');
});

const refusal = (field: string, message: string) => ({
  name: 'InvalidRequestError',
  outcome: 'not-sent',
  fieldErrors: [{ field, message }],
});

describe('projects reject before a request', () => {
  it('a project whose name is not text', async () => {
    const call = offline.projects.create({ name: 7 } as never); // wrong on purpose
    await expect(call).rejects.toMatchObject(refusal('name', 'must be a string; got 7'));
  });

  it('an invitation to a text that is not an email address', async () => {
    const call = offline.projects.members.invite('prj_1', { email: 'bob' });
    await expect(call).rejects.toMatchObject(refusal('email', 'must be an email address'));
  });

  it('a change to a role that is not text', async () => {
    const body = { role: 7 } as never; // on purpose
    const call = offline.projects.members.updateRole('prj_1', 'usr_1', body);
    await expect(call).rejects.toMatchObject(refusal('role', 'must be a string; got 7'));
  });

  it.each(['reset', 'createCheckout', 'createPortal'] as const)(
    'a body of %s that is not an object',
    async (method) => {
      const { projects } = offline;
      const body = 'now' as never; // wrong on purpose
      const call =
        method === 'reset'
          ? projects.reset('prj_1', body)
          : projects.billing[method]('prj_1', body);
      await expect(call).rejects.toMatchObject(
        refusal('', 'pass its fields as one object; got a string'),
      );
    },
  );

  it('an id that would reach all projects', async () => {
    await expect(offline.projects.delete('')).rejects.toMatchObject(
      refusal('id', 'must not be empty'),
    );
    await expect(offline.projects.members.remove('prj_1', '..')).rejects.toMatchObject(
      refusal('userId', 'must not be ".."'),
    );
  });
});

describe('bodies that may be left out', () => {
  type Method = (id: string, body?: Record<string, unknown>) => PromiseLike<unknown>;
  const methods: [string, string, (all: Projects) => Method][] = [
    ['reset', '/reset', (all) => all.reset.bind(all)],
    ['createCheckout', '/checkout', ({ billing }) => billing.createCheckout.bind(billing)],
    ['createPortal', '/billing-portal', ({ billing }) => billing.createPortal.bind(billing)],
  ];

  it.each(methods)('%s', async (_, path, method) => {
    const { fetch, requests } = answering(() => ({ url: 'https://pay.example.com' }));
    const call = method(messagingOver(fetch).projects);
    await call('prj_1');
    await call('prj_1', { plan: 'pro' });
    expect(new URL(requests[0]?.url ?? '').pathname).toBe(`/users/@me/projects/prj_1${path}`);
    await expect(requests[0]?.text()).resolves.toBe('');
    await expect(requests[1]?.json()).resolves.toEqual({ plan: 'pro' });
  });
});

describe('calls that happen once', () => {
  const calls: [string, (all: Projects) => PromiseLike<unknown>][] = [
    ['create', (all) => all.create({ name: 'Shop' })],
    ['regenerateKeys', (all) => all.regenerateKeys('prj_1')],
    ['reset', (all) => all.reset('prj_1')],
    ['billing.createCheckout', ({ billing }) => billing.createCheckout('prj_1')],
    ['billing.createPortal', ({ billing }) => billing.createPortal('prj_1')],
    ['members.invite', ({ members }) => members.invite('prj_1', { email: 'bob@example.com' })],
  ];

  it.each(calls)('never repeats %s', async (_, call) => {
    const { fetch, requests } = answering(unavailable);
    const failure = { status: 503, outcome: 'unknown' };
    await expect(call(messagingOver(fetch).projects)).rejects.toMatchObject(failure);
    expect(requests).toHaveLength(1);
  });
});

describe('projects', () => {
  const lists: [string, string, (all: Projects) => Paginated<unknown>][] = [
    ['projects', '/users/@me/projects', (all) => all.list()],
    ['members', '/projects/prj_1/members', ({ members }) => members.list('prj_1')],
    [
      'invoices',
      '/users/@me/projects/prj_1/billing-invoices',
      ({ billing }) => billing.invoices('prj_1'),
    ],
  ];

  it.each(lists)('lists %s, under any field name', async (name, path, list) => {
    const { fetch, requests } = answering(() => ({ [name]: [{ id: 'x_1' }] }));
    await expect(list(messagingOver(fetch).projects).toArray()).resolves.toEqual([{ id: 'x_1' }]);
    expect(new URL(requests[0]?.url ?? '').pathname).toBe(path);
  });

  it('calls the right one of the two security endpoints', async () => {
    const { fetch, requests } = answering(() => ({}));
    const { projects } = messagingOver(fetch);
    await projects.securityReport('prj_1');
    await projects.securityState('prj_1');
    expect(requests.map(({ url }) => new URL(url).pathname)).toEqual([
      '/users/@me/projects/prj_1/security',
      '/projects/prj_1/security',
    ]);
  });

  it('sets billing limits again after a 503, because the state is the same', async () => {
    const answers = [unavailable(), Response.json({ transactional: 1000 })];
    const { fetch, requests } = answering(() => answers.shift());
    const { billing } = messagingOver(fetch).projects;
    const limits = await billing.setLimits('prj_1', { transactional: 1000 });
    expect(limits).toEqual({ transactional: 1000 });
    expect(requests.map(({ method }) => method)).toEqual(['PUT', 'PUT']);
  });
});

function unavailable(): Response {
  return Response.json({ error: 'busy' }, { status: 503, headers: { 'retry-after': '0' } });
}
