import type { SendRequest } from 'postreel';
import { describe, expect, it } from 'vitest';
import { scripted, step } from '../../support/script.js';

const mail: SendRequest = {
  from: 'shop@example.com',
  to: 'ann@example.com',
  subject: 'Hi',
  body: '<p>Hi</p>',
};
const several: SendRequest = { ...mail, to: ['ann@example.com', 'bea@example.com'] };

describe('the outcome of a call that changes something', () => {
  it.each([
    [301, 'rejected'],
    [302, 'unknown'],
    [303, 'unknown'],
    [307, 'rejected'],
    [308, 'rejected'],
  ])('after a redirect with %i is %s', async (status, outcome) => {
    const { client } = scripted([step.status(status, { location: 'https://other.test/' })]);
    await expect(client.send(mail)).rejects.toMatchObject({ status, outcome });
  });

  it.each([
    ['one recipient', mail, {}, 'rejected'],
    ['several recipients', several, {}, 'unknown'],
    ['several recipients, with its real status', several, { statusCode: 400 }, 'rejected'],
    ['one recipient, with its real status', mail, { statusCode: 500 }, 'unknown'],
  ])('after a no with HTTP 200 to %s is what it may be', async (_, body, error, outcome) => {
    const no = { success: false, error: { code: 'NO', message: 'No.', ...error } };
    const { client } = scripted([() => Response.json(no)]);
    await expect(client.send(body)).rejects.toMatchObject({ outcome });
  });
});

it('a read is rejected by any redirect: nothing was changed', async () => {
  const { client } = scripted([step.status(302, { location: 'https://other.test/' })]);
  await expect(client.contacts.get('con_1')).rejects.toMatchObject({ outcome: 'rejected' });
});
