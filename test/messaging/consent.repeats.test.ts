import type { MessagingClient } from 'postreel';
import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { inTime, useFakeTime } from '../support/media/fake-time.js';

type Call = (client: MessagingClient) => PromiseLike<unknown>;

const email = 'ann@example.com';
const contactIds = ['con_1'];

// While an answer is lost the contact may unsubscribe: a repeat would undo it.
const grants: readonly [string, Call][] = [
  ['create()', ({ contacts }) => contacts.create({ email })],
  ['create({ subscribed: true })', ({ contacts }) => contacts.create({ email, subscribed: true })],
  [
    'update({ subscribed: true })',
    ({ contacts }) => contacts.update('con_1', { subscribed: true }),
  ],
  ['subscribe()', ({ contacts }) => contacts.subscribe('con_1')],
  ['bulkSubscribe()', ({ contacts }) => contacts.bulkSubscribe({ contactIds })],
];
const others: readonly [string, Call][] = [
  [
    'create({ subscribed: false })',
    ({ contacts }) => contacts.create({ email, subscribed: false }),
  ],
  [
    'update({ subscribed: false })',
    ({ contacts }) => contacts.update('con_1', { subscribed: false }),
  ],
  ['update({ data })', ({ contacts }) => contacts.update('con_1', { data: { plan: 'pro' } })],
  ['unsubscribe()', ({ contacts }) => contacts.unsubscribe('con_1')],
  ['bulkUnsubscribe()', ({ contacts }) => contacts.bulkUnsubscribe({ contactIds })],
];
// What was made while an answer was lost would be gone too.
const actOnAll: readonly [string, Call][] = [
  ['events.delete()', ({ events }) => events.delete('page_viewed')],
  ['executions.cancelAll()', ({ workflows }) => workflows.executions.cancelAll('wf_1')],
  ['fields.delete()', ({ contacts }) => contacts.fields.delete('plan')],
];

useFakeTime();

describe('after a lost answer', () => {
  it.each(grants)('%s is not sent again: it grants consent', async (_, call) => {
    expect(await attemptsOf(call)).toBe(1);
  });

  it.each(others)('%s is sent again: it grants no consent', async (_, call) => {
    expect(await attemptsOf(call)).toBe(2);
  });

  it.each(actOnAll)('%s is not sent again: it acts on all there are', async (_, call) => {
    expect(await attemptsOf(call)).toBe(1);
  });
});

async function attemptsOf(call: Call): Promise<number> {
  let attempts = 0;
  const client = messagingOver(() =>
    ++attempts === 1
      ? Promise.reject(new TypeError('fetch failed'))
      : Promise.resolve(Response.json({ id: 'con_1', email, _meta: {} })),
  );
  await inTime(Promise.resolve(call(client)).catch(() => undefined));
  return attempts;
}
