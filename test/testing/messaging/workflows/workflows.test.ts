import { describe, expect, it } from 'vitest';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { badFields, call, ok, someText } from '../../../support/testing/messaging-call.js';

const create = async (fake: FakeMessaging, body: object = { name: 'Welcome' }) =>
  (await ok(fake, 'POST /workflows', { body })).id;

const addStep = async (fake: FakeMessaging, id: string, type: string) =>
  (await ok(fake, `POST /workflows/${id}/steps`, { body: { type } })).id;

const addTransition = (fake: FakeMessaging, id: string, body: object) =>
  call(fake, `POST /workflows/${id}/transitions`, { body });

/** Steps of these types, one leading to the next. */
async function chain(fake: FakeMessaging, id: string, types: string[]): Promise<string[]> {
  const steps: string[] = [];
  for (const type of types) {
    steps.push(await addStep(fake, id, type));
  }
  for (const [index, toStepId] of steps.slice(1).entries()) {
    await addTransition(fake, id, { fromStepId: steps[index], toStepId });
  }
  return steps;
}

/** The transitions of a workflow, as from-to pairs. */
const arrows = (fake: FakeMessaging, id: string) =>
  [...(fake.project.workflows.get(id)?.transitions.values() ?? [])].map(
    ({ fromStepId, toStepId, branch }) => [fromStepId, toStepId, ...(branch ? [branch] : [])],
  );

describe('messaging, Workflows', () => {
  it('POST creates with trigger EVENT and enabled false, whatever is sent', async () => {
    const fake = createFakeMessaging();
    const body = { name: 'Welcome', eventName: 'signup', triggerType: 'OTHER', enabled: true };
    expect(await ok(fake, 'POST /workflows', { body })).toMatchObject({
      id: someText,
      name: 'Welcome',
      triggerType: 'EVENT',
      enabled: false,
      allowReentry: false,
      triggerConfig: { eventName: 'signup' },
    });
  });

  it('POST requires a name', async () => {
    const answer = await call(createFakeMessaging(), 'POST /workflows', { body: {} });
    expect(badFields(answer)).toEqual(['name']);
  });

  it('GET lists', async () => {
    const fake = createFakeMessaging();
    const id = await create(fake);
    expect(await ok(fake, 'GET /workflows')).toMatchObject({ data: [{ id }], total: 1 });
  });

  it('GET answers one with its steps and transitions', async () => {
    const fake = createFakeMessaging();
    const id = await create(fake);
    const [first, second] = await chain(fake, id, ['DELAY', 'EXIT']);
    expect(await ok(fake, `GET /workflows/${id}`)).toMatchObject({
      id,
      steps: [{ id: first, type: 'DELAY' }, { id: second }],
      transitions: [{ id: someText, fromStepId: first, toStepId: second }],
    });
  });

  it('PATCH updates metadata, trigger type and config, enabled and allowReentry', async () => {
    const fake = createFakeMessaging();
    const id = await create(fake);
    const body = {
      name: 'Other',
      description: 'Another one',
      triggerType: 'MANUAL',
      triggerConfig: { eventName: 'order' },
      enabled: true,
      allowReentry: true,
    };
    expect(await ok(fake, `PATCH /workflows/${id}`, { body })).toMatchObject(body);
  });

  it('DELETE is refused until active executions were cancelled or completed', async () => {
    const fake = createFakeMessaging();
    const id = await create(fake);
    const body = { type: 'DELAY', config: { duration: '1h' } };
    await ok(fake, `POST /workflows/${id}/steps`, { body });
    const [contact] = fake.seed({ contacts: 1 }).contacts;
    await ok(fake, `POST /workflows/${id}/executions`, { body: { contactId: contact?.id } });
    expect((await call(fake, `DELETE /workflows/${id}`)).status).toBe(400);
    await fake.advance('1h');
    await ok(fake, `DELETE /workflows/${id}`);
    expect((await call(fake, `GET /workflows/${id}`)).status).toBe(404);
  });

  it('fields are those of contacts and events that a CONDITION can use', async () => {
    const fake = createFakeMessaging();
    const body = { email: 'ann@example.com', event: 'order', data: { total: 5 } };
    await ok(fake, 'POST /v1/track', { body });
    const { fields } = await ok(fake, 'GET /workflows/fields');
    expect(fields).toContainEqual({ field: 'email', type: 'string', isCustom: false });
    expect(fields).toContainEqual({ field: 'data.total', type: 'number', isCustom: true });
    expect(fields).toContainEqual({ field: 'event.total', type: 'number', isCustom: true });
  });
});

describe('messaging, Workflows: steps', () => {
  it.each([
    'SEND_EMAIL',
    'DELAY',
    'WAIT_FOR_EVENT',
    'CONDITION',
    'WEBHOOK',
    'UPDATE_CONTACT',
    'EXIT',
  ])('POST adds a %s step', async (type) => {
    const fake = createFakeMessaging();
    const id = await create(fake);
    const body = { type, name: 'A step', config: { a: 1 } };
    expect(await ok(fake, `POST /workflows/${id}/steps`, { body })).toEqual({
      ...body,
      id: someText,
    });
  });

  it('POST refuses a type that is not listed', async () => {
    const fake = createFakeMessaging();
    const id = await create(fake);
    const answer = await call(fake, `POST /workflows/${id}/steps`, { body: { type: 'TRIGGER' } });
    expect(badFields(answer)).toEqual(['type']);
  });

  it('PATCH updates the config', async () => {
    const fake = createFakeMessaging();
    const id = await create(fake);
    const step = await addStep(fake, id, 'DELAY');
    const body = { config: { duration: '3d' } };
    expect(await ok(fake, `PATCH /workflows/${id}/steps/${step}`, { body })).toMatchObject({
      id: step,
      type: 'DELAY',
      ...body,
    });
  });

  it('DELETE removes the step with its transitions', async () => {
    const fake = createFakeMessaging();
    const id = await create(fake);
    const [, middle] = await chain(fake, id, ['DELAY', 'DELAY', 'EXIT']);
    await ok(fake, `DELETE /workflows/${id}/steps/${middle ?? ''}`);
    expect(fake.project.workflows.get(id)?.steps.size).toBe(2);
    expect(arrows(fake, id)).toEqual([]);
  });

  it('DELETE with splice=true reconnects what surrounds the step, branches kept', async () => {
    const fake = createFakeMessaging();
    const id = await create(fake);
    const [middle, last] = await chain(fake, id, ['DELAY', 'EXIT']);
    const condition = await addStep(fake, id, 'CONDITION');
    await addTransition(fake, id, { fromStepId: condition, toStepId: middle, branch: 'no' });
    await ok(fake, `DELETE /workflows/${id}/steps/${middle ?? ''}?splice=true`);
    expect(arrows(fake, id)).toEqual([[condition, last, 'no']]);
  });
});

describe('messaging, Workflows: transitions', () => {
  it.each(['yes', 'no'])(
    'a transition out of a CONDITION carries the branch %s',
    async (branch) => {
      const fake = createFakeMessaging();
      const id = await create(fake);
      const fromStepId = await addStep(fake, id, 'CONDITION');
      const toStepId = await addStep(fake, id, 'EXIT');
      const { status } = await addTransition(fake, id, { fromStepId, toStepId, branch });
      expect(status).toBe(201);
      expect(arrows(fake, id)).toEqual([[fromStepId, toStepId, branch]]);
    },
  );

  it.each([
    ['CONDITION', undefined],
    ['CONDITION', 'maybe'],
    ['DELAY', 'yes'],
  ])('POST refuses a %s step with the branch %s', async (type, branch) => {
    const fake = createFakeMessaging();
    const id = await create(fake);
    const fromStepId = await addStep(fake, id, type);
    const toStepId = await addStep(fake, id, 'EXIT');
    const answer = await addTransition(fake, id, { fromStepId, toStepId, branch });
    expect(badFields(answer)).toEqual(['branch']);
  });

  it('POST refuses steps that the workflow does not have', async () => {
    const fake = createFakeMessaging();
    const id = await create(fake);
    const fromStepId = await addStep(fake, id, 'DELAY');
    const answer = await addTransition(fake, id, { fromStepId, toStepId: 'stp_000099' });
    expect(badFields(answer)).toEqual(['toStepId']);
  });

  it('DELETE removes a transition', async () => {
    const fake = createFakeMessaging();
    const id = await create(fake);
    const [fromStepId, toStepId] = await chain(fake, id, ['DELAY', 'EXIT']);
    const { body } = await addTransition(fake, id, { fromStepId: toStepId, toStepId: fromStepId });
    await ok(fake, `DELETE /workflows/${id}/transitions/${body.id}`);
    expect(arrows(fake, id)).toEqual([[fromStepId, toStepId]]);
    const again = await call(fake, `DELETE /workflows/${id}/transitions/${body.id}`);
    expect(again.status).toBe(404);
  });
});

describe('a service of another kind', () => {
  it('has a step for the trigger, from which an execution goes on to the first one', async () => {
    const fake = createFakeMessaging({ behavior: { workflowStart: 'trigger-step' } });
    const { id, steps } = await ok(fake, 'POST /workflows', {
      body: { name: 'Welcome', eventName: 'signup' },
    });
    expect(steps).toMatchObject([{ type: 'TRIGGER', config: { eventName: 'signup' } }]);
    const config = { subject: 'Hi', body: 'Hi' };
    const body = { type: 'SEND_EMAIL', config };
    const { id: toStepId } = await ok(fake, `POST /workflows/${id}/steps`, { body });
    const [fromStepId] = [...(fake.project.workflows.get(id)?.steps.keys() ?? [])];
    await addTransition(fake, id, { fromStepId, toStepId });
    await ok(fake, `PATCH /workflows/${id}`, { body: { enabled: true } });
    await ok(fake, 'POST /v1/track', { body: { email: 'ann@example.com', event: 'signup' } });
    expect(fake.outbox).toMatchObject([{ subject: 'Hi' }]);
  });

  it('connects a new step to the one before it, and lets a step lead to one other', async () => {
    const fake = createFakeMessaging({ behavior: { stepConnection: 'automatic' } });
    const id = await create(fake);
    const first = await addStep(fake, id, 'DELAY');
    const second = await addStep(fake, id, 'DELAY');
    const body = { type: 'EXIT', autoConnect: false };
    const { id: third } = await ok(fake, `POST /workflows/${id}/steps`, { body });
    expect(arrows(fake, id)).toEqual([[first, second]]);
    const refused = await addTransition(fake, id, { fromStepId: first, toStepId: third });
    expect(refused.status).toBe(400);
    await addTransition(fake, id, { fromStepId: second, toStepId: third });
    expect(arrows(fake, id)).toHaveLength(2);
  });

  it('has its transitions inside the steps, and a branch inside a condition', async () => {
    const behavior = { transitionsIn: 'steps', branchIn: 'condition' } as const;
    const fake = createFakeMessaging({ behavior });
    const id = await create(fake);
    const fromStepId = await addStep(fake, id, 'CONDITION');
    const toStepId = await addStep(fake, id, 'EXIT');
    const bare = { fromStepId, toStepId, branch: 'yes' };
    expect((await addTransition(fake, id, bare)).status).toBe(422);
    await addTransition(fake, id, { fromStepId, toStepId, condition: { branch: 'yes' } });
    const graph = await ok(fake, `GET /workflows/${id}`);
    const way = { fromStepId, toStepId, condition: { branch: 'yes' } };
    expect(graph.transitions).toBeUndefined();
    expect(graph.steps).toMatchObject([
      { outgoingTransitions: [way], incomingTransitions: [] },
      { outgoingTransitions: [], incomingTransitions: [way] },
    ]);
  });

  it('does what `enabled` says of a new workflow', async () => {
    const fake = createFakeMessaging({ behavior: { enabledOnCreate: 'honoured' } });
    const id = await create(fake, { name: 'Welcome', enabled: true });
    expect(fake.project.workflows.get(id)?.enabled).toBe(true);
  });
});
