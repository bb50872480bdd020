import { expect, it } from 'vitest';
import type { Approver } from '../../../src/cli/mcp/approval.js';
import { planLifetimeMs } from '../../../src/cli/mcp/plans.js';
import { no, openDesk, videos, yes, type DeskScene } from '../../support/cli/desk.js';
import fc from '../../support/property.js';

// `AGENT_RUNS=10000 npx vitest …` is the long series.
const runs = Number(process.env['AGENT_RUNS'] ?? 150);

type Step =
  | { readonly kind: 'plan'; readonly what: 'email' | 'video' | 'deletion' }
  | {
      readonly kind: 'carry';
      readonly plan: number;
      readonly said: keyof typeof answers;
      readonly by: 'its own client' | 'another client';
      /** After so many turns of the microtask queue the call is aborted. */
      readonly abortAfter: number | undefined;
    }
  | { readonly kind: 'page'; readonly plan: number; readonly seal: 'own' | 'other' | 'made up' }
  | { readonly kind: 'pass'; readonly minutes: number };

const answers = {
  yes: () => yes,
  no: () => no,
  later: (): Approver => ({ ask: () => Promise.resolve('later') }),
  slow: (scene: DeskScene): Approver => ({
    ask: () => {
      scene.pass(planLifetimeMs);
      return Promise.resolve('yes');
    },
  }),
  failing: (): Approver => ({ ask: () => Promise.reject(new Error('The client left.')) }),
  twice: () => yes,
};

const index = fc.nat({ max: 5 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('plan'), what: fc.constantFrom('email', 'video', 'deletion') }),
  fc.record({
    kind: fc.constant('carry'),
    plan: index,
    said: fc.constantFrom(...(Object.keys(answers) as (keyof typeof answers)[])), // as: its own keys
    by: fc.constantFrom('its own client', 'its own client', 'its own client', 'another client'),
    abortAfter: fc.option(fc.nat({ max: 80 }), { nil: undefined }),
  }),
  fc.record({
    kind: fc.constant('page'),
    plan: index,
    seal: fc.constantFrom('own', 'other', 'made up'),
  }),
  fc.record({ kind: fc.constant('pass'), minutes: fc.constantFrom(1, 9, 10) }),
); // as: oneof() widens the constants

it(
  `holds exactly what was said yes to, once, in ${runs} sequences`,
  { timeout: 1_200_000 },
  async () => {
    const scene = openDesk();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
        scene.messaging.reset();
        scene.media.reset();
        scene.pass(planLifetimeMs);
        const wanted = new Set<string>();
        const open = new Set<string>();
        const plans: { id: string; mark: string }[] = [];
        for (const each of steps) {
          await take(each, scene, plans, { wanted, open });
        }
        const made = effectsOf(scene);
        const certain = made.filter((mark) => !open.has(mark) || wanted.has(mark));
        expect(certain.sort()).toEqual([...wanted].sort());
        expect(new Set(made).size).toBe(made.length);
      }),
      { numRuns: runs },
    );
  },
);

let marks = 0;

interface Marks {
  readonly wanted: Set<string>;
  /** Aborted after a yes: may have happened, once. */
  readonly open: Set<string>;
}

async function take(
  step: Step,
  scene: DeskScene,
  plans: { id: string; mark: string }[],
  { wanted, open }: Marks,
): Promise<void> {
  if (step.kind === 'pass') {
    scene.pass(step.minutes * 60_000);
    return;
  }
  if (step.kind === 'plan') {
    plans.push(await makePlan(step.what, scene));
    return;
  }
  const plan = plans[step.plan] ?? { id: 'made up', mark: '' };
  if (step.kind === 'page') {
    sayOnPage(step.seal, plan.id, plans, scene);
    return;
  }
  const controller = new AbortController();
  const { signal } = controller;
  const desk = step.by === 'its own client' ? scene.desk : scene.other;
  const carry = () =>
    desk.carryOut(plan.id, answers[step.said](scene), { signal, report: () => undefined });
  if (step.abortAfter === 0) {
    controller.abort();
  } else if (step.abortAfter !== undefined) {
    void turns(step.abortAfter).then(() => controller.abort());
  }
  const ends = await Promise.allSettled(step.said === 'twice' ? [carry(), carry()] : [carry()]);
  if (ends.some(({ status }) => status === 'fulfilled')) {
    expect(wanted.has(plan.mark) || step.by === 'another client').toBe(false);
    wanted.add(plan.mark);
  } else if (step.abortAfter !== undefined && step.by === 'its own client') {
    open.add(plan.mark);
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    await Promise.resolve();
  }
}

async function makePlan(what: string, scene: DeskScene): Promise<{ id: string; mark: string }> {
  marks += 1;
  if (what === 'email') {
    const mark = `mail ${marks}`;
    const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: mark, body: 'Hi' };
    const id = await scene.plan('plan_email', mail);
    mail.subject = `altered ${marks}`; // of no effect: the plan has a copy
    return { id, mark };
  }
  if (what === 'video') {
    const mark = `video ${marks}`;
    const payload = [{ ...videos.payload[0], prompt: mark }];
    return { id: await scene.plan('plan_videos', { payload }), mark };
  }
  const id = `contact_${marks}`;
  const email = `contact${marks}@example.com`;
  const at = '2026-03-01T12:00:00.000Z';
  const contact = { id, email, subscribed: true, data: {}, createdAt: at, updatedAt: at };
  scene.messaging.project.contacts.set(id, contact);
  return { id: await scene.plan('plan_contact_deletion', { ids: [id] }), mark: `deleted ${id}` };
}

function sayOnPage(seal: string, id: string, plans: { id: string }[], scene: DeskScene): void {
  const { plans: known } = scene.desk;
  const other = plans.find((plan) => plan.id !== id);
  try {
    const fingerprint =
      seal === 'made up'
        ? '0123456789abcdef'
        : known.get(seal === 'own' ? id : (other?.id ?? '')).fingerprint;
    known.approve(id, fingerprint);
  } catch {
    // Refused, as it should be where the plan is gone or the seal is wrong.
  }
}

function effectsOf({ messaging, media }: DeskScene): string[] {
  const deletions = messaging.requests.filter(({ method }) => method === 'DELETE');
  return [
    ...messaging.outbox.map(({ subject }) => subject),
    ...media.files.map(({ settings }) => String(settings['prompt'])),
    ...deletions.map(({ path }) => `deleted ${path.split('/').at(-1) ?? ''}`),
  ];
}
