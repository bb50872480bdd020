import type { MessagingClient, SendRequest } from 'postreel';
import { describe, expect, it } from 'vitest';
import { scripted, step, type Step } from '../support/script.js';

const mail: SendRequest = { from: 'a@shop.test', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const several = { ...mail, to: ['ann@example.com', 'bea@example.com'] };
const no = (error: object = {}) =>
  Response.json({ success: false, error: { code: 'NO', ...error } });

/** The outcome of a call that changes something, and of a read, after each response. */
const answers: readonly (readonly [what: string, answer: Step, changed: string, read: string])[] = [
  ...[301, 307, 308, 400, 401, 402, 403, 404, 409, 422, 429, 451].map(
    (status) => [`a ${status}`, step.status(status), 'rejected', 'rejected'] as const,
  ),
  // A form may respond with 302 or 303 after it has done its work.
  ...[302, 303, 408, 500, 502, 503, 504].map(
    (status) => [`a ${status}`, step.status(status), 'unknown', 'rejected'] as const,
  ),
  ['a connection that was refused', step.refused, 'not-sent', 'not-sent'],
  ['a connection that broke', step.lost, 'unknown', 'rejected'],
  ['a body that was cut', () => new Response('{"id": "co'), 'unknown', 'rejected'],
  ['a page of HTML with 200', () => new Response('<html>'), 'unknown', 'rejected'],
  ['`success: false` with 200', no, 'rejected', 'rejected'],
  ['the same with its status', () => no({ statusCode: 500 }), 'unknown', 'rejected'],
];

async function outcomeOf(answer: Step, send: (client: MessagingClient) => PromiseLike<unknown>) {
  const { client } = scripted([answer], { retries: 0 });
  const responses: unknown[] = [];
  client.on('response', ({ outcome }) => responses.push(outcome));
  const call = send(client) as ReturnType<MessagingClient['send']>; // of the outcome of any call
  const { error } = await call.safe();
  expect(call.outcome).toBe(error?.outcome);
  expect(responses).toEqual([error?.outcome]);
  return error?.outcome;
}

describe.each(answers)('%s makes the outcome of', (_, answer, changed, read) => {
  it(`a call that changes something ${changed}, and of a read ${read}`, async () => {
    expect(await outcomeOf(answer, (client) => client.send(mail))).toBe(changed);
    expect(await outcomeOf(answer, (client) => client.contacts.get('con_1'))).toBe(read);
  });
});

describe('an email to several recipients, who are mailed one after another,', () => {
  it.each([
    ['a 429', step.status(429), 'unknown'],
    ['a 503', step.status(503), 'unknown'],
    ['`success: false` with 200', no, 'unknown'],
    ['the same with its status', () => no({ statusCode: 400 }), 'rejected'],
    ['a 400', step.status(400), 'rejected'],
  ])('has the right outcome after %s', async (_, answer, outcome) => {
    expect(await outcomeOf(answer, (client) => client.send(several))).toBe(outcome);
  });
});

it('a call that is running, or has succeeded, has no outcome', async () => {
  const { client } = scripted([]);
  const call = client.send(mail);
  await call;
  expect(call.outcome).toBeUndefined();
});
