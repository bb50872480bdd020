import { memoryWorkflowState, MessagingClient } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { expect, it } from 'vitest';
import { definitionOf, randomRuns } from '../../support/messaging/random-workflow.js';
import { stored } from '../../support/messaging/colleague.js';
import fc from '../../support/property.js';

/** `npm run model` tries 1 000 graphs. */
const graphs = Number(process.env['SIMULATED_GRAPHS'] ?? 15);

const names = fc.constantFrom('replyTo', 'cc', 'headers', 'timeoutMs', 'position', '__proto__');
const unknownFields = fc.dictionary(names, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });

const clientOf = (fake: ReturnType<typeof createFakeMessaging>) =>
  new MessagingClient({
    apiKey: fake.secretKey,
    baseUrl: fake.baseUrl,
    fetch: fake.fetch,
    rateLimit: false,
    validation: { requests: 'off', responses: 'off' },
  });

it('pull() keeps what no mapping knows, and its definition deploys to nothing', async () => {
  const world = fc.record({
    run: randomRuns(),
    unknown: fc.array(unknownFields, { minLength: 12, maxLength: 12 }),
  });
  await fc.assert(
    fc.asyncProperty(world, async ({ run, unknown }) => {
      const fake = createFakeMessaging();
      const { workflows } = clientOf(fake);
      await workflows.deploy(definitionOf(run, 'random'), { state: memoryWorkflowState() });
      const [workflow] = fake.project.workflows.values();
      if (workflow === undefined) {
        throw new Error('there is no workflow');
      }
      const more = (index: number) => Object.entries(unknown[index % unknown.length] ?? {});
      const put = (target: object, index: number) => {
        for (const [name, value] of more(index)) {
          Object.defineProperty(target, name, {
            value,
            enumerable: true,
            configurable: true,
            writable: true,
          });
        }
      };
      put(workflow, 0);
      [...workflow.steps.values()].forEach((step, index) => {
        put(step, index + 1);
        put(step.config, index + 2);
      });
      [...workflow.transitions.values()].forEach((way, index) => put(way, index + 3));
      const before = stored(fake);

      const { definition, state } = await workflows.pull(workflow.id);
      const store = memoryWorkflowState();
      await store.write(definition.key, state);
      expect(await workflows.deploy(definition, { state: store })).toMatchObject({
        operations: [],
        drift: [],
      });
      // The same without a state: it is equal.
      const fresh = { state: memoryWorkflowState() };
      expect(await workflows.deploy(definition, fresh)).toMatchObject({ operations: [] });
      expect(stored(fake)).toEqual(before);
    }),
    { numRuns: graphs },
  );
}, 900_000);

it('pull() keeps a sender address and headers through the next deployment', async () => {
  const fake = createFakeMessaging();
  const { workflows } = clientOf(fake);
  const { id } = await workflows.create({ name: 'Hooks', eventName: 'signed_up' });
  const mail = await workflows.steps.create(id, {
    type: 'SEND_EMAIL',
    name: 'mail',
    config: {
      subject: 'Hi',
      body: '<p>Hi</p>',
      replyTo: 'help@example.com',
      cc: ['a@example.com'],
    },
    position: { x: 1 },
  });
  const wait = await workflows.steps.create(id, {
    type: 'DELAY',
    name: 'wait',
    config: { duration: '1h' },
  });
  const hook = await workflows.steps.create(id, {
    type: 'WEBHOOK',
    name: 'hook',
    config: { url: 'https://example.com', headers: { 'X-Key': '1' }, timeout: 5 },
  });
  const end = await workflows.steps.create(id, { type: 'EXIT', name: 'end' });
  for (const [from, to] of [
    [mail, wait],
    [wait, hook],
    [hook, end],
  ] as const) {
    await workflows.transitions.create(id, { fromStepId: from.id, toStepId: to.id, label: 'L' });
  }
  const { definition, state } = await workflows.pull(id);
  const store = memoryWorkflowState();
  await store.write(definition.key, state);
  const { steps } = definition;
  const changed = {
    ...definition,
    steps: { ...steps, mail: { ...steps['mail'], subject: 'Hello' } },
  };
  await workflows.deploy(changed as typeof definition, { state: store });
  const [live] = fake.project.workflows.values();
  expect(live?.steps.get(mail.id)).toMatchObject({
    position: { x: 1 },
    config: { subject: 'Hello', replyTo: 'help@example.com', cc: ['a@example.com'] },
  });
  expect(live?.steps.get(wait.id)?.config).toEqual({ duration: '1h' });
  expect(live?.steps.get(hook.id)?.config).toMatchObject({ headers: { 'X-Key': '1' }, timeout: 5 });
  expect([...(live?.transitions.values() ?? [])].map(({ label }) => label)).toEqual([
    'L',
    'L',
    'L',
  ]);
});

it('pull() takes along what no mapping knows: another project gets it too', async () => {
  const here = createFakeMessaging();
  const { workflows } = clientOf(here);
  const { id } = await workflows.create({ name: 'Hooks', eventName: 'signed_up', color: 'red' });
  const config = { url: 'https://example.com', headers: { 'X-Key': '1' } };
  const hook = await workflows.steps.create(id, {
    type: 'WEBHOOK',
    name: 'hook',
    config,
    position: { x: 1 },
  });
  const end = await workflows.steps.create(id, { type: 'EXIT', name: 'end', position: { x: 2 } });
  const ends = { fromStepId: hook.id, toStepId: end.id };
  await workflows.transitions.create(id, { ...ends, label: 'L' });
  const { definition } = await workflows.pull(id);

  const there = createFakeMessaging();
  const state = memoryWorkflowState();
  await clientOf(there).workflows.deploy(definition, { state });
  const [copy] = there.project.workflows.values();
  expect([...(copy?.steps.values() ?? [])]).toMatchObject([
    { name: 'hook', config, position: { x: 1 } },
    { name: 'end', position: { x: 2 } },
  ]);
  expect([...(copy?.transitions.values() ?? [])]).toMatchObject([{ label: 'L' }]);
  expect(copy).toMatchObject({ name: 'Hooks', color: 'red' });
});

it('pull() refuses a graph that no definition describes', async () => {
  const fake = createFakeMessaging();
  const { workflows } = clientOf(fake);
  const { id } = await workflows.create({ name: 'Fork', eventName: 'signed_up' });
  const wait = await workflows.steps.create(id, { type: 'DELAY', config: { duration: '1h' } });
  const end = await workflows.steps.create(id, { type: 'EXIT' });
  const other = await workflows.steps.create(id, { type: 'EXIT' });
  for (const to of [end, other]) {
    await workflows.transitions.create(id, { fromStepId: wait.id, toStepId: to.id });
  }
  await expect(workflows.pull(id)).rejects.toMatchObject({ code: 'WORKFLOW_NOT_UNDERSTOOD' });
});
