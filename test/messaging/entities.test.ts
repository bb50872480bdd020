import { defineTemplate } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

function scene() {
  const fake = createFakeMessaging();
  const { secretKey: apiKey, baseUrl, fetch } = fake;
  const messaging = messagingOver(fetch, { apiKey, baseUrl });
  return { fake, messaging };
}
const content = { name: 'A', subject: 'Hi', body: '<p>Hi</p>', from: 'shop@example.com' };

describe('a variable that the service fills in', () => {
  it('is not listed as missing in a preview, and stays unchanged', async () => {
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
    '%s sends the JSON form of an entity, not its private fields',
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
