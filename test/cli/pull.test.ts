import { MessagingClient } from 'postreel';
import { createFakeMessaging, type MessagingBehavior } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { pullTypes } from '../../src/cli/commands/pull-types.js';
import { driftOf } from '../../src/cli/commands/types-file.js';
import { compile } from '../support/types/compile.js';

async function project(behavior: Partial<MessagingBehavior> = {}) {
  const fake = createFakeMessaging({ behavior });
  const { baseUrl, fetch, secretKey: apiKey } = fake;
  const messaging = new MessagingClient({ apiKey, baseUrl, fetch, rateLimit: false });
  const data = { plan: 'pro', seats: 5, isAdmin: true, trialEnds: '2027-01-01', 'odd-name': 'x' };
  await messaging.contacts.create({ email: 'ann@example.com', data });
  await messaging.track({ email: 'ann@example.com', event: 'signed_up' });
  await messaging.track({ email: 'ann@example.com', event: 'paid' });
  const { id } = await messaging.templates.create({
    name: 'Welcome',
    type: 'TRANSACTIONAL',
    subject: 'Hi {{name}}',
    body: '<p>{{plan ?? "free"}} {{profile.tier}}</p>',
    from: 'shop@example.com',
  });
  return { fake, messaging, id };
}

describe('the types of a project', () => {
  it('name its custom fields, events and templates', async () => {
    const { messaging, id } = await project();
    const text = await pullTypes(messaging);
    expect(text).toBe(`// Written by \`npx postreel pull\`. Do not edit it: run the command again.

/** The custom fields of contacts: \`new MessagingClient<Fields>()\`. */
export interface Fields {
  isAdmin: boolean;
  "odd-name": string;
  plan: string;
  seats: number;
  trialEnds: Date;
}

/** The names of tracked events. */
export type EventName = "paid" | "signed_up";

/** What a variable of a template may be. */
export type TemplateValue = string | number | boolean | null;

/** The data that each template asks for, by its id. */
export interface Templates {
  /** Welcome */
  ${id}: { name: TemplateValue; "profile.tier": TemplateValue; plan?: TemplateValue };
}
`);
    const use = `import { MessagingClient } from 'postreel';
const messaging = new MessagingClient<Fields>();
await messaging.contacts.create({ email: 'a@b.c', data: { seats: 5, trialEnds: new Date() } });`;
    expect(compile(`${use}\n${text}`).errors).toEqual([]);
  });

  it('do not change while the project does not, even after a formatter', async () => {
    const { messaging } = await project();
    const text = await pullTypes(messaging);
    expect(driftOf(text.replaceAll('"', "'"), await pullTypes(messaging))).toEqual([]);
  });

  it('show the differences from the project', async () => {
    const { messaging } = await project();
    const text = await pullTypes(messaging);
    await messaging.contacts.update((await messaging.contacts.list()).items[0]?.id ?? '', {
      data: { nickname: 'Annie' },
    });
    await messaging.track({ email: 'ann@example.com', event: 'left' });
    expect(driftOf(text, await pullTypes(messaging))).toEqual([
      '- export type EventName = "paid" | "signed_up";',
      '+ nickname: string;',
      '+ export type EventName = "left" | "paid" | "signed_up";',
    ]);
  });

  it('are the same if a service responds in other forms', async () => {
    const usual = await pullTypes((await project()).messaging);
    for (const listStyle of ['array', 'named', 'cursor', 'page', 'results'] as const) {
      const { messaging } = await project({ listStyle });
      expect(await pullTypes(messaging), listStyle).toBe(usual);
    }
  });

  it.each([{}, { success: true }, { names: [{ title: 'paid' }] }, { count: 2 }])(
    'are not written if the names of events cannot be read: %j',
    async (names) => {
      const { messaging } = await project();
      const events = { names: () => Promise.resolve(names) };
      const { contacts, templates } = messaging;
      await expect(pullTypes({ contacts, events, templates })).rejects.toMatchObject({
        name: 'UnexpectedResponseError',
        message: expect.stringContaining('GET /events/names') as string,
      });
    },
  );

  it('are not written if the fields of contacts are missing', async () => {
    const { messaging } = await project();
    const contacts = { fields: { list: () => Promise.resolve({} as never) } };
    const { events, templates } = messaging;
    await expect(pullTypes({ contacts, events, templates })).rejects.toThrow(
      'GET /contacts/fields',
    );
  });

  it('of an empty project compile', async () => {
    const fake = createFakeMessaging();
    const { baseUrl, fetch, secretKey: apiKey } = fake;
    const messaging = new MessagingClient({ apiKey, baseUrl, fetch, rateLimit: false });
    const text = await pullTypes(messaging);
    expect(text).toContain('export type EventName = string;');
    expect(compile(text).errors).toEqual([]);
  });
});
