import type { MessagingClient, MismatchEvent, SegmentUpdate } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

type Record = { [field: string]: unknown };

const unset = [undefined, null, ''];
const unsetMark = Symbol('unset');
const dates = { createdAt: '2026-11-21T09:30:00.000Z', updatedAt: '2026-11-21T09:30:00.000Z' };
const content = {
  name: 'Spring',
  subject: 'Spring',
  body: '<p>Hi</p>',
  from: 'shop@example.com',
} as const;
const condition = { field: 'data.plan', operator: 'equals', value: 'pro' } as const;

function furnished() {
  const fake = createFakeMessaging();
  const { secretKey: apiKey, baseUrl, fetch } = fake;
  return messagingOver(fetch, { apiKey, baseUrl, validation: { responses: 'throw' } });
}

describe('a returned object can be passed back', () => {
  it('contacts: to create() and update()', async () => {
    const { contacts } = furnished();
    const made = await contacts.create({ email: 'ann@example.com', data: { plan: 'pro' } });
    const again = await contacts.create(made);
    expect(again._meta).toEqual({ isNew: false, isUpdate: true });
    const read = await contacts.get(made.id);
    const changed = await contacts.update(read.id, { ...read, subscribed: false });
    expect(changed).toMatchObject({ email: read.email, data: read.data, subscribed: false });
  });

  it('templates: to create() and update()', async () => {
    const { templates } = furnished();
    const made = await templates.create({ ...content, type: 'TRANSACTIONAL' });
    const { id } = await templates.create({ ...made, name: 'Summer' });
    expect(id).not.toBe(made.id);
    const changed = await templates.update(id, { ...(await templates.get(id)), subject: 'Hot' });
    expect(changed).toMatchObject({ name: 'Summer', subject: 'Hot', type: made.type });
  });

  it('segments: to create() and update()', async () => {
    const { segments } = furnished();
    const made = await segments.create({ type: 'DYNAMIC', name: 'Pro', condition });
    await segments.create(await segments.get(made.id));
    const friends = await segments.create({ type: 'STATIC', name: 'Friends' });
    const read = await segments.get(friends.id);
    expect(await segments.update(read.id, { ...read, name: 'Old friends' })).toMatchObject({
      name: 'Old friends',
      type: 'STATIC',
    });
    expect(await segments.list().toArray()).toHaveLength(3);
  });

  it('campaigns: to create() and replace()', async () => {
    const { campaigns } = furnished();
    const { id } = await campaigns.create({ ...content, audienceType: 'ALL', replyTo: 'a@b.co' });
    const read = await campaigns.get(id);
    await campaigns.replace(id, { ...read, subject: 'Summer' });
    const now = await campaigns.get(id);
    expect(now).toEqual({ ...read, subject: 'Summer', updatedAt: now['updatedAt'] });
    expect((await campaigns.create(read)).id).not.toBe(id);
  });

  it('workflows, steps and transitions: to create() and update()', async () => {
    const { workflows } = furnished();
    const { id } = await workflows.create({ name: 'Welcome', eventName: 'signed_up' });
    const wait = await workflows.steps.create(id, { type: 'DELAY', config: { duration: '1h' } });
    const exit = await workflows.steps.create(id, { type: 'EXIT' });
    const steps = { fromStepId: wait.id, toStepId: exit.id };
    const transition = await workflows.transitions.create(id, steps);
    const graph = await workflows.get(id);
    expect(await workflows.update(id, { ...graph, allowReentry: true })).toMatchObject({ id });
    expect((await workflows.create(graph)).id).not.toBe(id);
    await workflows.steps.update(id, wait.id, wait);
    expect((await workflows.steps.create(id, wait)).id).not.toBe(wait.id);
    await workflows.transitions.delete(id, transition.id);
    await workflows.transitions.create(id, transition);
    expect((await workflows.get(id)).transitions).toHaveLength(1);
  });

  it('projects and domains: to create() and update()', async () => {
    const { projects, domains } = furnished();
    const project = (await projects.list().first())!; // the fake has the key's own project
    await projects.update(project.id, { ...project, name: 'Big shop' });
    expect((await projects.create(project)).id).not.toBe(project.id);
    const domain = await domains.create({ domain: 'mail.example.com' });
    await domains.delete(domain.id);
    await domains.create(domain);
  });
});

/** Each record with its answer-only fields, and the method that takes it back. */
const returned: [string, Record, (messaging: MessagingClient, record: never) => unknown][] = [
  ['contacts.create', contact(), (messaging, record) => messaging.contacts.create(record)],
  ['contacts.update', contact(), (messaging, record) => messaging.contacts.update('1', record)],
  ['templates.create', template(), (messaging, record) => messaging.templates.create(record)],
  ['templates.update', template(), (messaging, record) => messaging.templates.update('1', record)],
  ['segments.create', segment(), (messaging, record) => messaging.segments.create(record)],
  ['segments.update', segment(), (messaging, record) => messaging.segments.update('1', record)],
  ['campaigns.create', campaign(), (messaging, record) => messaging.campaigns.create(record)],
  [
    'campaigns.replace',
    campaign(),
    (messaging, record) => messaging.campaigns.replace('1', record),
  ],
];

describe.each(returned)('%s', (_, record, handBack) => {
  it.each(unset)('accepts a record whose unset fields are %j', async (nothing) => {
    const { fetch, requests } = answering(() => ({}));
    const filled = Object.entries(record).map(([name, value]) => [
      name,
      value === unsetMark ? nothing : value,
    ]);
    await handBack(messagingOver(fetch), Object.fromEntries(filled) as never); // as services answer
    const sent = (await requests[0]?.json()) as Record; // a body
    for (const name of ['id', 'createdAt', 'updatedAt', '_meta', 'status', 'memberCount']) {
      expect(sent).not.toHaveProperty(name);
    }
  });
});

it('accepts an entity of a class with a toJSON()', async () => {
  class Entity {
    readonly #fields = { id: '1', name: 'Pro', description: null };
    toJSON() {
      return this.#fields;
    }
  }
  const { fetch, requests } = answering(() => ({}));
  const entity = new Entity() as SegmentUpdate; // its fields are private
  await messagingOver(fetch).segments.update('1', entity);
  await expect(requests[0]?.json()).resolves.toEqual({ name: 'Pro', description: null });
});

it('sends a `null` that a caller wrote into a change', async () => {
  const { fetch, requests } = answering(() => ({}));
  await messagingOver(fetch).segments.update('1', { description: null });
  await expect(requests[0]?.json()).resolves.toEqual({ description: null });
});

it('leaves out the `data` of a contact without custom fields', async () => {
  const { fetch, requests } = answering(() => ({}));
  await messagingOver(fetch).contacts.update('1', { subscribed: false, data: null });
  await expect(requests[0]?.json()).resolves.toEqual({ subscribed: false });
});

it('sends an empty text that a caller wrote into a change of a workflow', async () => {
  const { fetch, requests } = answering(() => ({}));
  await messagingOver(fetch).workflows.update('1', { eventName: '', enabled: true });
  await expect(requests[0]?.json()).resolves.toEqual({ eventName: '', enabled: true });
});

function contact(): Record {
  const data = { plan: 'pro' };
  return { id: '1', email: 'ann@example.com', subscribed: true, data, ...dates, _meta: {} };
}

function template(): Record {
  const from = unsetMark;
  return { id: '1', name: 'A', subject: 'A', body: 'A', type: 'MARKETING', from, ...dates };
}

function segment(): Record {
  const rest = { description: unsetMark, trackMembership: false, memberCount: 3, ...dates };
  return { id: '1', name: 'Pro', type: 'STATIC', condition: null, ...rest };
}

function campaign(): Record {
  const unsetFields = {
    description: unsetMark,
    fromName: unsetMark,
    replyTo: unsetMark,
    segmentId: unsetMark,
    audienceFilter: null,
  };
  const sending = { status: 'DRAFT', type: 'ALL', scheduledAt: null };
  return { id: '1', ...content, audienceType: 'ALL', ...unsetFields, ...sending, ...dates };
}

it('an id that a service returns as a number stays a number, is a mismatch, and is rejected as an id', async () => {
  const { fetch, requests } = answering(() => ({
    id: 7,
    email: 'ann@example.com',
    subscribed: true,
    data: {},
  }));
  const client = messagingOver(fetch);
  const mismatches: MismatchEvent[] = [];
  client.on('mismatch', (event) => mismatches.push(event));
  const { id } = await client.contacts.get('con_1');
  expect(id).toBe(7);
  expect(mismatches).toMatchObject([{ issues: [{ field: 'id' }] }]);
  const calls = [
    client.contacts.get(id),
    client.send({ to: 'ann@example.com', template: id }),
    client.contacts.bulkDelete({ contactIds: [id] }),
    client.workflows.transitions.create('1', { fromStepId: id, toStepId: '2' }),
    client.workflows.executions.start('1', { contactId: id }),
    client.campaigns.create({ ...content, audienceType: 'SEGMENT', segmentId: id }),
    client.domains.create({ domain: 'example.com', projectId: id }),
  ];
  for (const call of calls) {
    await expect(call).rejects.toMatchObject({ code: 'INVALID_REQUEST', outcome: 'not-sent' });
  }
  expect(requests).toHaveLength(1);
});

it.each([null, ''])(
  'unset fields of workflow parts that are %j are sent as unset',
  async (unset) => {
    const { fetch, requests } = answering(() => ({}));
    const { workflows, domains } = messagingOver(fetch);
    await workflows.steps.create('1', {
      id: '2',
      type: 'EXIT',
      name: unset,
      config: unset,
    });
    await workflows.transitions.create('1', { id: '3', fromStepId: '2', branch: unset });
    await workflows.update('1', { id: '1', eventName: unset, enabled: true });
    await domains.create({ id: '4', domain: 'example.com', projectId: unset });
    const bodies = await Promise.all(requests.map((request) => request.json()));
    expect(bodies).toEqual([
      { type: 'EXIT' },
      { fromStepId: '2' },
      { enabled: true },
      { domain: 'example.com' },
    ]);
  },
);
