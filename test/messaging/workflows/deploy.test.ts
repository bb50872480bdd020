import {
  defineWorkflow,
  memoryWorkflowState,
  MessagingClient,
  type Deployment,
  type WorkflowDefinition,
  type WorkflowStateStore,
} from 'postreel';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { dyingAt, type Moment } from '../../support/messaging/crashing.js';
import { inTime } from '../../support/media/fake-time.js';
import { onboarding } from '../../support/messaging/onboarding.js';
import { tracked } from '../../support/msw.js';

let fake: FakeMessaging;
let store: WorkflowStateStore;

beforeEach(() => {
  fake = createFakeMessaging();
  store = memoryWorkflowState();
});

afterEach(() => {
  vi.useRealTimers();
});

const clientOf = (fetch: typeof fake.fetch = fake.fetch, timeout = 30_000) =>
  new MessagingClient({
    apiKey: fake.secretKey,
    baseUrl: fake.baseUrl,
    fetch: tracked(fetch),
    rateLimit: false,
    retries: 0,
    timeout,
    validation: { requests: 'off', responses: 'off' },
  });

const deploy = (definition: WorkflowDefinition = onboarding): Promise<Deployment> =>
  clientOf().workflows.deploy(definition, { state: store });

/** Runs what looks again later for what may have been created. */
async function inFakeTime<T>(run: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    return await inTime(run());
  } finally {
    vi.useRealTimers();
  }
}

/** The live graph in terms of step names, whatever the ids are. */
async function live() {
  const found = [];
  for await (const { id } of clientOf().workflows.list()) {
    const { steps = [], transitions = [], ...graph } = await clientOf().workflows.get(id);
    const names = new Map(steps.map((step) => [step.id, String(step['name'])]));
    const ways = transitions.map(({ fromStepId, toStepId, branch }) =>
      [names.get(String(fromStepId)), branch ?? 'next', names.get(String(toStepId))].join(' '),
    );
    found.push({
      name: graph['name'],
      enabled: graph.enabled,
      steps: steps.map(({ name, type, config }) => ({ name, type, config })),
      ways: ways.sort(),
    });
  }
  return found;
}

const everyStep = [
  'isPro no offer',
  'isPro yes mark',
  'mark next done',
  'offer next paid',
  'paid next mark',
  'wait next isPro',
  'welcome next wait',
];

const changed = defineWorkflow({
  key: 'onboarding',
  name: 'Onboarding 2',
  trigger: { event: 'signed_up' },
  enabled: true,
  steps: {
    welcome: { type: 'SEND_EMAIL', subject: 'Welcome!', body: '<p>Hi</p>', next: 'wait' },
    wait: { type: 'WAIT_FOR_EVENT', event: 'paid', next: 'thanks' },
    thanks: { type: 'SEND_EMAIL', subject: 'Thanks', body: '<p>Thanks</p>', next: 'done' },
    done: { type: 'EXIT' },
  },
});

describe('workflows.deploy()', () => {
  it('creates the whole graph and enables it', async () => {
    const { workflowId, stepIds, operations } = await deploy();
    expect(workflowId).toBeDefined();
    expect(Object.keys(stepIds)).toEqual(Object.keys(onboarding.steps));
    expect(operations.map((operation) => operation.do)).toEqual([
      'create-workflow',
      ...Array.from({ length: 7 }, () => 'create-step'),
      ...Array.from({ length: 7 }, () => 'create-transition'),
      'enable-workflow',
    ]);
    expect(await live()).toMatchObject([{ name: 'Onboarding', enabled: true, ways: everyStep }]);
  });

  it('changes nothing the second time', async () => {
    await deploy();
    const before = await live();
    const second = await deploy();
    expect(second.operations).toEqual([]);
    expect(await live()).toEqual(before);
  });

  it('runs what it deploys', async () => {
    await deploy();
    await clientOf().track({ email: 'ann@example.com', event: 'signed_up' });
    await fake.advance('3d');
    expect(fake.outbox.map(({ subject }) => subject)).toEqual(['Welcome', 'Go pro']);
  });

  it('only plans with dryRun', async () => {
    const { workflowId, operations } = await clientOf().workflows.deploy(onboarding, {
      state: store,
      dryRun: true,
    });
    expect(workflowId).toBeUndefined();
    expect(operations[0]).toEqual({ do: 'create-workflow' });
    expect(await live()).toEqual([]);
    expect(await store.read('onboarding')).toBeUndefined();
  });

  it('changes only what differs, with the workflow disabled meanwhile', async () => {
    const first = await deploy();
    const second = await deploy(changed);
    expect(second.workflowId).toBe(first.workflowId);
    expect(second.stepIds['welcome']).toBe(first.stepIds['welcome']);
    const done = second.operations.map((operation) => operation.do);
    expect(done[0]).toBe('disable-workflow');
    expect(done.at(-1)).toBe('enable-workflow');
    expect(done).toContain('update-step');
    expect(done).not.toContain('create-workflow');
    expect(await live()).toMatchObject([
      {
        name: 'Onboarding 2',
        enabled: true,
        ways: ['thanks next done', 'wait next thanks', 'welcome next wait'],
      },
    ]);
    expect((await deploy(changed)).operations).toEqual([]);
  });

  it('takes back what it created when the service refuses a step', async () => {
    fake.fail('POST /workflows/{id}/steps', { status: 422, after: 3 });
    await expect(deploy()).rejects.toMatchObject({ status: 422 });
    expect(await live()).toEqual([]);
    await deploy();
    expect(await live()).toMatchObject([{ ways: everyStep }]);
  });

  it('takes back a change that the service refuses half way', async () => {
    await deploy();
    const before = await live();
    fake.fail('POST /workflows/{id}/transitions', { status: 500, after: 0 });
    await expect(inFakeTime(() => deploy(changed))).rejects.toMatchObject({ status: 500 });
    expect(await live()).toEqual(before);
  });
});

describe('what a deployment takes back', () => {
  /** What was asked of the service since then, without reads. */
  const changesSince = (start: number) =>
    fake.requests.slice(start).flatMap(({ endpoint = '' }) => {
      return endpoint.startsWith('GET') ? [] : [endpoint];
    });

  it('is a new workflow as a whole', async () => {
    fake.fail('POST /workflows/{id}/transitions', { status: 422, after: 2 });
    await expect(deploy()).rejects.toMatchObject({ status: 422 });
    const taken = changesSince(0).filter((endpoint) => endpoint.startsWith('DELETE'));
    expect(taken).toEqual(['DELETE /workflows/{id}']);
    expect(await store.read('onboarding')).toBeUndefined();
  });

  it('goes in the opposite order: transitions, then steps', async () => {
    await deploy();
    const start = fake.requests.length;
    const { offer, ...others } = onboarding.steps;
    const extra = { type: 'EXIT' } as const;
    const check = { type: 'CONDITION', if: {}, yes: 'paid', no: 'extra' } as const;
    const steps = { ...others, offer: { ...offer, next: 'check' }, check, extra };
    fake.fail('POST /workflows/{id}/transitions', { status: 422, after: 2 });
    await expect(deploy({ ...onboarding, steps })).rejects.toMatchObject({ status: 422 });
    expect(changesSince(start).filter((endpoint) => endpoint.startsWith('DELETE'))).toEqual([
      ...Array.from({ length: 2 }, () => 'DELETE /workflows/{id}/transitions/{transitionId}'),
      ...Array.from({ length: 2 }, () => 'DELETE /workflows/{id}/steps/{stepId}'),
    ]);
  });

  it('enables the workflow again only when its graph is as it was', async () => {
    await deploy();
    const start = fake.requests.length;
    fake.fail('POST /workflows/{id}/transitions', { status: 422 });
    await expect(deploy(changed)).rejects.toMatchObject({ status: 422 });
    const changes = changesSince(start);
    expect(changes.slice(0, 2)).toEqual(['PATCH /workflows/{id}', 'POST /workflows/{id}/steps']);
    expect(changes.slice(-2)).toEqual([
      'DELETE /workflows/{id}/steps/{stepId}',
      'PATCH /workflows/{id}',
    ]);
    expect(await live()).toMatchObject([{ enabled: true, ways: everyStep }]);
  });

  it('does not enable a workflow that was to be disabled', async () => {
    await deploy();
    fake.fail('POST /workflows/{id}/transitions', { status: 422 });
    const off = { ...changed, enabled: false };
    await expect(deploy(off)).rejects.toMatchObject({ status: 422 });
    expect(await live()).toMatchObject([{ enabled: false }]);
  });

  it('is nothing once something was deleted: the next deployment goes on', async () => {
    await deploy();
    const rest = 'DELETE /workflows/{id}/transitions/{transitionId}';
    fake.fail(rest, { status: 500, after: 1 });
    await expect(deploy(changed)).rejects.toMatchObject({ status: 500 });
    const [half] = await live();
    expect(half?.enabled).toBe(false);
    expect(half?.steps.map(({ name }) => name)).toContain('thanks');
    await deploy(changed);
    const ways = ['thanks next done', 'wait next thanks', 'welcome next wait'];
    expect(await live()).toMatchObject([{ enabled: true, ways }]);
  });

  it('is nothing once a step was deleted, also where its transitions were gone already', async () => {
    const { done, ...others } = changed.steps;
    const short = { ...changed, steps: { welcome: { ...others.welcome, next: 'done' }, done } };
    const { workflowId = '' } = await deploy(changed);
    const { transitions = [] } = await clientOf().workflows.get(workflowId);
    for (const { id } of transitions) {
      await clientOf().workflows.transitions.delete(workflowId, id);
    }
    fake.fail('DELETE /workflows/{id}/steps/{stepId}', { status: 500 });
    await expect(deploy(short)).rejects.toMatchObject({ status: 500 });
    expect(await live()).toMatchObject([{ enabled: false, ways: ['welcome next done'] }]);
  });

  it('is nothing once the graph is complete: it is enabled all the same', async () => {
    await deploy(changed);
    const { welcome, ...others } = changed.steps;
    const steps = { welcome: { ...welcome, subject: 'Hello!' }, ...others };
    fake.fail('PATCH /workflows/{id}', { status: 500, after: 2 }); // disabled, renamed, and enabled
    const renamed = { ...changed, name: 'Onboarding 3', steps };
    await expect(deploy(renamed)).rejects.toMatchObject({ status: 500 });
    const [half] = await live();
    expect(half).toMatchObject({ name: 'Onboarding 3', enabled: true });
    expect(half?.steps[0]?.config).toMatchObject({ subject: 'Hello!' });
  });
});

describe('what a deployment changes', () => {
  it('is sent without the type of a step, which is fixed', async () => {
    await deploy();
    await deploy(changed);
    const updates = fake.requests.filter(
      ({ endpoint }) => endpoint === 'PATCH /workflows/{id}/steps/{stepId}',
    );
    expect(updates.length).toBeGreaterThan(0);
    for (const { body } of updates) {
      expect(body).toHaveProperty('config');
      expect(body).not.toHaveProperty('type');
    }
  });
});

describe('what a deployment deletes', () => {
  it.each([
    ['steps/{stepId}', 500],
    ['steps/{stepId}', 409],
    ['transitions/{transitionId}', 500],
    ['transitions/{transitionId}', 403],
  ])('is not taken for gone when the service fails to delete %s with %i', async (part, status) => {
    await deploy();
    const heal = fake.fail(`DELETE /workflows/{id}/${part}`, { status });
    await expect(deploy(changed)).rejects.toMatchObject({ status });
    heal();
    await deploy(changed);
    const ways = ['thanks next done', 'wait next thanks', 'welcome next wait'];
    expect(await live()).toMatchObject([{ name: 'Onboarding 2', enabled: true, ways }]);
  });
});

describe('a deployment that dies', () => {
  /** Dies at each of its requests and writes in turn, and says what the next run leaves. */
  async function dieAt(operation: number, moment: Moment, definition: WorkflowDefinition) {
    const { fetch, store: dying, dead } = dyingAt(operation, moment, { fake, store });
    // A timeout would let it go on half a minute later, in the midst of another test.
    const client = clientOf(fetch, Infinity);
    const run = client.workflows.deploy(definition, { state: dying });
    const end = await Promise.race([run.then(() => 'done' as const), dead]);
    // The next run looks twice for what may have been created, with a wait in between.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const next = await inTime(deploy(definition));
    vi.useRealTimers();
    return { end, next };
  }

  it.each(['before', 'after'] as const)(
    'is finished by the next one, nothing twice, at every step %s it happens',
    async (moment) => {
      for (let operation = 1; ; operation++) {
        fake = createFakeMessaging();
        store = memoryWorkflowState();
        const { end } = await dieAt(operation, moment, onboarding);
        expect(await live(), `died ${moment} ${operation}`).toMatchObject([
          { name: 'Onboarding', enabled: true, ways: everyStep },
        ]);
        expect((await live())[0]?.steps).toHaveLength(7);
        if (end === 'done') {
          expect(operation).toBeGreaterThan(40);
          return;
        }
      }
    },
    240_000,
  );

  it.each(['before', 'after'] as const)(
    'is finished by the next one when it changes a workflow and dies %s a step',
    async (moment) => {
      for (let operation = 1; ; operation += 3) {
        fake = createFakeMessaging();
        store = memoryWorkflowState();
        await deploy();
        const { end } = await dieAt(operation, moment, changed);
        expect(await live(), `died ${moment} ${operation}`).toMatchObject([
          {
            name: 'Onboarding 2',
            enabled: true,
            ways: ['thanks next done', 'wait next thanks', 'welcome next wait'],
          },
        ]);
        expect((await live())[0]?.steps).toHaveLength(4);
        if (end === 'done') {
          return;
        }
      }
    },
    240_000,
  );

  it.each(['before', 'after'] as const)(
    'leaves a workflow on that was enabled by hand, when it dies %s a step',
    async (moment) => {
      const byHand = { ...changed, enabled: undefined };
      for (let operation = 1; ; operation++) {
        fake = createFakeMessaging();
        store = memoryWorkflowState();
        const { workflowId = '' } = await deploy({ ...onboarding, enabled: undefined });
        await clientOf().workflows.update(workflowId, { enabled: true });
        const { end } = await dieAt(operation, moment, byHand);
        expect(await live(), `died ${moment} ${operation}`).toMatchObject([{ enabled: true }]);
        if (end === 'done') {
          return;
        }
      }
    },
    240_000,
  );

  it('leaves alone a workflow of the same name when the answer to its creation is lost', async () => {
    const other = await clientOf().workflows.create({ name: 'Onboarding', eventName: 'bought' });
    fake.fail('POST /workflows', { drop: true });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const lost = inTime(deploy()).catch((failure: unknown) => failure);
    expect(await lost).toMatchObject({ name: 'ConnectionError' });
    vi.useRealTimers();
    const { workflowId } = await deploy();
    expect(workflowId).not.toBe(other.id);
    const { steps, ...kept } = await clientOf().workflows.get(other.id);
    expect(steps).toEqual([]);
    expect(kept).toMatchObject({ enabled: false, eventName: 'bought' });
  });

  it('says so when a new workflow does not show enough to tell whose it is', async () => {
    const client = clientOf(async (input, init) => {
      const { method, url } = new Request(input, init);
      const response = await fake.fetch(input, init);
      return method === 'GET' && /\/workflows\/\w+$/.test(url)
        ? Response.json({ ...((await response.json()) as object), eventName: undefined })
        : response;
    });
    fake.fail('POST /workflows', { loseAnswer: true });
    await expect(client.workflows.deploy(onboarding, { state: store })).rejects.toMatchObject({
      code: 'DEPLOY_UNCLEAR',
    });
  });

  it('says so when it cannot tell which of two workflows is its own', async () => {
    const client = clientOf(async (input, init) => {
      const { method, url } = new Request(input, init);
      if (method === 'POST' && url.endsWith('/workflows')) {
        await clientOf().workflows.create({ name: 'Onboarding', eventName: 'signed_up' });
        fake.fail('POST /workflows', { loseAnswer: true });
      }
      return fake.fetch(input, init);
    });
    await expect(client.workflows.deploy(onboarding, { state: store })).rejects.toMatchObject({
      code: 'DEPLOY_UNCLEAR',
      outcome: 'unknown',
    });
    expect(await live()).toMatchObject([{ steps: [] }, { steps: [] }]);
  });

  it('finds what the service creates a moment after its answer was lost', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let isFirst = true;
    const client = clientOf((input, init) => {
      if (init?.method !== 'POST' || !isFirst) {
        return fake.fetch(input, init);
      }
      isFirst = false;
      setTimeout(() => void fake.fetch(input, { ...init, signal: null }), 500);
      return Promise.reject(new TypeError('fetch failed'));
    });
    await inTime(client.workflows.deploy(onboarding, { state: store }));
    vi.useRealTimers();
    expect(await live()).toMatchObject([{ name: 'Onboarding', ways: everyStep }]);
  });

  it.each([
    'POST /workflows',
    'POST /workflows/{id}/steps',
    'POST /workflows/{id}/transitions',
  ] as const)('creates nothing twice when the answer to %s is lost', async (endpoint) => {
    fake.fail(endpoint, { loseAnswer: true });
    await deploy();
    expect(await live()).toMatchObject([{ ways: everyStep }]);
    expect((await live())[0]?.steps).toHaveLength(7);
  });
});

describe('workflows.pull()', () => {
  it('turns a live workflow into a definition that deploys to nothing', async () => {
    const { workflowId = '' } = await deploy();
    const { definition, state } = await clientOf().workflows.pull(workflowId);
    expect(definition).toMatchObject({ name: 'Onboarding', trigger: { event: 'signed_up' } });
    expect(definition.start).toBe('welcome');
    const named = Object.entries(onboarding.steps).map(([name, step]) => [name, { name, ...step }]);
    expect(definition.steps).toEqual(Object.fromEntries(named));
    await store.write(definition.key, state);
    expect((await deploy(definition)).operations).toEqual([]);
  });
});
