import { expect, it } from 'vitest';
import { planLifetimeMs, type PlanStore } from '../../src/agents/plans.js';
import { later, no, openPlanScene, videos, yes, type PlanScene } from '../support/agents/desk.js';
import fc from '../support/property.js';

// `AGENT_RUNS=10000 npx vitest …` is the long series.
const runs = Number(process.env['AGENT_RUNS'] ?? 200);

type Step =
  | {
      readonly kind: 'plan';
      readonly what: 'email' | 'video' | 'deletion';
      readonly isNew: boolean;
    }
  | {
      readonly kind: 'carry';
      readonly plan: number;
      readonly said: keyof typeof people;
      /** After so many turns of the microtask queue the client gives up. */
      readonly abortAfter: number | undefined;
    }
  | {
      readonly kind: 'page';
      readonly plan: number;
      readonly said: 'yes' | 'no';
      readonly seal: 'own' | 'other' | 'made up';
    }
  | { readonly kind: 'fault' }
  | { readonly kind: 'restart' }
  | { readonly kind: 'pass'; readonly minutes: number };

const people = { yes, no, later };

const index = fc.nat({ max: 5 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('plan'),
    what: fc.constantFrom('email', 'video', 'deletion'),
    isNew: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('carry'),
    plan: index,
    said: fc.constantFrom('yes', 'yes', 'no', 'later'),
    abortAfter: fc.option(fc.nat({ max: 80 }), { nil: undefined }),
  }),
  fc.record({
    kind: fc.constant('page'),
    plan: index,
    said: fc.constantFrom('yes', 'yes', 'no'),
    seal: fc.constantFrom('own', 'own', 'other', 'made up'),
  }),
  fc.record({ kind: fc.constant('fault') }),
  fc.record({ kind: fc.constant('restart') }),
  fc.record({ kind: fc.constant('pass'), minutes: fc.constantFrom(1, 9, 60) }),
); // as: oneof() widens the constants

it(
  `carries out exactly the approved plans, once, in ${runs} sequences`,
  { timeout: 3_000_000 },
  async () => {
    const scene = openPlanScene();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
        scene.messaging.reset();
        scene.media.reset();
        const run: Run = {
          scene,
          planStore: scene.restarted(),
          plans: [],
          approved: [],
          refused: [],
        };
        for (const each of steps) {
          await take(each, run);
        }
        // Each approved plan is carried out once or reported as failed, and nothing else happens.
        const told = await Promise.all(run.approved.map((plan) => endOf(plan, run)));
        expect(effectsOf(scene).sort()).toEqual(told.flat().sort());
      }),
      { numRuns: runs },
    );
  },
);

interface PlanMark {
  readonly id: string;
  readonly mark: string;
  readonly fingerprint: string;
  readonly planStore: PlanStore;
}

interface Run {
  readonly scene: PlanScene;
  planStore: PlanStore;
  readonly plans: PlanMark[];
  /** Plans that a person has said yes to, in time and to exactly that. */
  readonly approved: PlanMark[];
  readonly refused: PlanMark[];
}

let marks = 0;

async function take(step: Step, run: Run): Promise<void> {
  const { scene, plans } = run;
  switch (step.kind) {
    case 'pass':
      scene.pass(step.minutes === 60 ? planLifetimeMs : step.minutes * 60_000);
      return;
    case 'restart':
      run.planStore = scene.restarted();
      return;
    case 'fault':
      scene.messaging.fail('POST /v1/send', { loseAnswer: true });
      return;
    case 'plan':
      plans.push(await makePlan(step, run));
      return;
    default:
  }
  const plan = plans[step.plan];
  if (plan === undefined) {
    return;
  }
  if (step.kind === 'page') {
    const other = plans.find(({ id }) => id !== plan.id)?.fingerprint ?? '';
    const fingerprint = { own: plan.fingerprint, other, 'made up': 'a'.repeat(64) }[step.seal];
    decide(plan, fingerprint, step.said, run);
    return;
  }
  const controller = new AbortController();
  const { signal } = controller;
  const person = people[step.said];
  const call = run.planStore.carryOut(
    plan.id,
    (asked) => {
      if (person !== later) {
        decide(plan, asked.fingerprint, person === yes ? 'yes' : 'no', run);
      }
      return () => '';
    },
    { signal, report: () => undefined },
  );
  const ended = call.catch(() => undefined);
  if (step.abortAfter !== undefined || person === later) {
    await turns(step.abortAfter ?? 40);
    controller.abort();
  }
  await ended;
}

function decide(plan: PlanMark, fingerprint: string, said: 'yes' | 'no', run: Run): void {
  try {
    run.planStore.answer(plan.id, fingerprint, said);
  } catch {
    return; // refused, as it should be where the plan is gone, was decided, or the seal is wrong
  }
  (said === 'yes' ? run.approved : run.refused).push(plan);
  expect(fingerprint).toBe(plan.fingerprint);
}

/** Returns the effects of an approved plan, according to its result. */
async function endOf({ id, mark, planStore }: PlanMark, run: Run): Promise<string[]> {
  await planStore.waitUntilIdle();
  const progress = { signal: new AbortController().signal, report: () => undefined };
  const told = await planStore
    .carryOut(id, () => () => '', progress)
    .then(
      () => 'done',
      (error: unknown) => String(error),
    );
  if (told === 'done' || /may have (happened|taken effect)/.test(told)) {
    return [mark];
  }
  expect(told).toMatch(/has changed since|not found|404/i);
  expect(run.refused.map((plan) => plan.id)).not.toContain(id);
  return [];
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    await Promise.resolve();
  }
}

async function makePlan(
  { what, isNew }: Extract<Step, { kind: 'plan' }>,
  run: Run,
): Promise<PlanMark> {
  const { scene, planStore } = run;
  // An equal step again: its mark is the same.
  marks += isNew ? 1 : 0;
  const [tool, input, mark] = inputOf(what, scene);
  const answer = (await scene.planOn(planStore, tool, input)) as {
    plan: string;
    fingerprint: string;
  };
  return { id: answer.plan, fingerprint: answer.fingerprint, mark, planStore };
}

function inputOf(what: string, scene: PlanScene): readonly [string, object, string] {
  if (what === 'email') {
    const mark = `mail ${marks}`;
    const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: mark, body: 'Hi' };
    return ['plan_email', mail, mark];
  }
  if (what === 'video') {
    const mark = `video ${marks}`;
    return ['plan_videos', { payload: [{ ...videos.payload[0], prompt: mark }] }, mark];
  }
  marks += 1;
  const id = `contact_${marks}`;
  const at = '2026-03-01T12:00:00.000Z';
  const contact = {
    id,
    email: `${id}@example.com`,
    subscribed: true,
    data: {},
    createdAt: at,
    updatedAt: at,
  };
  scene.messaging.project.contacts.set(id, contact);
  return ['plan_contact_deletion', { ids: [id] }, `deleted ${id}`];
}

function effectsOf({ messaging, media }: PlanScene): string[] {
  const deletions = messaging.requests.filter(({ method }) => method === 'DELETE');
  return [
    ...messaging.outbox.map(({ subject }) => subject),
    ...media.files.map(({ settings }) => String(settings['prompt'])),
    ...deletions.map(({ path }) => `deleted ${path.split('/').at(-1) ?? ''}`),
  ];
}
