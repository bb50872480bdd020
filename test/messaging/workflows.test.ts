import { MessagingClient, type StepCreate, type TransitionCreate } from 'postreel';
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

const refusal = (field: string, message: unknown) => ({
  name: 'InvalidRequestError',
  outcome: 'not-sent',
  fieldErrors: [{ field, message }],
});

const unavailable = () =>
  Response.json({ error: 'busy' }, { status: 503, headers: { 'retry-after': '0' } });

describe('workflows', () => {
  it('requires a text as the name', async () => {
    const body = { name: 7 } as never; // wrong on purpose
    await expect(messaging.workflows.create(body)).rejects.toMatchObject(
      refusal('name', 'must be a string; got 7'),
    );
  });

  it('warns about a trigger and a state that a new workflow cannot have', async () => {
    const { fetch, requests } = answering();
    const warnings: string[] = [];
    const client = messagingOver(fetch).on('warning', ({ message }) => warnings.push(message));
    const body = { name: 'Welcome', enabled: true, triggerType: 'SCHEDULE' };
    await client.workflows.create(body as unknown as { name: string }); // what JavaScript callers may pass
    expect(warnings).toEqual([
      '`enabled` has no effect: every workflow starts disabled. Use `workflows.update()`.',
      '`triggerType` has no effect: every workflow starts with "EVENT". Use `workflows.update()`.',
    ]);
    expect(await requests[0]?.json()).toEqual(body);
  });

  it('does not warn about fields with the values that the service sets', async () => {
    const { fetch } = answering();
    const warnings: string[] = [];
    const client = messagingOver(fetch).on('warning', ({ message }) => warnings.push(message));
    await client.workflows.create({ name: 'Welcome', enabled: false, triggerType: 'EVENT' });
    expect(warnings).toEqual([]);
  });

  it.each(['COMPLETED', 'EXITED', 'done'])('waits until an execution is %s', async (end) => {
    const statuses = ['RUNNING', 'WAITING', end];
    const { fetch, requests } = answering(() => ({ id: 'exe_1', status: statuses.shift() }));
    const seen: unknown[] = [];
    const { status } = await messagingOver(fetch).workflows.executions.wait('wf_1', 'exe_1', {
      interval: 1,
      onUpdate: (execution) => seen.push(execution.status),
    });
    expect(status).toBe(end);
    expect(seen).toEqual(['RUNNING', 'WAITING', end]);
    expect(requests[0]?.url).toBe('https://messaging.test/workflows/wf_1/executions/exe_1');
  });

  it('rejects the wait for an execution that failed or was canceled', async () => {
    const { fetch } = answering(() => ({ id: 'exe_1', status: 'CANCELLED' }));
    const { executions } = messagingOver(fetch).workflows;
    await expect(executions.wait('wf_1', 'exe_1')).rejects.toMatchObject({
      name: 'JobFailedError',
      message: 'Execution exe_1 ended with the status "CANCELLED".',
    });
  });

  it('ends the wait for an execution when isDone() returns true', async () => {
    const { fetch } = answering(() => ({ id: 'exe_1', status: 'LEFT' }));
    const { executions } = messagingOver(fetch).workflows;
    const isDone = ({ status }: { status?: string | undefined }) => status === 'LEFT';
    expect(await executions.wait('wf_1', 'exe_1', { isDone })).toMatchObject({ status: 'LEFT' });
  });

  it('requests the fields of conditions, not a workflow of that name', async () => {
    const { fetch, requests } = answering(() => ({ fields: [] }));
    expect(await messagingOver(fetch).workflows.fields()).toEqual({ fields: [] });
    expect(requests[0]?.url).toBe('https://messaging.test/workflows/fields');
  });

  it('sends undocumented fields', async () => {
    const { fetch, requests } = answering(() => ({ id: 'wf_1' }));
    const body = { enabled: true, triggerConfig: { eventName: 'signed_up' } };
    await messagingOver(fetch).workflows.update('wf_1', body);
    expect(requests[0]?.method).toBe('PATCH');
    expect(await requests[0]?.json()).toEqual(body);
  });
});

describe('workflows.steps', () => {
  it('rejects an unknown type', async () => {
    const body = { type: 'SEND_SMS' } as unknown as StepCreate; // what JavaScript callers may pass
    await expect(messaging.workflows.steps.create('wf_1', body)).rejects.toMatchObject(
      refusal('type', expect.stringMatching(/"SEND_EMAIL", .*"EXIT"/)),
    );
  });

  it('rejects a config that is not an object', async () => {
    const config = ['DELAY'] as unknown as StepCreate['config']; // what JavaScript callers may pass
    await expect(
      messaging.workflows.steps.update('wf_1', 'st_1', { config }),
    ).rejects.toMatchObject(refusal('config', 'must be an object'));
  });

  it.each([
    ['splices', { splice: true }, '?splice=true'],
    ['leaves out a false splice, which might be read as text', { splice: false }, ''],
    ['deletes without a query', undefined, ''],
  ])('%s', async (_, query, search) => {
    const { fetch, requests } = answering(() => new Response(null, { status: 204 }));
    await messagingOver(fetch).workflows.steps.delete('wf_1', 'st_1', query);
    const url = new URL(requests[0]?.url ?? '');
    expect(url.pathname + url.search).toBe(`/workflows/wf_1/steps/st_1${search}`);
  });

  it('rejects a splice that is not a boolean', async () => {
    const splice = 'false' as unknown as boolean; // what JavaScript callers may pass
    await expect(
      messaging.workflows.steps.delete('wf_1', 'st_1', { splice }),
    ).rejects.toMatchObject(refusal('splice', expect.stringContaining('must be a boolean')));
  });
});

describe('workflows.transitions', () => {
  it('rejects a branch that is neither yes nor no', async () => {
    const body = { fromStepId: 'a', toStepId: 'b', branch: 'maybe' } as unknown as TransitionCreate; // what JavaScript callers may pass
    await expect(messaging.workflows.transitions.create('wf_1', body)).rejects.toMatchObject(
      refusal('branch', expect.stringContaining('"yes", "no"')),
    );
  });

  it('deletes by both ids', async () => {
    const { fetch, requests } = answering(() => new Response(null, { status: 204 }));
    await messagingOver(fetch).workflows.transitions.delete('wf_1', 'tr/1');
    expect(requests[0]?.url).toBe('https://messaging.test/workflows/wf_1/transitions/tr%2F1');
  });
});

describe('workflows.executions', () => {
  it('rejects a context that is not an object', async () => {
    const context = 'SPRING' as unknown as Record<string, unknown>; // what JavaScript callers may pass
    await expect(
      messaging.workflows.executions.start('wf_1', { contactId: 'c_1', context }),
    ).rejects.toMatchObject(refusal('context', 'must be an object'));
  });

  it('never starts an execution twice', async () => {
    const { fetch, requests } = answering(unavailable);
    await expect(
      messagingOver(fetch).workflows.executions.start('wf_1', { contactId: 'c_1' }),
    ).rejects.toMatchObject({ outcome: 'unknown' });
    expect(requests).toHaveLength(1);
  });

  it('lists by status, page after page', async () => {
    const { fetch, requests } = answering((request) => {
      const page = Number(new URL(request.url).searchParams.get('page') ?? 1);
      return { executions: [{ id: `ex_${page}` }], total: 2, page, pageSize: 1, totalPages: 2 };
    });
    const query = { status: 'RUNNING', pageSize: 1 };
    const list = messagingOver(fetch).workflows.executions.list('wf_1', query);
    expect((await list.toArray()).map(({ id }) => id)).toEqual(['ex_1', 'ex_2']);
    expect(new URL(requests[1]?.url ?? '').search).toBe('?status=RUNNING&pageSize=1&page=2');
  });
});
