import {
  defineWorkflow,
  memoryWorkflowState,
  MessagingClient,
  simulate,
  where,
  type MessagingOptions,
  type Simulation,
} from 'postreel';
import { createClock, createFakeMessaging, type MessagingBehavior } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { onboarding } from '../../support/messaging/onboarding.js';
import { readGroups } from '../../support/messaging/other-shapes.js';
import {
  definitionOf,
  randomRuns,
  tellingRun,
  type RandomRun,
} from '../../support/messaging/random-workflow.js';
import fc from '../../support/property.js';

const start = new Date('2026-01-01T00:00:00.000Z');
const days = 30;
const graphs = Number(process.env['SIMULATED_GRAPHS'] ?? 100);

describe('simulate()', () => {
  it('says who gets which email when', () => {
    const contacts = [
      { email: 'ann@example.com', data: { plan: 'pro' } },
      { email: 'bea@example.com', data: { plan: 'free' } },
    ];
    const { emails, runs } = simulate(onboarding, contacts, { days: 30, start });
    expect(emails.map(({ email, at, subject }) => [email, at.toISOString(), subject])).toEqual([
      ['ann@example.com', '2026-01-01T00:00:00.000Z', 'Welcome'],
      ['bea@example.com', '2026-01-01T00:00:00.000Z', 'Welcome'],
      ['bea@example.com', '2026-01-03T00:00:00.000Z', 'Go pro'],
    ]);
    expect(runs.map(({ status }) => status)).toEqual(['completed', 'completed']);
    expect(runs[0]?.steps).toEqual(['welcome', 'wait', 'isPro', 'mark', 'done']);
  });

  it('names its assumptions', () => {
    const { assumptions } = simulate(onboarding, [{ email: 'bea@example.com' }], { days, start });
    expect(assumptions).toEqual([
      'every contact enters once, at the start',
      'emails go to every contact, subscribed or not',
      'after a timeout the workflow goes on with the next step',
    ]);
  });

  it('lets an event end a wait, with its fields for later conditions', () => {
    const definition = defineWorkflow({
      key: 'paid',
      name: 'Paid',
      trigger: { event: 'signed_up' },
      steps: {
        paid: { type: 'WAIT_FOR_EVENT', event: 'paid', next: 'large' },
        large: {
          type: 'CONDITION',
          if: where('data.x').operator('equals', 1),
          yes: 'end',
          no: 'amount',
        },
        amount: {
          type: 'CONDITION',
          if: { field: 'event.amount', operator: 'greaterThan', value: 10 },
          yes: 'thanks',
          no: 'end',
        },
        thanks: { type: 'SEND_EMAIL', template: 'tpl_thanks', next: 'end' },
        end: { type: 'EXIT' },
      },
    });
    const contact = { email: 'ann@example.com' };
    const paid = {
      email: contact.email,
      event: 'paid',
      after: { amount: 2, unit: 'days' },
    } as const;
    const run = (amount: number) =>
      simulate(definition, [contact], { days, start, events: [{ ...paid, data: { amount } }] });
    expect(run(11).emails).toMatchObject([{ template: 'tpl_thanks' }]);
    expect(run(9).emails).toEqual([]);
    const without = simulate(definition, [contact], { days, start });
    expect(without.runs).toMatchObject([{ status: 'waiting', steps: ['paid'] }]);
  });

  it('takes an assumption the other way when it is known to be wrong', () => {
    const contacts = [{ email: 'bea@example.com', subscribed: false }];
    const wrong = ['emails go to every contact, subscribed or not'];
    expect(simulate(onboarding, contacts, { days, start, wrong }).emails).toEqual([]);
  });

  it('says that nothing known explains what was observed', () => {
    const observed = [{ email: 'eve@example.com', at: start }];
    const { agrees, failed } = simulate(onboarding, [], { days, start, observed });
    expect({ agrees, failed }).toEqual({ agrees: false, failed: [] });
  });
});

describe(`simulate() against the fake on ${graphs} random graphs`, () => {
  it('agrees in the world of the document', async () => {
    await fc.assert(
      fc.asyncProperty(randomRuns(), async (run) => {
        const { agrees } = await compare(run, {});
        expect(agrees).toBe(true);
      }),
      { numRuns: graphs },
    );
  }, 900_000);

  it.each([
    [{ workflowEmails: 'subscribed' }, /emails go to every contact/],
    [{ waitTimeout: 'end' }, /after a timeout/],
    [{ eventFields: 'none' }, /fields of the last event/],
    [{ filterBooleans: 'boolean' }, /a boolean field equals/],
    [{ filterGroups: 'all-any' }, /several filters are joined as "(and|or)"/],
  ] as const)(
    'names the assumption that fails in the world of %o',
    async (world, assumption) => {
      let differing = 0;
      await fc.assert(
        fc.asyncProperty(randomRuns(), async (run) => {
          const { agrees, failed } = await compare(run, world);
          if (!agrees) {
            differing += 1;
            const named = failed.some((set) => set.every((one) => assumption.test(one)));
            expect(named, JSON.stringify(failed)).toBe(true);
          }
        }),
        { numRuns: Math.ceil(graphs / 5), examples: [[tellingRun]] },
      );
      expect(differing).toBeGreaterThan(0);
    },
    900_000,
  );
});

/** Runs a graph in a world of the fake, and simulates it with what was observed. */
async function compare(
  run: RandomRun,
  behavior: Partial<MessagingBehavior>,
  options: MessagingOptions = {},
): Promise<Simulation> {
  const fake = createFakeMessaging({ clock: createClock({ start }), behavior });
  const client = new MessagingClient({
    apiKey: fake.secretKey,
    baseUrl: fake.baseUrl,
    fetch: fake.fetch,
    rateLimit: false,
    validation: { requests: 'off', responses: 'off' },
    ...options,
  });
  const definition = definitionOf(run, 'random');
  const email = 'ann@example.com';
  const { data, subscribed } = run;
  await client.contacts.create({ email, data, subscribed });
  await client.workflows.deploy(definition, { state: memoryWorkflowState() });
  await client.track({ email, event: 'start_random' });
  let nowMinutes = 0;
  for (const minutes of run.paidAfter) {
    await fake.advance((minutes - nowMinutes) * 60_000);
    nowMinutes = minutes;
    await client.track({ email, event: 'paid', data: paidData(minutes) });
  }
  await fake.advance(Math.max(0, days * 24 * 60 - nowMinutes) * 60_000);
  return simulate(definition, [{ email, data, subscribed }], {
    days,
    start,
    readGroup: readGroups,
    events: run.paidAfter.map((amount) => ({
      email,
      event: 'paid',
      after: { amount, unit: 'minutes' },
      data: paidData(amount),
    })),
    observed: fake.outbox.map(({ to, subject, sentAt }) => ({ email: to, subject, at: sentAt })),
  });
}

const paidData = (minutes: number) => ({ amount: minutes % 10 });
