import {
  defineWorkflow,
  MessagingClient,
  type DeployOptions,
  type MessagingOptions,
  type WorkflowDefinition,
} from 'postreel';
import { createFakeMessaging, type FakeMessaging, type MessagingBehavior } from 'postreel/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { onboarding } from '../../support/messaging/onboarding.js';

let fake: FakeMessaging;
beforeEach(() => {
  fake = createFakeMessaging();
});

const clientOf = (options: MessagingOptions = {}) =>
  new MessagingClient({ ...fake.options, rateLimit: false, ...options });

const deploy = (definition: WorkflowDefinition, settings?: DeployOptions) =>
  clientOf().workflows.deploy(definition, settings);

/** The live workflows by name: whether each is on, and its transitions by the names of the steps. */
function live() {
  return [...fake.project.workflows.values()].map(({ name, enabled, steps, transitions }) => {
    const nameOf = (id: string) => steps.get(id)?.name ?? id;
    const ways = [...transitions.values()].map(({ fromStepId, toStepId, branch = 'next' }) =>
      [nameOf(fromStepId), branch, nameOf(toStepId)].join(' '),
    );
    return { name, enabled, ways: ways.sort() };
  });
}

const onNow = () => [...fake.project.workflows.values()].filter(({ enabled }) => enabled);

const calls = () =>
  fake.requests.map(({ method, path }) => `${method} ${path.replaceAll(/\w+_\d+/g, '{id}')}`);

const changes = () => calls().filter((call) => !call.startsWith('GET'));

const welcome = (subject: string, more: Partial<WorkflowDefinition> = {}) =>
  defineWorkflow<string>({
    name: 'Welcome',
    trigger: { event: 'signed_up' },
    steps: {
      hello: { type: 'SEND_EMAIL', subject, body: '<p>Hi</p>', next: 'done' },
      done: { type: 'EXIT' },
    },
    ...more,
  });

const marked = (name: string): unknown =>
  expect.stringMatching(new RegExp(`^${name} · [0-9a-f]{6}$`));

describe('a first deployment', () => {
  it('creates the whole graph, disabled, with the mark of the version in its name', async () => {
    const { workflowId, name, stepIds, operations } = await deploy(onboarding);
    expect(live()).toEqual([
      {
        name,
        enabled: false,
        ways: [
          'isPro no offer',
          'isPro yes mark',
          'mark next done',
          'offer next paid',
          'paid next mark',
          'wait next isPro',
          'welcome next wait',
        ],
      },
    ]);
    expect(name).toEqual(marked('Onboarding'));
    expect(fake.project.workflows.get(workflowId ?? '')?.triggerConfig).toEqual({
      eventName: 'signed_up',
    });
    expect(Object.keys(stepIds)).toEqual(Object.keys(onboarding.steps));
    expect(operations.map((operation) => operation.do)).toEqual([
      'create-workflow',
      ...Array.from({ length: 7 }, () => 'create-step'),
      ...Array.from({ length: 7 }, () => 'create-transition'),
    ]);
  });

  it('runs once it is enabled', async () => {
    await deploy(onboarding, { enable: true });
    await clientOf().track({ email: 'ann@example.com', event: 'signed_up' });
    await fake.advance('3d');
    expect(fake.outbox.map(({ to, subject }) => [to, subject])).toEqual([
      ['ann@example.com', 'Welcome'],
      ['ann@example.com', 'Go pro'],
    ]);
  });

  it('made twice changes nothing the second time', async () => {
    const first = await deploy(onboarding, { enable: true });
    const before = live();
    const count = changes().length;
    const second = await deploy(onboarding, { enable: true });
    expect(second).toMatchObject({ workflowId: first.workflowId, operations: [] });
    expect(second.stepIds).toEqual(first.stepIds);
    expect(live()).toEqual(before);
    expect(changes()).toHaveLength(count);
  });

  it('is enabled later by deploying it again', async () => {
    const { workflowId } = await deploy(onboarding);
    const { operations } = await deploy(onboarding, { enable: true });
    expect(operations).toEqual([{ do: 'enable-workflow', workflowId }]);
    expect(live()).toMatchObject([{ name: marked('Onboarding'), enabled: true }]);
  });

  it('sends further fields of the workflow, its steps and transitions unchanged', async () => {
    const definition = defineWorkflow({
      name: 'Welcome',
      trigger: { event: 'signed_up' },
      fields: { description: 'Ours', tags: ['new'] },
      steps: {
        hello: {
          type: 'SEND_EMAIL',
          subject: 'Hi',
          body: 'Hi',
          config: { trackOpens: true },
          fields: { color: 'red', position: { x: 7, y: 9 } },
          transitions: { next: { label: 'then' } },
          next: 'done',
        },
        done: { type: 'EXIT' },
      },
    });
    const { workflowId = '' } = await deploy(definition);
    const workflow = fake.project.workflows.get(workflowId);
    expect(workflow).toMatchObject({ description: 'Ours', tags: ['new'] });
    expect([...(workflow?.steps.values() ?? [])][0]).toMatchObject({
      color: 'red',
      position: { x: 7, y: 9 },
      config: { subject: 'Hi', trackOpens: true },
    });
    expect([...(workflow?.transitions.values() ?? [])]).toMatchObject([{ label: 'then' }]);
  });
});

describe('templates', () => {
  const withTemplate = (template: string) =>
    defineWorkflow({
      name: 'Welcome',
      trigger: { event: 'signed_up' },
      steps: {
        hello: { type: 'SEND_EMAIL', template, next: 'done' },
        done: { type: 'EXIT' },
      },
    });

  it.each([false, true])('must exist before anything is created, dryRun %s', async (dryRun) => {
    await expect(
      deploy(withTemplate('tpl_welcome'), { enable: true, dryRun }),
    ).rejects.toMatchObject({
      name: 'InvalidRequestError',
      outcome: 'not-sent',
      fieldErrors: [
        {
          field: 'steps.hello.template',
          message: 'must name a template of this project; there is no "tpl_welcome"',
        },
      ],
    });
    expect(changes()).toEqual([]);
  });

  it('are mailed with the fields of the contact', async () => {
    const messaging = clientOf();
    const { id } = await messaging.templates.create({
      name: 'Welcome',
      subject: 'Welcome {{name ?? "there"}}',
      body: '<p>{{plan}}</p>',
      type: 'TRANSACTIONAL',
    });
    await deploy(withTemplate(id), { enable: true });
    const event = 'signed_up';
    await messaging.track({ email: 'ann@example.com', event, data: { name: 'Ann', plan: 'pro' } });
    await messaging.track({ email: 'bea@example.com', event });
    expect(fake.outbox.map(({ to, subject, body }) => [to, subject, body])).toEqual([
      ['ann@example.com', 'Welcome Ann', '<p>pro</p>'],
      ['bea@example.com', 'Welcome there', '<p></p>'],
    ]);
  });
});

describe('a new version', () => {
  it('stays off next to the running version until it is enabled', async () => {
    const first = await deploy(welcome('One'), { enable: true });
    const second = await deploy(welcome('Two'));
    expect(second.workflowId).not.toBe(first.workflowId);
    expect(onNow().map(({ id }) => id)).toEqual([first.workflowId]);
    await deploy(welcome('Two'), { enable: true });
    expect(onNow().map(({ id }) => id)).toEqual([second.workflowId]);
  });

  it('is marked as switching, replaces the running version, and then gets its final mark', async () => {
    const first = await deploy(welcome('One'), { enable: true });
    const before = fake.requests.length;
    const { workflowId, name, replaced, gap, notes } = await deploy(welcome('Two'), {
      enable: true,
    });
    const patches = fake.requests.slice(before).filter(({ method }) => method === 'PATCH');
    expect(patches.map(({ path, body }) => [path.split('/').at(-1), body])).toEqual([
      [workflowId, { name: `${name} (switching)` }],
      [first.workflowId, { enabled: false }],
      [workflowId, { enabled: true }],
      [workflowId, { name }],
    ]);
    expect(replaced).toMatchObject([{ workflowId: first.workflowId, name: first.name }]);
    expect(gap).toEqual({ from: expect.any(Date) as Date, to: expect.any(Date) as Date });
    expect(notes).toEqual([expect.stringContaining('may enter this one again')]);
    await clientOf().track({ email: 'ann@example.com', event: 'signed_up' });
    expect(fake.outbox.map(({ subject }) => subject)).toEqual(['Two']);
  });

  it('is replaced by an old one if that is deployed again', async () => {
    const first = await deploy(welcome('One'), { enable: true });
    await deploy(welcome('Two'), { enable: true });
    const back = await deploy(welcome('One'), { enable: true });
    expect(back.workflowId).toBe(first.workflowId);
    expect(onNow().map(({ id }) => id)).toEqual([first.workflowId]);
    expect(fake.project.workflows.size).toBe(2);
  });

  it('is reported by a dry run, with the running executions, and nothing is changed', async () => {
    const slow = defineWorkflow({
      name: 'Welcome',
      trigger: { event: 'signed_up' },
      steps: {
        wait: { type: 'DELAY', amount: 2, unit: 'days', next: 'end' },
        end: { type: 'EXIT' },
      },
    });
    const first = await deploy(slow, { enable: true });
    for (const email of ['ann@example.com', 'bea@example.com']) {
      await clientOf().track({ email, event: 'signed_up' });
    }
    const count = changes().length;
    const plan = await deploy(welcome('Two'), { enable: true, dryRun: true });
    expect(plan).toMatchObject({
      workflowId: undefined,
      name: marked('Welcome'),
      replaced: [{ workflowId: first.workflowId, activeExecutions: 2 }],
      notes: [expect.stringContaining('may enter this one again')],
    });
    expect(plan.operations.map((operation) => operation.do)).toEqual([
      'create-workflow',
      'create-step',
      'create-step',
      'create-transition',
      'disable-workflow',
      'enable-workflow',
    ]);
    expect(changes()).toHaveLength(count);
  });
});

describe('a workflow that was not deployed from a definition', () => {
  const foreign = async (eventName = 'signed_up') => {
    const { id } = await clientOf().workflows.create({ name: 'Welcome', eventName });
    await clientOf().workflows.update(id, { enabled: true });
    return id;
  };

  it('is not changed', async () => {
    const id = await foreign();
    const count = changes().length;
    await expect(deploy(welcome('One'), { enable: true })).rejects.toMatchObject({
      code: 'WORKFLOW_EXISTS',
      outcome: 'not-sent',
      message: expect.stringContaining(`{ replaces: '${id}' }`) as string,
    });
    expect(changes()).toHaveLength(count);
  });

  it('is replaced if `replaces` names it, and does not stop later deployments', async () => {
    const replaces = await foreign();
    const { workflowId, replaced } = await deploy(welcome('One'), { enable: true, replaces });
    expect(replaced).toMatchObject([{ workflowId: replaces, name: 'Welcome' }]);
    expect(onNow().map(({ id }) => id)).toEqual([workflowId]);
    expect((await deploy(welcome('One'), { enable: true })).operations).toEqual([]);
  });

  it('stops a deployment if somebody enables it again: contacts would be mailed twice', async () => {
    const replaces = await foreign();
    await deploy(welcome('One'), { enable: true, replaces });
    await clientOf().workflows.update(replaces, { enabled: true });
    await expect(deploy(welcome('Two'))).rejects.toMatchObject({ code: 'WORKFLOW_EXISTS' });
  });

  it('does not count if it starts with another event', async () => {
    await foreign('other');
    await deploy(welcome('One'), { enable: true });
    expect(fake.project.workflows.size).toBe(2);
  });

  it('must exist to be replaced', async () => {
    await expect(deploy(welcome('One'), { replaces: 'wfl_9' })).rejects.toMatchObject({
      status: 404,
    });
    expect(changes()).toEqual([]);
  });
});

describe('the change of a colleague', () => {
  it('in the running version stays if that version is deployed again', async () => {
    const { workflowId = '', stepIds } = await deploy(welcome('One'), { enable: true });
    const config = { subject: 'Edited', body: 'Hi' };
    await clientOf().workflows.steps.update(workflowId, stepIds['hello'] ?? '', { config });
    await deploy(welcome('One'), { enable: true, prune: true });
    const [step] = fake.project.workflows.get(workflowId)?.steps.values() ?? [];
    expect(step?.config).toEqual(config);
  });

  const edits: [string, (id: string, stepIds: Readonly<Record<string, string>>) => unknown][] = [
    [
      'a step',
      (id, { hello = '' }) =>
        clientOf().workflows.steps.update(id, hello, { config: { subject: 'Edited', body: 'Hi' } }),
    ],
    [
      'the name of a step',
      (id, { hello = '' }) => clientOf().workflows.steps.update(id, hello, { name: 'Hey' }),
    ],
    [
      'a setting of a step',
      (id, { hello = '' }) =>
        clientOf().workflows.steps.update(id, hello, {
          config: { subject: 'One', body: '<p>Hi</p>', from: 'me@example.com' },
        }),
    ],
    [
      'a field of a step beside its config',
      (id, { hello = '' }) => clientOf().workflows.steps.update(id, hello, { templateId: 'tpl_1' }),
    ],
    ['one step more', (id) => clientOf().workflows.steps.create(id, { type: 'EXIT', name: 'end' })],
    ['one step less', (id, { done = '' }) => clientOf().workflows.steps.delete(id, done)],
    ['its event', (id) => clientOf().workflows.update(id, { eventName: 'other' })],
    ['who may enter again', (id) => clientOf().workflows.update(id, { allowReentry: true })],
  ];

  it.each(edits)('is not pruned: %s', async (_, edit) => {
    const { workflowId = '', stepIds } = await deploy(welcome('One'), { enable: true });
    await edit(workflowId, stepIds);
    const { kept } = await deploy(welcome('Two'), { enable: true, prune: true });
    expect(kept).toMatchObject([
      { workflowId, reason: expect.stringContaining('changed since it was deployed') as string },
    ]);
    expect(fake.project.workflows.has(workflowId)).toBe(true);
  });
});

describe('prune', () => {
  it('deletes the disabled versions that are unchanged since their deployment', async () => {
    await deploy(onboardingOf('a'), { enable: true });
    await deploy(onboardingOf('b'), { enable: true });
    const { workflowId, operations, kept } = await deploy(onboardingOf('c'), {
      enable: true,
      prune: true,
    });
    expect(operations.filter((operation) => operation.do === 'delete-workflow')).toHaveLength(2);
    expect(kept).toEqual([]);
    expect([...fake.project.workflows.keys()]).toEqual([workflowId]);
  });

  it('keeps a version with active executions, and one that is on', async () => {
    const first = await deploy(onboarding, { enable: true });
    await clientOf().track({ email: 'ann@example.com', event: 'signed_up' });
    const { kept } = await deploy(onboardingOf('b'), { prune: true });
    expect(kept).toMatchObject([{ workflowId: first.workflowId, reason: 'It is on.' }]);
    const after = await deploy(onboardingOf('b'), { enable: true, prune: true });
    expect(after.kept).toMatchObject([{ reason: 'It has 1 active execution.' }]);
    await fake.advance('30d');
    await deploy(onboardingOf('b'), { enable: true, prune: true });
    expect(fake.project.workflows.size).toBe(1);
  });

  it('reports in a dry run what it would delete', async () => {
    const { workflowId } = await deploy(welcome('One'), { enable: true });
    const settings = { enable: true, prune: true, dryRun: true };
    const { operations } = await deploy(welcome('Two'), settings);
    expect(operations.at(-1)).toEqual({ do: 'delete-workflow', workflowId });
    expect(fake.project.workflows.size).toBe(1);
  });
});

function onboardingOf(subject: string): WorkflowDefinition {
  const hello = { type: 'SEND_EMAIL', subject, body: '<p>Hi</p>', next: 'wait' } as const;
  return { ...onboarding, steps: { ...onboarding.steps, welcome: hello } };
}

describe('a service', () => {
  const shapes: Partial<MessagingBehavior>[] = [
    { workflowStart: 'trigger-step' },
    { stepConnection: 'automatic' },
    { workflowStart: 'trigger-step', stepConnection: 'automatic' },
    { transitionsIn: 'steps' },
    { branchIn: 'condition' },
    { enabledOnCreate: 'honoured' },
    { created: 200 },
    { ids: 'uuid' },
    { unset: 'null' },
    { unset: 'empty' },
    { acknowledgements: 'no-content' },
    { envelopes: 'always' },
    { listStyle: 'array' },
    {
      workflowStart: 'trigger-step',
      stepConnection: 'automatic',
      transitionsIn: 'steps',
      branchIn: 'condition',
      enabledOnCreate: 'honoured',
    },
  ];

  it.each(shapes)(
    'that responds as in %j gets the workflow deployed, switched and pruned',
    async (behavior) => {
      fake = createFakeMessaging({ behavior });
      await deploy(onboarding, { enable: true });
      await deploy(onboardingOf('New'), { enable: true, prune: true });
      expect((await deploy(onboardingOf('New'), { enable: true })).operations).toEqual([]);
      expect(live()).toMatchObject([{ name: marked('Onboarding'), enabled: true }]);
      await clientOf().track({ email: 'ann@example.com', event: 'signed_up' });
      await fake.advance('3d');
      expect(fake.outbox.map(({ subject }) => subject)).toEqual(['New', 'Go pro']);
    },
  );
});

it('reports the gap of a switch in real times', async () => {
  await deploy({ ...onboarding, allowReentry: true }, { enable: true });
  const before = Date.now();
  const { gap } = await deploy(onboarding, { enable: true });
  const times = [before, gap?.from.getTime() ?? 0, gap?.to.getTime() ?? 0, Date.now()];
  expect(times).toEqual([...times].sort((a, b) => a - b));
});
