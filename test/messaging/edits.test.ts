import { defineTemplate } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

function scene() {
  const fake = createFakeMessaging();
  const { secretKey: apiKey, baseUrl, fetch } = fake;
  const messaging = messagingOver(fetch, { apiKey, baseUrl });
  return { fake, messaging, other: messaging.with({}) };
}
const content = { name: 'A', subject: 'Hi', body: '<p>Hi</p>', from: 'shop@example.com' };

describe('edits of one campaign', () => {
  it('at the same time lose nothing, by several clients of one process too', async () => {
    const { messaging, other } = scene();
    const { id } = await messaging.campaigns.create({ ...content, audienceType: 'ALL' });
    await Promise.all([
      messaging.campaigns.edit(id, (draft) => ({ ...draft, subject: 'New' })),
      other.campaigns.edit(id, (draft) => ({ ...draft, name: 'B' })),
      messaging.campaigns.edit(id, (draft) => ({ ...draft, body: '<p>New</p>' })),
    ]);
    const campaign = await messaging.campaigns.get(id);
    expect(campaign).toMatchObject({ subject: 'New', name: 'B', body: '<p>New</p>' });
  });

  it('of the same id in two projects do not wait for each other', async () => {
    const one = scene();
    const baseUrl = 'https://other.test';
    const there = createFakeMessaging({ baseUrl });
    const two = messagingOver(there.fetch, { apiKey: there.secretKey, baseUrl });
    const campaign = { ...content, audienceType: 'ALL' } as const;
    const { id } = await one.messaging.campaigns.create(campaign);
    expect((await two.campaigns.create(campaign)).id).toBe(id);
    const inner = () => two.campaigns.edit(id, (draft) => ({ ...draft, name: 'Inner' }));
    await one.messaging.campaigns.edit(id, async (draft) => {
      await inner();
      draft.name = 'Outer';
    });
    expect((await two.campaigns.get(id)).name).toBe('Inner');
    expect((await one.messaging.campaigns.get(id)).name).toBe('Outer');
  });

  it('by a number and by its text are edits of one campaign', async () => {
    let name = 'A';
    let reading = 0;
    let maxReading = 0;
    const { fetch } = answering(async (request) => {
      if (request.method === 'PUT') {
        name = ((await request.json()) as { name: string }).name;
      }
      return { ...content, name, id: 7, status: 'DRAFT', audienceType: 'ALL' };
    });
    const { campaigns } = messagingOver(fetch);
    const edit = (id: unknown, letter: string) =>
      campaigns.edit(id as string, async (draft) => {
        maxReading = Math.max(maxReading, ++reading);
        await Promise.resolve();
        draft.name += letter;
        reading--;
      });
    await Promise.all([edit(7, 'b'), edit('7', 'c')]);
    expect([name, maxReading]).toEqual(['Abc', 1]);
  });

  it('a change that another process undoes is a conflict', async () => {
    const campaign = { ...content, id: 'cmp_1', status: 'DRAFT', audienceType: 'ALL' };
    const { fetch } = answering(() => campaign); // whatever is written
    const call = messagingOver(fetch).campaigns.edit('cmp_1', (draft) => ({ ...draft, name: 'B' }));
    await expect(call).rejects.toMatchObject({ code: 'CAMPAIGN_CHANGED', outcome: 'unknown' });
  });
});

describe('what the service fills in itself', () => {
  it('is not missing from a preview, and stays as it is', async () => {
    const { messaging } = scene();
    const body = '<a href="{{unsubscribeUrl}}">{{name}}</a>';
    const { id } = await messaging.campaigns.create({ ...content, body, audienceType: 'ALL' });
    const preview = await messaging.campaigns.preview(id, {});
    expect(preview).toMatchObject({ body: '<a href="{{unsubscribeUrl}}"></a>', missing: ['name'] });
    const rendered = defineTemplate(body).render({ name: 'Ann', unsubscribeUrl: 'https://x.y' });
    expect(rendered).toMatchObject({ text: '<a href="https://x.y">Ann</a>', missing: [] });
  });
});

describe("`data: { emptyString: 'delete' }`", () => {
  it.each(['send', 'track', 'create', 'update'] as const)(
    '%s sends what an entity says of itself, not what it keeps inside',
    async (method) => {
      const { fetch, requests } = answering(() => ({}));
      const client = messagingOver(fetch, { data: { emptyString: 'delete' } });
      const data = { dataValues: { hash: 'x' }, toJSON: () => ({ plan: '', seats: 3 }) } as never; // an entity
      const email = 'ann@example.com';
      const calls = {
        send: () => client.send({ from: email, to: email, subject: 'Hi', body: 'Hi', data }),
        track: () => client.track({ email, event: 'paid', data }),
        create: () => client.contacts.create({ email, data }),
        update: () => client.contacts.update('con_1', { data }),
      };
      await calls[method]();
      const sent = (await requests[0]?.json()) as { data: object };
      expect(sent.data).toEqual({ plan: null, seats: 3 });
    },
  );

  it.each(['send', 'track', 'create', 'update'] as const)(
    '%s of a body that is an entity sends its JSON form alone',
    async (method) => {
      const { fetch, requests } = answering(() => ({}));
      const client = messagingOver(fetch, { data: { emptyString: 'delete' } });
      const email = 'ann@example.com';
      const fields = {
        send: { from: email, to: email, subject: 'Hi', body: 'Hi' },
        track: { email, event: 'paid' },
        create: { email },
        update: {},
      }[method];
      const json = { ...fields, data: { plan: '' } };
      const body = { dataValues: { hash: 'x' }, data: { hash: 'x' }, toJSON: () => json } as never;
      const calls = {
        send: () => client.send(body),
        track: () => client.track(body),
        create: () => client.contacts.create(body),
        update: () => client.contacts.update('con_1', body),
      };
      await calls[method]();
      expect(await requests[0]?.json()).toEqual({ ...fields, data: { plan: null } });
    },
  );
});
