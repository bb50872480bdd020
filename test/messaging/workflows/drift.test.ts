import {
  isPostreelError,
  memoryWorkflowState,
  MessagingClient,
  type DeployOptions,
  type WorkflowDefinition,
  type WorkflowStateStore,
} from 'postreel';
import { createFakeMessaging, type FakeMessaging, type MessagingBehavior } from 'postreel/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { inTime } from '../../support/media/fake-time.js';
import { onboarding } from '../../support/messaging/onboarding.js';
import { tracked } from '../../support/msw.js';

let fake: FakeMessaging;
let store: WorkflowStateStore;

beforeEach(() => useService());
afterEach(() => {
  vi.useRealTimers();
});

function useService(behavior: Partial<MessagingBehavior> = {}) {
  fake = createFakeMessaging({ behavior });
  store = memoryWorkflowState();
}

const clientOf = (fetch: typeof fake.fetch = fake.fetch) =>
  new MessagingClient({
    apiKey: fake.secretKey,
    baseUrl: fake.baseUrl,
    fetch: tracked(fetch),
    rateLimit: false,
    retries: 0,
    validation: { requests: 'off', responses: 'off' },
  });

const deploy = (
  definition: WorkflowDefinition = onboarding,
  options: Partial<DeployOptions> = {},
) => clientOf().workflows.deploy(definition, { state: store, ...options });

async function inFakeTime<T>(run: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    return await inTime(run());
  } finally {
    vi.useRealTimers();
  }
}

const workflow = () => {
  const [only, ...others] = fake.project.workflows.values();
  if (only === undefined || others.length > 0) {
    throw new Error('there is not one workflow');
  }
  return only;
};
const step = (name: string) => {
  const found = [...workflow().steps.values()].find((one) => one.name === name);
  if (found === undefined) {
    throw new Error(`there is no step ${name}`);
  }
  return found;
};
const writes = () => fake.requests.filter(({ method }) => method !== 'GET').length;

const { offer } = onboarding.steps;
const offerCalled = (subject: string) => ({
  ...onboarding,
  steps: { ...onboarding.steps, offer: { ...offer, subject } },
});
const renamedOffer = offerCalled('Go pro now');
/** The offer leads to a new step: one step and two transitions more, and one less. */
const longer = {
  ...onboarding,
  steps: {
    ...onboarding.steps,
    offer: { ...offer, next: 'pause' },
    pause: { type: 'DELAY', amount: 1, unit: 'days', next: 'paid' },
  },
} as const;

describe('the drift of a deployment', () => {
  it('is what a colleague has changed, and nothing of theirs is overwritten', async () => {
    await deploy();
    step('wait').config = { duration: { amount: 5, unit: 'days' } };
    workflow().name = 'Welcome tour';
    workflow().triggerConfig = { eventName: 'joined' };
    workflow().steps.set('stp_x', { id: 'stp_x', type: 'SEND_EMAIL', name: 'more', config: {} });
    const { drift, operations } = await deploy(onboarding, { dryRun: true });
    expect(drift).toEqual([
      {
        part: 'workflow',
        key: workflow().id,
        by: 'theirs',
        change: 'changed',
        fields: ['eventName', 'name'],
      },
      { part: 'step', key: 'wait', by: 'theirs', change: 'changed', fields: ['config.duration'] },
      { part: 'step', key: 'stp_x', by: 'theirs', change: 'added', fields: [] },
    ]);
    expect(operations.length).toBeGreaterThan(0);
    const before = writes();
    await expect(deploy()).rejects.toMatchObject({
      name: 'ConflictError',
      code: 'WORKFLOW_CHANGED',
      outcome: 'not-sent',
      message: expect.stringContaining('step "wait" was changed (config.duration)') as string,
    });
    expect(writes()).toBe(before);
    await deploy(onboarding, { overwrite: true });
    expect(workflow().name).toBe('Onboarding');
    expect(step('wait').config).toEqual({ duration: { amount: 2, unit: 'days' } });
    expect(workflow().steps.has('stp_x')).toBe(false);
    expect(await deploy()).toMatchObject({ drift: [], operations: [] });
  });

  it('says ours, theirs or both', async () => {
    await deploy();
    step('offer').config = { subject: 'Theirs', body: '<p>Offer</p>' };
    step('mark').config = { data: {} };
    const wait = { ...onboarding.steps.wait, amount: 3 };
    const steps = { ...renamedOffer.steps, wait };
    const { drift } = await deploy({ ...renamedOffer, steps }, { dryRun: true });
    expect(drift.map(({ key, by }) => [key, by])).toEqual([
      ['wait', 'ours'],
      ['offer', 'both'],
      ['mark', 'theirs'],
    ]);
  });

  it('is none where a colleague has made the change of the definition', async () => {
    await deploy();
    step('offer').config = { subject: 'Go pro now', body: '<p>Offer</p>' };
    expect(await deploy(renamedOffer)).toMatchObject({ drift: [], operations: [] });
  });

  it('is none where the service adds settings of its own', async () => {
    useService({ stepDefaults: 'added', acknowledgements: 'success' });
    await deploy();
    expect((await deploy(renamedOffer)).operations).toContainEqual({
      do: 'update-step',
      step: 'offer',
    });
    expect(await deploy(renamedOffer)).toMatchObject({ drift: [], operations: [] });
  });

  it.each([
    ['the same definition', renamedOffer, true],
    ['another change of that step', offerCalled('Go pro today'), false],
  ])(
    'is none after a deployment that failed where answers show nothing: %s follows',
    async (_, next, isDown) => {
      useService({ acknowledgements: 'no-content', stepDefaults: 'added' });
      await deploy();
      let hasChanged = false;
      const failing = clientOf((input, init) => {
        const path = new URL(new Request(input).url).pathname;
        if (hasChanged && (isDown || (init?.method ?? 'GET') !== 'GET')) {
          return Promise.reject(new TypeError('fetch failed'));
        }
        hasChanged = init?.method === 'PATCH' && path.includes('/steps/');
        return fake.fetch(input, init);
      });
      const call = inFakeTime(() => failing.workflows.deploy(renamedOffer, { state: store }));
      await expect(call).rejects.toMatchObject({ code: 'DEPLOY_INCOMPLETE' });
      await deploy(next);
      expect(step('offer').config).toMatchObject({ subject: next.steps.offer.subject });
      expect(workflow()).toMatchObject({ enabled: true });
      expect(await deploy(next)).toMatchObject({ drift: [], operations: [] });
    },
  );

  it('counts a workflow that a colleague disabled or deleted', async () => {
    await deploy();
    workflow().enabled = false;
    await expect(deploy()).rejects.toMatchObject({ code: 'WORKFLOW_CHANGED' });
    fake.project.workflows.clear();
    await expect(deploy()).rejects.toMatchObject({ code: 'WORKFLOW_CHANGED' });
    expect(fake.project.workflows.size).toBe(0);
    await deploy(onboarding, { overwrite: true });
    expect(workflow().enabled).toBe(true);
  });

  it.each([false, true])(
    'takes no single 404 for a deletion, also where one was under way (overwrite: %s)',
    async (overwrite) => {
      await deploy();
      const { id } = workflow();
      const state = await store.read('onboarding');
      await store.write('onboarding', { ...state!, unsure: { [id]: [null] } });
      fake.fail('GET /workflows/{id}', { status: 404 });
      const { operations } = await inFakeTime(() => deploy(onboarding, { overwrite }));
      expect(operations).toEqual([]);
      expect(workflow().id).toBe(id);
      // One that stays away although it is listed is not gone either.
      fake.fail('GET /workflows/{id}', { status: 404, times: Infinity });
      const call = inFakeTime(() => deploy(onboarding, { overwrite }));
      await expect(call).rejects.toMatchObject({ code: 'WORKFLOW_CHANGED', outcome: 'not-sent' });
      expect(workflow().id).toBe(id);
    },
  );

  it('sends only the fields that differ', async () => {
    await deploy();
    const start = fake.requests.length;
    await deploy(renamedOffer);
    const update = fake.requests
      .slice(start)
      .find(({ endpoint }) => endpoint === 'PATCH /workflows/{id}/steps/{stepId}');
    expect(Object.keys(update?.body as object)).toEqual(['config']);
  });
});

describe('without a saved state', () => {
  it('a deployment takes over what is equal, and sends nothing', async () => {
    const { workflowId } = await deploy();
    store = memoryWorkflowState();
    const before = writes();
    expect(await deploy()).toMatchObject({ workflowId, operations: [] });
    expect(writes()).toBe(before);
  });

  it('a deployment creates no second workflow beside one that differs', async () => {
    await deploy();
    store = memoryWorkflowState();
    step('wait').config = { duration: { amount: 5, unit: 'days' } };
    await expect(deploy()).rejects.toMatchObject({ code: 'WORKFLOW_CHANGED' });
    await deploy(onboarding, { overwrite: true });
    expect(step('wait').config).toEqual({ duration: { amount: 2, unit: 'days' } });
    expect(workflow().steps.size).toBe(7);
  });
});

describe('an answer that does not show the graph', () => {
  it('is not read as an empty one: nothing is created again', async () => {
    useService({ workflowGraph: 'nodes-edges' });
    await deploy();
    await expect(deploy(longer)).rejects.toMatchObject({ code: 'WORKFLOW_NOT_UNDERSTOOD' });
    expect([workflow().steps.size, workflow().transitions.size]).toEqual([7, 7]);
    const { id } = workflow();
    await expect(clientOf().workflows.pull(id)).rejects.toMatchObject({
      code: 'WORKFLOW_NOT_UNDERSTOOD',
    });
  });

  it('is read by a mapping', async () => {
    useService({ workflowGraph: 'nodes-edges' });
    const mapping = {
      readGraph: ({ nodes, edges }: Record<string, unknown>) => ({
        steps: nodes as { id: string }[],
        transitions: edges as { id: string }[],
      }),
    };
    await deploy(onboarding, { mapping });
    expect(await deploy(onboarding, { mapping })).toMatchObject({ operations: [] });
    const { definition } = await clientOf().workflows.pull(workflow().id, { mapping });
    expect(definition.fields).not.toHaveProperty('nodes');
  });
});

describe('a deployment that is aborted', () => {
  it('takes back what it did and enables the workflow, with limits of its own', async () => {
    await deploy();
    const controller = new AbortController();
    let count = 0;
    const client = clientOf((input, init) => {
      count += Number(init?.method === 'POST');
      if (count === 2) {
        controller.abort(new Error('stopped'));
      }
      return fake.fetch(input, init);
    });
    const call = inFakeTime(() =>
      client.workflows.deploy(
        longer,
        { state: store },
        { signal: controller.signal, timeout: 5_000 },
      ),
    );
    await expect(call).rejects.toThrow('stopped');
    expect(workflow().enabled).toBe(true);
    expect([workflow().steps.size, workflow().transitions.size]).toEqual([7, 7]);
    expect(await deploy()).toMatchObject({ drift: [], operations: [] });
  });
});

describe('a deployment that cannot be taken back', () => {
  it('tries each undo by itself, and says what remains and that the workflow is disabled', async () => {
    await deploy();
    fake.fail('POST /workflows/{id}/transitions', { status: 422, after: 1 });
    fake.fail('DELETE /workflows/{id}/transitions/{transitionId}', { status: 503 });
    const failure: unknown = await deploy(longer).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'DEPLOY_INCOMPLETE',
      outcome: 'unknown',
      details: { workflowId: workflow().id, enabled: false },
      message: expect.stringContaining('The workflow is disabled: deploy again') as string,
      cause: { status: 422 },
    });
    expect(isPostreelError(failure) && failure.message).toContain('these remain: transition');
    // The new step was taken back all the same.
    expect(workflow().steps.size).toBe(7);
    await deploy(longer);
    expect(workflow()).toMatchObject({ enabled: true });
    expect([workflow().steps.size, workflow().transitions.size]).toEqual([8, 8]);
  });
});

describe('a creation whose answer was lost', () => {
  it.each([2_500, 3_900])('is found when the service does it %i ms later', async (delayMs) => {
    await deploy();
    const late = { isDone: false };
    const client = clientOf((input, init) => {
      const isTransition = new Request(input).url.endsWith('/transitions');
      if (init?.method !== 'POST' || !isTransition || late.isDone) {
        return fake.fetch(input, init);
      }
      late.isDone = true;
      setTimeout(() => void fake.fetch(input, { ...init, signal: null }), delayMs);
      return Promise.reject(new TypeError('fetch failed'));
    });
    await inFakeTime(() => client.workflows.deploy(longer, { state: store }));
    expect(workflow().transitions.size).toBe(8);
  });

  it('stays pending, and is not taken for what a colleague created meanwhile', async () => {
    await deploy();
    const client = clientOf((input, init) => {
      if (init?.method === 'POST' && new Request(input).url.endsWith('/steps')) {
        const id = 'stp_theirs';
        workflow().steps.set(id, {
          id,
          type: 'SEND_EMAIL',
          name: 'theirs',
          config: { subject: 'X' },
        });
        return Promise.reject(new TypeError('fetch failed'));
      }
      return fake.fetch(input, init);
    });
    const call = inFakeTime(() => client.workflows.deploy(longer, { state: store }));
    await expect(call).rejects.toMatchObject({ name: 'ConnectionError' });
    expect(workflow().steps.get('stp_theirs')).toMatchObject({ name: 'theirs' });
    // It stays pending: a later run looks for it, too.
    const state = await store.read('onboarding');
    expect(state?.pending).toMatchObject({ kind: 'step', key: 'pause' });
    expect(Object.values(state?.steps ?? {}).map(({ id }) => id)).not.toContain('stp_theirs');
  });
});

it('says what changed last when a deployment does not converge', async () => {
  let count = 0;
  const mapping = {
    step: (key: string, { type }: { type: string }) => {
      count += 1;
      return { type: type as 'EXIT', name: key, config: { count } };
    },
  };
  await expect(deploy(onboarding, { mapping })).rejects.toMatchObject({
    code: 'DEPLOY_LOOP',
    message: expect.stringMatching(
      /^The deployment did not converge after 10 rounds. Last change: /,
    ) as string,
  });
});
