import fc from 'fast-check';
import { MessagingClient, where } from 'postreel';
import { defineWorkflow, memoryWorkflowState, simulate } from 'postreel/workflows';
import { createClock, createFakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { onboarding } from '../../support/messaging/onboarding.js';
import {
  definitionOf,
  randomRun,
  type RandomRun,
} from '../../support/messaging/random-workflow.js';

const start = new Date('2026-01-01T00:00:00.000Z');
const days = 30;
const graphs = Number(process.env['SIMULATED_GRAPHS'] ?? 300);

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

  it(`agrees with the fake on ${graphs} random graphs`, async () => {
    await fc.assert(fc.asyncProperty(randomRun, agree), { numRuns: graphs });
  }, 600_000);
});

async function agree(run: RandomRun): Promise<void> {
  const fake = createFakeMessaging({ clock: createClock({ start }) });
  const client = new MessagingClient({
    apiKey: fake.secretKey,
    baseUrl: fake.baseUrl,
    fetch: fake.fetch,
    rateLimit: false,
    validation: { requests: 'off', responses: 'off' },
  });
  const definition = definitionOf(run, 'random');
  const email = 'ann@example.com';
  const events = run.paidAfter.map((minutes) => ({
    email,
    event: 'paid',
    after: { amount: minutes, unit: 'minutes' } as const,
  }));
  const expected = simulate(definition, [{ email, data: run.data }], { days, start, events });

  await client.contacts.create({ email, data: run.data });
  await client.workflows.deploy(definition, { state: memoryWorkflowState() });
  await client.track({ email, event: 'start_random' });
  let nowMinutes = 0;
  for (const minutes of run.paidAfter) {
    await fake.advance((minutes - nowMinutes) * 60_000);
    nowMinutes = minutes;
    await client.track({ email, event: 'paid' });
  }
  await fake.advance(Math.max(0, days * 24 * 60 - nowMinutes) * 60_000);
  const end = start.getTime() + days * 86_400_000;
  const sent = fake.outbox
    .map(({ subject, sentAt }) => [subject, Date.parse(sentAt)] as const)
    .filter(([, at]) => at <= end);
  expect(sent).toEqual(expected.emails.map(({ subject, at }) => [subject, at.getTime()]));
}
