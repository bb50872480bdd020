import { readFileSync } from 'node:fs';
import { MessagingClient } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';

const email = 'ann@example.com';
const mail = { from: 'shop@example.com', subject: 'Hi', body: '<p>Hi</p>' };

/** Each call that creates a contact who is not there, under the name that the page has for it. */
const calls: Readonly<Record<string, (messaging: MessagingClient) => Promise<unknown>>> = {
  'send()': async (m) => m.send({ ...mail, to: email }),
  'sendEach()': (m) => m.sendEach([email], mail),
  'contacts.create()': async (m) => m.contacts.create({ email }),
  'contacts.import()': async (m) => {
    const { jobId } = await m.contacts.import({ data: `email\n${email}\n` });
    await m.contacts.waitForImport(jobId);
  },
  'importAll()': (m) => m.contacts.importAll([{ email }], { newContacts: 'subscribed' }),
  'track()': async (m) => m.track({ email, event: 'seen' }),
  'segments.members.add({ createMissing })': async (m) => {
    const { id } = await m.segments.create({ type: 'STATIC', name: 'Readers' });
    await m.segments.members.add(id, { emails: [email], createMissing: true });
  },
};

/** Whether the contact is subscribed after a call. */
async function after(name: string, isKnown: boolean): Promise<boolean | undefined> {
  const fake = createFakeMessaging();
  const messaging = new MessagingClient(fake.options);
  if (isKnown) {
    await messaging.contacts.create({ email, subscribed: false });
  }
  await calls[name]!(messaging);
  const [contact] = fake.project.contacts.values();
  return contact?.subscribed;
}

/** The rows of the page's table: calls, a new contact, one that is there. */
const rows = [
  ...readFileSync('docs/contacts.md', 'utf8').matchAll(/^\| (`.*`) +\| (.*) \| (.*) \|$/gm),
]
  .filter(([, , fresh = '']) => /is subscribed|is \*\*not|similar services subscribe/.test(fresh))
  .map(([, names = '', fresh = '']) => ({
    names: [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
    isSubscribed: !fresh.includes('**not**'),
  }));

describe('whether a call subscribes the contact that it creates', () => {
  const listed = rows.flatMap(({ names, isSubscribed }) =>
    names.map((call) => ({ call, isSubscribed })),
  );

  it('is documented for each of these calls', () => {
    expect(listed.map(({ call }) => call).sort()).toEqual(Object.keys(calls).sort());
  });

  it.each(listed)('is documented: $call, $isSubscribed', async ({ call, isSubscribed }) => {
    expect(await after(call, false)).toBe(isSubscribed);
  });

  it.each(Object.keys(calls))('%s does not resubscribe an unsubscribed contact', async (call) => {
    expect(await after(call, true)).toBe(false);
  });
});
