import { describe, expect, it, vi } from 'vitest';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { ok } from '../../../support/testing/messaging-call.js';

interface Step {
  type: string;
  config?: object;
}

const mail = (subject: string): Step => ({ type: 'SEND_EMAIL', config: { subject, body: 'Hi' } });

/** An enabled workflow on `signup`; each step leads to the next one, a CONDITION to the next two. */
async function workflow(fake: FakeMessaging, steps: Step[]): Promise<string> {
  const body = { name: 'Flow', eventName: 'signup' };
  const { id } = await ok(fake, 'POST /workflows', { body });
  const ids: string[] = [];
  for (const step of steps) {
    ids.push((await ok(fake, `POST /workflows/${id}/steps`, { body: step })).id);
  }
  const connect = (from: number, to: number, branch?: string) =>
    ok(fake, `POST /workflows/${id}/transitions`, {
      body: { fromStepId: ids[from], toStepId: ids[to], branch },
    });
  const condition = steps.findIndex(({ type }) => type === 'CONDITION');
  for (let index = 0; index < steps.length - 1; index += 1) {
    if (condition < 0 || index < condition) {
      await connect(index, index + 1);
    }
  }
  if (condition >= 0) {
    await connect(condition, condition + 1, 'yes');
  }
  if (condition >= 0) {
    await connect(condition, condition + 2, 'no');
  }
  await ok(fake, `PATCH /workflows/${id}`, { body: { enabled: true } });
  return id;
}

const track = (fake: FakeMessaging, event: string, data: object = {}) =>
  ok(fake, 'POST /v1/track', { body: { email: 'ann@example.com', event, data } });

const subjects = (fake: FakeMessaging) => fake.outbox.map(({ subject }) => subject);

const execution = (fake: FakeMessaging, id: string) =>
  [...(fake.project.workflows.get(id)?.executions.values() ?? [])][0];

describe('messaging, Events 1: workflows are started by tracked events', () => {
  it('starts an enabled workflow by its event, and by no other', async () => {
    const fake = createFakeMessaging();
    const id = await workflow(fake, [mail('Welcome {{plan}} {{event.name}}')]);
    await track(fake, 'login');
    expect(fake.outbox).toHaveLength(0);
    await track(fake, 'signup', { plan: 'pro' });
    expect(fake.outbox).toMatchObject([
      { subject: 'Welcome pro signup', source: 'workflow', sourceId: id },
    ]);
    expect(execution(fake, id)?.status).toBe('COMPLETED');
  });

  it('starts nothing while the workflow is disabled', async () => {
    const fake = createFakeMessaging();
    const id = await workflow(fake, [mail('Hi')]);
    await ok(fake, `PATCH /workflows/${id}`, { body: { enabled: false } });
    await track(fake, 'signup');
    expect(fake.outbox).toHaveLength(0);
  });

  it('starts again for the same contact only with allowReentry', async () => {
    const fake = createFakeMessaging();
    const id = await workflow(fake, [mail('Hi')]);
    await track(fake, 'signup');
    await track(fake, 'signup');
    expect(fake.outbox).toHaveLength(1);
    await ok(fake, `PATCH /workflows/${id}`, { body: { allowReentry: true } });
    await track(fake, 'signup');
    expect(fake.outbox).toHaveLength(2);
  });
});

describe('messaging, Custom fields 7: a workflow mails with the fields of the contact', () => {
  it('whose `name` is not the name of the event', async () => {
    const fake = createFakeMessaging();
    await workflow(fake, [mail('Welcome {{name ?? "x"}}, {{event.name}}')]);
    await ok(fake, 'POST /contacts', { body: { email: 'ann@example.com', data: { name: 'Ann' } } });
    await track(fake, 'signup');
    await ok(fake, 'POST /v1/track', { body: { email: 'bea@example.com', event: 'signup' } });
    expect(subjects(fake)).toEqual(['Welcome Ann, signup', 'Welcome x, signup']);
  });

  it('as they are when it mails', async () => {
    const fake = createFakeMessaging();
    await workflow(fake, [{ type: 'DELAY', config: { duration: '1d' } }, mail('{{plan}}')]);
    await track(fake, 'signup', { plan: 'free' });
    await track(fake, 'paid', { plan: 'pro' });
    await fake.advance('1d');
    expect(subjects(fake)).toEqual(['pro']);
  });

  it('and with what came with the event for this time only', async () => {
    const fake = createFakeMessaging();
    await workflow(fake, [mail('{{coupon}}')]);
    await track(fake, 'signup', { coupon: { value: 'SPRING', persistent: false } });
    expect(subjects(fake)).toEqual(['SPRING']);
  });
});

describe('messaging, Workflow: step types', () => {
  it('SEND_EMAIL sends a template from its own sender', async () => {
    const fake = createFakeMessaging();
    const [template] = fake.seed({ templates: 1 }).templates;
    await workflow(fake, [{ type: 'SEND_EMAIL', config: { templateId: template?.id } }]);
    await track(fake, 'signup');
    expect(fake.outbox).toMatchObject([{ subject: 'Subject 1', from: 'no-reply@example.com' }]);
  });

  it('a step that cannot run fails the execution, and says why', async () => {
    const fake = createFakeMessaging();
    const id = await workflow(fake, [{ type: 'SEND_EMAIL', config: { templateId: 'tpl_9' } }]);
    await track(fake, 'signup');
    const error = 'There is no template tpl_9.';
    expect(execution(fake, id)).toMatchObject({ status: 'FAILED', error });
  });

  it('DELAY waits on the clock', async () => {
    const fake = createFakeMessaging();
    const delay = { type: 'DELAY', config: { duration: '3d' } };
    await workflow(fake, [mail('One'), delay, mail('Two')]);
    await track(fake, 'signup');
    await fake.advance('71h');
    expect(subjects(fake)).toEqual(['One']);
    await fake.advance('1h');
    expect(subjects(fake)).toEqual(['One', 'Two']);
  });

  it('WAIT_FOR_EVENT goes on with the event, whose fields conditions and templates see', async () => {
    const fake = createFakeMessaging();
    const wait = { type: 'WAIT_FOR_EVENT', config: { eventName: 'order' } };
    await workflow(fake, [wait, mail('Paid {{event.total}}')]);
    await track(fake, 'signup');
    await fake.advance('90d');
    expect(fake.outbox).toHaveLength(0);
    await track(fake, 'order', { total: 5 });
    expect(subjects(fake)).toEqual(['Paid 5']);
  });

  it('WAIT_FOR_EVENT goes on without the event after its timeout, once', async () => {
    const fake = createFakeMessaging();
    const wait = { type: 'WAIT_FOR_EVENT', config: { eventName: 'order', timeout: '1d' } };
    await workflow(fake, [wait, mail('Got {{event.name ?? "nothing"}}')]);
    await track(fake, 'signup');
    await fake.advance('1d');
    await track(fake, 'order');
    expect(subjects(fake)).toEqual(['Got nothing']);
  });

  it.each([
    ['yes', 'data.plan', 'pro', 'Yes'],
    ['no', 'data.plan', 'free', 'No'],
    ['yes', 'event.source', 'web', 'Yes'],
    ['no', 'event.gone', 'web', 'No'],
  ])('CONDITION takes the branch %s for %s equals %s', async (_branch, field, value, subject) => {
    const fake = createFakeMessaging();
    const config = { field, operator: 'equals', value };
    await workflow(fake, [{ type: 'CONDITION', config }, mail('Yes'), mail('No')]);
    await track(fake, 'signup', { plan: 'pro', source: 'web' });
    expect(subjects(fake)).toEqual([subject]);
  });

  it('UPDATE_CONTACT writes custom fields, null deleting a key', async () => {
    const fake = createFakeMessaging();
    await workflow(fake, [{ type: 'UPDATE_CONTACT', config: { data: { stage: 2, plan: null } } }]);
    await track(fake, 'signup', { plan: 'pro', city: 'Rome' });
    const [ann] = [...fake.project.contacts.values()];
    expect(ann?.data).toEqual({ stage: 2, city: 'Rome' });
  });

  it('EXIT ends the execution', async () => {
    const fake = createFakeMessaging();
    const id = await workflow(fake, [{ type: 'EXIT' }, mail('Never')]);
    await track(fake, 'signup');
    expect(execution(fake, id)?.status).toBe('COMPLETED');
    expect(fake.outbox).toHaveLength(0);
  });

  it('steps that go round without a pause end as failed', async () => {
    const fake = createFakeMessaging();
    const id = await workflow(fake, [{ type: 'UPDATE_CONTACT' }, { type: 'UPDATE_CONTACT' }]);
    const [first, second] = [...(fake.project.workflows.get(id)?.steps.keys() ?? [])];
    const body = { fromStepId: second, toStepId: first };
    await ok(fake, `POST /workflows/${id}/transitions`, { body });
    await track(fake, 'signup');
    expect(execution(fake, id)?.status).toBe('FAILED');
  });
});

describe('messaging, Workflow: WEBHOOK', () => {
  const hook = {
    type: 'WEBHOOK',
    config: { url: 'https://shop.test/hook', headers: { 'X-A': 'b' } },
  };

  it('is recorded, and goes nowhere unless a fetch is given', async () => {
    const fake = createFakeMessaging();
    await workflow(fake, [hook, mail('After')]);
    await track(fake, 'signup');
    expect(fake.project.webhooks).toMatchObject([
      { url: 'https://shop.test/hook', method: 'POST', headers: { 'x-a': 'b' }, status: 200 },
    ]);
    expect(fake.project.webhooks[0]?.body).toMatchObject({ contact: { email: 'ann@example.com' } });
    expect(subjects(fake)).toEqual(['After']);
  });

  it('calls through settings.webhookFetch and goes on after the answer', async () => {
    const fake = createFakeMessaging();
    const webhookFetch = vi.fn<typeof fetch>(() => Promise.resolve(new Response('ok')));
    fake.settings.webhookFetch = webhookFetch;
    await workflow(fake, [hook, mail('After')]);
    await track(fake, 'signup');
    await fake.advance(0);
    expect(webhookFetch).toHaveBeenCalledOnce();
    expect(subjects(fake)).toEqual(['After']);
  });

  it.each([
    ['an error status', () => Promise.resolve(new Response('', { status: 500 }))],
    ['no answer', () => Promise.reject(new TypeError('fetch failed'))],
  ])('fails the execution on %s', async (_title, answer) => {
    const fake = createFakeMessaging();
    fake.settings.webhookFetch = answer;
    const id = await workflow(fake, [hook, mail('After')]);
    await track(fake, 'signup');
    await fake.advance(0);
    expect(execution(fake, id)?.status).toBe('FAILED');
    expect(fake.outbox).toHaveLength(0);
  });
});
