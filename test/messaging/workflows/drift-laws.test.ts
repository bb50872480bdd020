import {
  isPostreelError,
  memoryWorkflowState,
  MessagingClient,
  type WorkflowDefinition,
  type WorkflowStateStore,
} from 'postreel';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { inTime } from '../../support/media/fake-time.js';
import { applyChange, changes, lost, services, stored } from '../../support/messaging/colleague.js';
import { definitionOf, randomRuns } from '../../support/messaging/random-workflow.js';
import fc from '../../support/property.js';

/** `npm run model` tries 1 000 graphs. */
const graphs = Number(process.env['SIMULATED_GRAPHS'] ?? 4);

afterEach(() => {
  vi.useRealTimers();
});

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

const clientOf = (fake: FakeMessaging, fetch: Fetch = fake.fetch) =>
  new MessagingClient({
    apiKey: fake.secretKey,
    baseUrl: fake.baseUrl,
    fetch,
    rateLimit: false,
    retries: 0,
    validation: { requests: 'off', responses: 'off' },
  });

/** What goes wrong with the request of a deployment that has this number. */
const faults = fc.record({
  at: fc.integer({ min: 1, max: 45 }),
  kind: fc.constantFrom(
    'abort before',
    'abort after',
    'refused',
    'failed',
    'lost answer',
    'down from then on',
    'none',
  ),
});
type Fault = typeof faults extends fc.Arbitrary<infer Value> ? Value : never;

/** A deployment in which one request goes wrong; its error, if it has one. */
async function deployWith(
  fake: FakeMessaging,
  { at, kind }: Fault,
  run: (client: MessagingClient, signal: AbortSignal) => Promise<unknown>,
): Promise<unknown> {
  const controller = new AbortController();
  let count = 0;
  const fetch: Fetch = async (input, init) => {
    count += 1;
    const isDown = kind === 'down from then on' && count >= at;
    if (isDown) {
      throw new TypeError('fetch failed');
    }
    if (count !== at || kind === 'none') {
      return fake.fetch(input, init);
    }
    switch (kind) {
      case 'abort before':
        controller.abort(new Error('stopped'));
        return fake.fetch(input, init);
      case 'abort after':
        await fake.fetch(input, { ...init, signal: null });
        controller.abort(new Error('stopped'));
        throw new TypeError('aborted');
      case 'refused':
        return Response.json({ error: 'no' }, { status: 422 });
      case 'failed':
        return Response.json({ error: 'no' }, { status: 500 });
      default:
        await fake.fetch(input, init);
        throw new TypeError('fetch failed');
    }
  };
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const end = await inTime(
    run(clientOf(fake, fetch), controller.signal).then(
      () => undefined,
      (error: unknown) => error,
    ),
  );
  vi.useRealTimers();
  return end;
}

/** The live graph in terms of step names. */
function shapeOf(fake: FakeMessaging) {
  return [...fake.project.workflows.values()].map(({ name, enabled, steps, transitions }) => ({
    name,
    enabled,
    steps: [...steps.values()].map((step) => step.name).sort(),
    ways: [...transitions.values()]
      .map(({ fromStepId, toStepId, branch }) =>
        [steps.get(fromStepId)?.name, branch ?? 'next', steps.get(toStepId)?.name].join(' '),
      )
      .sort(),
  }));
}

function wantedShape({ name, steps }: WorkflowDefinition): ReturnType<typeof shapeOf> {
  const ways = Object.entries(steps).flatMap(([key, step]) =>
    ['next', 'yes', 'no'].flatMap((way) => {
      const target = (step as unknown as Record<string, string | undefined>)[way]; // or no way
      return target === undefined ? [] : [`${key} ${way} ${target}`];
    }),
  );
  return [{ name, enabled: true, steps: Object.keys(steps).sort(), ways: ways.sort() }];
}

const codeOf = (error: unknown) => (isPostreelError(error) ? error.code : undefined);

describe('a deployment over what a colleague has changed', () => {
  it('loses nothing of theirs unasked, says when it is off, and converges', async () => {
    const ends = { theirs: 0, incomplete: 0, converged: 0 };
    const world = fc.record({
      first: randomRuns(),
      second: fc.option(randomRuns(), { nil: undefined }),
      behavior: services,
      theirs: changes,
      fault: faults,
      overwrite: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(world, async ({ first, second, behavior, theirs, fault, overwrite }) => {
        const fake = createFakeMessaging({ behavior });
        const store: WorkflowStateStore = memoryWorkflowState();
        const old = definitionOf(first, 'random');
        const definition = { ...definitionOf(second ?? first, 'random'), name: 'random' };
        await clientOf(fake).workflows.deploy(old, { state: store });
        const before = stored(fake);
        for (const change of theirs) {
          applyChange(fake, change);
        }
        const theirParts = stored(fake);
        const [workflow] = fake.project.workflows.values();
        const wasOn = workflow?.enabled === true;

        const error = await deployWith(fake, fault, (client, signal) =>
          client.workflows.deploy(definition, { state: store, overwrite }, { signal }),
        );
        if (!overwrite) {
          expect(lost(before, theirParts, stored(fake))).toEqual([]);
        }
        if (error !== undefined && wasOn && !workflow.enabled) {
          expect(error).toMatchObject({ code: 'DEPLOY_INCOMPLETE' });
          expect(error).not.toMatchObject({ details: { enabled: true } });
        }
        if (error !== undefined && codeOf(error) !== 'DEPLOY_INCOMPLETE') {
          const isDone = fault.kind !== 'none' && shapeOf(fake)[0]?.enabled === true;
          expect([theirParts, isDone ? stored(fake) : theirParts]).toContainEqual(stored(fake));
        }

        const again = () => clientOf(fake).workflows.deploy(definition, { state: store });
        const next = await again().catch((failure: unknown) => failure);
        if (codeOf(next) === 'WORKFLOW_CHANGED') {
          expect(theirParts).not.toEqual(before);
          ends.theirs += 1;
          await clientOf(fake).workflows.deploy(definition, { state: store, overwrite: true });
        } else {
          expect(next).not.toBeInstanceOf(Error);
        }
        expect((await again()).operations).toEqual([]);
        expect(shapeOf(fake)).toEqual(wantedShape(definition));
        ends.converged += 1;
        ends.incomplete += Number(codeOf(error) === 'DEPLOY_INCOMPLETE');
      }),
      { numRuns: graphs },
    );
    // Each way out was tried.
    expect(Math.min(...Object.values(ends))).toBeGreaterThanOrEqual(graphs < 100 ? 0 : 1);
  }, 900_000);
});
