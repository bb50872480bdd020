import { clear, transient, type DataOptions, type MessagingClient } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

const email = 'ann@example.com';
const content = { from: 'shop@example.com', to: email, subject: 'Hi', body: '<p>Hi</p>' };

type Write = (messaging: MessagingClient, data: object) => PromiseLike<unknown>;

/** Every method that writes custom fields. */
const writers: [string, Write][] = [
  ['contacts.create', (messaging, data) => messaging.contacts.create({ email, data })],
  ['contacts.update', (messaging, data) => messaging.contacts.update('con_1', { data })],
  ['send', (messaging, data) => messaging.send({ ...content, data })],
  ['track', (messaging, data) => messaging.track({ email, event: 'paid', data })],
  ['events.track', (messaging, data) => messaging.events.track({ email, event: 'paid', data })],
];

async function written(write: Write, data: object, options?: DataOptions) {
  const { fetch, requests } = answering();
  const messaging = messagingOver(fetch, { data: options });
  const warnings: string[] = [];
  messaging.on('warning', ({ message }) => warnings.push(message));
  await write(messaging, data);
  const body = (await requests[0]?.json()) as { data: unknown }; // what was sent
  return { data: body.data, warnings };
}

describe.each(writers)('custom fields in %s', (_, write) => {
  it.each([
    '2026-01-31 10:00:00+00', // Postgres
    '2026-01-31T10:00:00+02:00',
    '2026-01-31T10:00:00', // without a zone
  ])('warns once about a date that is stored as text: %s', async (text) => {
    const { fetch } = answering();
    const messaging = messagingOver(fetch);
    const warnings: string[] = [];
    messaging.on('warning', ({ message }) => warnings.push(message));
    await write(messaging, { renewsAt: text });
    await write(messaging, { renewsAt: text });
    expect(warnings).toEqual([
      expect.stringMatching(/^`data\.renewsAt` has a date in a form that no date filter finds/),
    ]);
  });

  it('accepts a `Date`, a date as the service writes it, a day, and other texts silently', async () => {
    const day = '2026-01-31';
    const data = { a: new Date(0), b: `${day}T10:00:00.000Z`, c: day, d: 'at 10:00' };
    expect((await written(write, data)).warnings).toEqual([]);
  });

  it('sends a reserved key with a warning that names the alternative', async () => {
    const data = { id: '42', plan: 'pro' };
    await expect(written(write, data)).resolves.toEqual({
      data,
      warnings: ["`data.id` is a reserved key, which the service drops: it is the contact's id."],
    });
  });

  it('sends a reserved key silently if the option says so', async () => {
    const { warnings } = await written(write, { id: '42' }, { reserved: 'send' });
    expect(warnings).toEqual([]);
  });

  it.each<[string, object, DataOptions]>([
    ['a reserved key', { manageUrl: 'x' }, { reserved: 'throw' }],
    ['an empty string', { plan: '' }, { emptyString: 'throw' }],
  ])('rejects %s if the option is `throw`', async (_kind, data, options) => {
    const [key = ''] = Object.keys(data);
    await expect(written(write, data, options)).rejects.toMatchObject({
      name: 'InvalidRequestError',
      outcome: 'not-sent',
      fieldErrors: [{ field: `data.${key}` }],
    });
  });

  it('sends an empty string as null if the option says so', async () => {
    const { data, warnings } = await written(
      write,
      { plan: '', tier: 1 },
      { emptyString: 'delete' },
    );
    expect(data).toEqual({ plan: null, tier: 1 });
    expect(warnings).toEqual([]);
  });

  it('sends an empty string silently if the option says so', async () => {
    const { data, warnings } = await written(write, { plan: '' }, { emptyString: 'send' });
    expect(data).toEqual({ plan: '' });
    expect(warnings).toEqual([]);
  });
});

describe('the service', () => {
  const fake = createFakeMessaging();
  const { secretKey: apiKey, baseUrl, fetch } = fake;
  const messaging = messagingOver(fetch, { apiKey, baseUrl });

  it('drops a reserved key and ignores an empty string, as the warnings say', async () => {
    const data: Record<string, string> = { id: '42', plan: 'pro' };
    const { id } = await messaging.contacts.create({ email, data });
    await messaging.contacts.update(id, { data: { plan: '' } });
    expect((await messaging.contacts.get(id)).data).toEqual({ plan: 'pro' });
  });

  it('deletes a field with clear()', async () => {
    const { id } = await messaging.contacts.create({ email, data: { plan: 'pro', city: 'Ulm' } });
    await messaging.contacts.update(id, { data: { city: clear() } });
    expect((await messaging.contacts.get(id)).data).toEqual({ plan: 'pro' });
  });
});

it('warns about a transient value that would be stored on a contact', async () => {
  const data = { code: transient('A1') };
  const { warnings } = await written(writers[0]![1], data); // the first writer creates contacts
  expect(warnings).toEqual([
    '`data.code` is transient: it is not stored on the contact and has no effect.',
  ]);
});
