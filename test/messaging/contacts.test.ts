import { transient, type ContactCreate, type WarningEvent } from 'postreel';
import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

const contact = {
  id: 'con_1',
  email: 'ann@example.com',
  subscribed: true,
  data: { plan: 'pro' },
  createdAt: '2026-11-21T09:30:00.000Z',
  updatedAt: '2026-11-21T09:30:00.000Z',
};
const upserted = { ...contact, _meta: { isNew: true, isUpdate: false } };
const unreachable = () => {
  throw new Error('must not reach the network');
};
const offline = messagingOver(unreachable);

const refusal = (field: string, message: unknown) => ({
  name: 'InvalidRequestError',
  outcome: 'not-sent',
  fieldErrors: [{ field, message }],
});

describe('creating and updating', () => {
  it.each([
    ['no email', {}, 'email', 'is required'],
    ['what is no email address', { email: 'ann' }, 'email', 'must be an email address'],
    ['two addresses in one', { email: 'a@b@c' }, 'email', 'must be an email address'],
    [
      'a subscription that is no yes or no',
      { email: 'ann@example.com', subscribed: 'yes' },
      'subscribed',
      'must be a boolean; got a text of 3 characters',
    ],
    [
      'data that is no object',
      { email: 'ann@example.com', data: ['pro'] },
      'data',
      'must be an object',
    ],
  ])('rejects %s', async (_, body, field, message) => {
    const call = offline.contacts.create(body as ContactCreate); // wrong on purpose
    await expect(call).rejects.toMatchObject(refusal(field, message));
  });

  it.each(['id', 'svc_id', 'svc_email', 'email', 'unsubscribeUrl', 'subscribeUrl', 'manageUrl'])(
    'rejects the reserved key `%s` if the option is `throw`',
    async (key) => {
      const strict = messagingOver(unreachable, { data: { reserved: 'throw' } });
      const data = { [key]: 'x' } as ContactCreate['data']; // wrong on purpose
      const expected = refusal(`data.${key}`, expect.stringContaining('is a reserved key'));
      const created = strict.contacts.create({ email: 'ann@example.com', data });
      await expect(created).rejects.toMatchObject(expected);
      await expect(strict.contacts.update('con_1', { data })).rejects.toMatchObject(expected);
    },
  );

  it('rejects an update to a text that is not an email address', async () => {
    const call = offline.contacts.update('con_1', { email: 'ann' });
    await expect(call).rejects.toMatchObject(refusal('email', 'must be an email address'));
  });

  it.each(['', '.', '..'])(
    'rejects the id "%s", which would reach another endpoint',
    async (id) => {
      await expect(offline.contacts.delete(id)).rejects.toMatchObject({
        name: 'InvalidRequestError',
        outcome: 'not-sent',
        fieldErrors: [{ field: 'id' }],
      });
    },
  );

  it('sends null, dates and transient values in the documented form', async () => {
    const { fetch, requests } = answering();
    const since = new Date('2026-11-21T09:30:00Z');
    const data = { plan: null, since, code: transient('A1'), locale: 'de' };
    await messagingOver(fetch).contacts.update('con_1', { data });
    await expect(requests[0]?.json()).resolves.toEqual({
      data: {
        plan: null,
        since: '2026-11-21T09:30:00.000Z',
        code: { value: 'A1', persistent: false },
        locale: 'de',
      },
    });
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, new Date('never')])(
    'rejects %s as data: in JSON it would be null, which deletes the field',
    async (value) => {
      const call = offline.contacts.update('con_1', { data: { score: value } });
      await expect(call).rejects.toMatchObject(refusal('data.score', expect.any(String)));
    },
  );

  it('warns about an empty string, which the service ignores', async () => {
    const { fetch } = answering();
    const messaging = messagingOver(fetch);
    const warnings: WarningEvent[] = [];
    messaging.on('warning', (warning) => warnings.push(warning));
    await messaging.contacts.create({ email: 'ann@example.com', data: { plan: '', tier: 1 } });
    await messaging.contacts.update('con_1', { data: { city: '' } });
    expect(warnings).toMatchObject([
      { method: 'POST', path: '/contacts', message: empty('data.plan') },
      { method: 'PATCH', path: '/contacts/con_1', message: empty('data.city') },
    ]);
  });

  it('creates a contact that is not subscribed again after a 503, since it is an upsert', async () => {
    const answers = [unavailable(), Response.json(upserted)];
    const { fetch, requests } = answering(() => answers.shift());
    const body = { email: 'ann@example.com', subscribed: false };
    const created = await messagingOver(fetch).contacts.create(body);
    expect(created._meta).toEqual({ isNew: true, isUpdate: false });
    expect(requests).toHaveLength(2);
  });

  it('keeps the data field of a contact, which is not an envelope', async () => {
    const { fetch } = answering(() => contact);
    const messaging = messagingOver(fetch, { validation: { responses: 'throw' } });
    await expect(messaging.contacts.get('con_1')).resolves.toEqual(contact);
  });

  it('reports that an email belongs to another contact', async () => {
    const { fetch } = answering(() => Response.json({ error: 'taken' }, { status: 409 }));
    const call = messagingOver(fetch).contacts.update('con_1', { email: 'bob@example.com' });
    await expect(call).rejects.toMatchObject({ name: 'ConflictError', outcome: 'rejected' });
  });
});

describe('listing', () => {
  it.each([
    [0, 'must be at least 1; got 0'],
    [101, 'must be at most 100; got 101'],
    [1.5, expect.stringContaining('must be')],
  ])('rejects %s contacts per page', async (limit, message) => {
    const list = offline.contacts.list({ limit });
    await expect(list.first()).rejects.toMatchObject(refusal('limit', message));
    await expect(Promise.resolve(list)).rejects.toMatchObject(refusal('limit', message));
  });
});

describe('looking up', () => {
  it('rejects more than 500 emails and names the method for more', async () => {
    const emails = manyEmails(501);
    await expect(offline.contacts.lookup({ emails })).rejects.toMatchObject({
      ...refusal('emails', 'takes at most 500 items; got 501. Use `contacts.lookupAll()`'),
      message:
        'POST /contacts/lookup was not sent: `emails` takes at most 500 items; got 501. Use `contacts.lookupAll()`.',
    });
  });

  it('takes another name for the list, which is not documented, within the same limit', async () => {
    const { fetch, requests } = answering(() => ({ jobId: 'job_1' }));
    const { contacts } = messagingOver(fetch);
    await contacts.lookup({ addresses: ['ann@example.com'] });
    await contacts.bulkDelete({ ids: ['con_1'], hard: true });
    await expect(requests[0]?.json()).resolves.toEqual({ addresses: ['ann@example.com'] });
    await expect(requests[1]?.json()).resolves.toEqual({ ids: ['con_1'], hard: true });
    const tooMany = { ids: Array.from({ length: 1001 }, () => 'con_1') };
    await expect(contacts.bulkDelete(tooMany)).rejects.toMatchObject(
      refusal('ids', 'takes at most 1000 items; got 1001. Use `contacts.deleteAll()`'),
    );
    for (const body of [{}, { contactIds: 'con_1' }]) {
      await expect(contacts.bulkDelete(body as never)).rejects.toMatchObject(
        refusal('contactIds', 'must be an array of ids'),
      );
    }
    await expect(contacts.bulkDelete({ contactIds: [''] })).rejects.toMatchObject(
      refusal('contactIds[0]', 'must be an id, as a string'),
    );
    expect(requests).toHaveLength(2);
  });

  it('looks up any number of emails on demand, 500 per call', async () => {
    const { fetch, requests } = answering(async (request) => {
      const { emails } = (await request.clone().json()) as { emails: string[] };
      return { count: emails.length };
    });
    const answers = messagingOver(fetch).contacts.lookupAll(manyEmails(1001));
    await expect(answers.next()).resolves.toEqual({ done: false, value: { count: 500 } });
    expect(requests).toHaveLength(1);
    const rest: unknown[] = [];
    for await (const answer of answers) {
      rest.push(answer);
    }
    expect(rest).toEqual([{ count: 500 }, { count: 1 }]);
  });

  it('looks up emails from a stream', async () => {
    async function* emails() {
      yield* await Promise.resolve(manyEmails(2));
    }
    const { fetch, requests } = answering(() => ({ found: [] }));
    for await (const answer of messagingOver(fetch).contacts.lookupAll(emails())) {
      expect(answer).toEqual({ found: [] });
    }
    await expect(requests[0]?.json()).resolves.toEqual({ emails: manyEmails(2) });
  });

  it('makes no request without emails', async () => {
    const answers = offline.contacts.lookupAll([]);
    await expect(answers.next()).resolves.toEqual({ done: true, value: undefined });
  });
});

describe('fields', () => {
  it('sends a custom field as one segment of the path', async () => {
    const { fetch, requests } = answering(() => ({ values: [] }));
    const { fields } = messagingOver(fetch).contacts;
    await fields.values('data.plan');
    await fields.usage('data.a/b');
    expect(requests.map(({ url }) => new URL(url).pathname)).toEqual([
      '/contacts/fields/data.plan/values',
      '/contacts/fields/data.a%2Fb/usage',
    ]);
  });

  it('lists the inventory', async () => {
    const inventory = {
      fields: [{ field: 'data.plan', type: 'string', isCustom: true, coverage: 0.5 }],
    };
    const { fetch } = answering(() => inventory);
    const messaging = messagingOver(fetch, { validation: { responses: 'throw' } });
    await expect(messaging.contacts.fields.list()).resolves.toEqual(inventory);
  });
});

function manyEmails(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `contact-${index}@example.com`);
}

function empty(field: string): string {
  return `\`${field}\` is an empty string, which the service ignores; use null to delete the field.`;
}

function unavailable(): Response {
  return Response.json({ error: 'busy' }, { status: 503, headers: { 'retry-after': '0' } });
}
