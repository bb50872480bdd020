import { ApiError, MessagingClient } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { expect, it } from 'vitest';

const content = { subject: 'Hi', body: '<p>Hi</p>' };
const campaign = { name: 'News', ...content, from: 'shop@example.com' };

it.each<[what: string, call: (messaging: MessagingClient) => PromiseLike<unknown>]>([
  [
    'an unverified sender',
    (messaging) => messaging.send({ ...content, to: 'a@example.com', from: 'a@other.test' }),
  ],
  ['an unknown contact', (messaging) => messaging.contacts.get('con_x')],
  [
    'an unknown template',
    (messaging) => messaging.send({ to: 'a@example.com', template: 'tpl_x' }),
  ],
  [
    'a field that the service refuses',
    (messaging) => messaging.request('POST', '/contacts', { body: { email: 'ann' } }),
  ],
  ['an unknown endpoint', (messaging) => messaging.request('GET', '/contact')],
  [
    'an address that another contact has',
    async (messaging) => {
      await messaging.contacts.create({ email: 'ann@example.com' });
      const { id } = await messaging.contacts.create({ email: 'bea@example.com' });
      await messaging.contacts.update(id, { email: 'ann@example.com' });
    },
  ],
  [
    'a campaign that is sent twice',
    async (messaging) => {
      const { id } = await messaging.campaigns.create({ ...campaign, audienceType: 'ALL' });
      await messaging.campaigns.send(id);
      await messaging.campaigns.send(id);
    },
  ],
  [
    'a wrong key',
    () =>
      new MessagingClient({ ...createFakeMessaging().options, apiKey: 'sk_wrong' }).contacts.get(
        'a',
      ),
  ],
])('the error of %s has each sentence once, and a useful suggestion or none', async (_, call) => {
  const fake = createFakeMessaging();
  const error = await call(new MessagingClient(fake.options)).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ApiError);
  const { message, suggestion } = error as ApiError; // as: asserted above
  const sentences = message.split(/[.:;] /).map((sentence) => sentence.replace(/\.$|^`\w+` /g, ''));
  expect(new Set(sentences).size, message).toBe(sentences.length);
  expect(suggestion ?? '').not.toMatch(/documentation/);
  expect(message).not.toContain(suggestion ?? ' no suggestion');
});
