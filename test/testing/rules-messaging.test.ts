import { beforeAll, describe, expect, it } from 'vitest';
import { createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { badFields, call, ok, someText, textLike } from '../support/testing/messaging-call.js';

// The rules of the messaging document that no other test of the fake shows. `rules.md` lists all rules.
// The number in each comment is the line of the document.

const mail = { to: 'ann@example.com', from: 'shop@example.com', subject: 'Hi', body: 'Hi' };
const template = { name: 'Welcome', subject: 'Hi', body: 'Hello', type: 'TRANSACTIONAL' };
const campaign = {
  name: 'May',
  subject: 'News',
  body: 'Hi',
  from: 'me@example.com',
  audienceType: 'ALL',
};
const ofPros = { field: 'data.plan', operator: 'equals', value: 'pro' };

/** One object of each kind, made with a key; the ids by the first parameter of their paths. */
async function makeOneOfEach(fake: FakeMessaging, key = fake.secretKey) {
  const make = (endpoint: string, body: object) => ok(fake, endpoint, { body, key });
  const { id: contactId } = await make('POST /contacts', { email: 'ann@example.com' });
  const { id: templateId } = await make('POST /templates', template);
  const { data } = await make('POST /campaigns', campaign);
  const segment = { name: 'Pros', type: 'DYNAMIC', condition: ofPros, trackMembership: true };
  const { id: segmentId } = await make('POST /segments', segment);
  const { id: friendsId } = await make('POST /segments', { name: 'Friends', type: 'STATIC' });
  const { id: workflowId } = await make('POST /workflows', { name: 'Slow', allowReentry: true });
  const delay = { type: 'DELAY', config: { duration: '1d' } };
  const { id: stepId } = await make(`POST /workflows/${workflowId}/steps`, delay);
  const { id: executionId } = await make(`POST /workflows/${workflowId}/executions`, { contactId });
  const { id: domainId } = await make('POST /domains', { domain: 'shop.test' });
  const { jobId: bulkJobId } = await make('POST /contacts/bulk-delete', { contactIds: [] });
  const form = new FormData();
  form.set('file', new File(['email\n'], 'contacts.csv', { type: 'text/csv' }));
  const { jobId: importJobId } = await ok(fake, 'POST /contacts/import', { form, key });
  return {
    contacts: contactId,
    templates: templateId,
    campaigns: data.id,
    segments: segmentId,
    friends: friendsId,
    workflows: workflowId,
    domains: domainId,
    events: contactId,
    bulk: bulkJobId,
    import: importJobId,
    stepId,
    executionId,
  };
}

/** Every endpoint whose path names an object of a project, except fields and events, which are names. */
const endpointsWithIds = createFakeMessaging()
  .endpoints.filter((endpoint) => endpoint.includes('{'))
  .filter((endpoint) => !/\{(field|eventName)\}|\/users\/|\/projects\/|\/project\//.test(endpoint));

/** The kind of object that a path names first, e.g. `contacts`, or `bulk` for a bulk job. */
const kindOf = (endpoint: string) => /(\w+)(?:\/contact)?\/\{/.exec(endpoint)?.[1] ?? '';

describe('messaging, Authentication', () => {
  // 392
  it('a key is sent with the scheme Bearer, and with no other', async () => {
    const fake = createFakeMessaging();
    for (const authorization of [fake.secretKey, `Basic ${fake.secretKey}`]) {
      const response = await fake.fetch(`${fake.baseUrl}/contacts`, { headers: { authorization } });
      expect(response.status).toBe(401);
    }
  });

  // 398
  it('a disabled project yields 403 to its public key too', async () => {
    const fake = createFakeMessaging();
    fake.project.isDisabled = true;
    const body = { email: 'ann@example.com', event: 'visit' };
    const { status } = await call(fake, 'POST /v1/track', { body, key: fake.publicKey });
    expect(status).toBe(403);
  });

  // 398, 431
  it.each(endpointsWithIds)('%s yields 403 for an object of another project', async (endpoint) => {
    const fake = createFakeMessaging();
    const foreign = await makeOneOfEach(fake, fake.addProject().secretKey);
    const id = Reflect.get(foreign, kindOf(endpoint)) as string;
    const path = endpoint.replace(/\{\w+\}/, id).replace(/\{\w+\}/, 'x');
    const { status } = await call(fake, path, { ...(!path.startsWith('GET') && { body: {} }) });
    expect(status).toBe(403);
  });
});

describe('messaging, Versioning', () => {
  // 461
  it.each(['POST /send', 'POST /track', 'POST /verify', 'GET /v1/contacts', 'POST /v1/contacts'])(
    '%s does not exist: only public endpoints have the prefix /v1/',
    async (endpoint) => {
      const body = endpoint.startsWith('POST') ? { body: mail } : {};
      expect((await call(createFakeMessaging(), endpoint, body)).status).toBe(404);
    },
  );
});

describe('messaging, Errors', () => {
  const refusals: [number, (fake: FakeMessaging) => ReturnType<typeof call>][] = [
    [400, (fake) => call(fake, 'GET /contacts?limit=0')],
    [401, (fake) => call(fake, 'GET /contacts', { key: null })],
    [
      403,
      async (fake) => {
        const { id } = fake.addProject();
        return call(fake, `GET /domains/project/${id}`);
      },
    ],
    [404, (fake) => call(fake, 'GET /contacts/x')],
    [
      409,
      async (fake) => {
        const { campaigns } = await makeOneOfEach(fake);
        const body = { scheduledFor: '2999-01-01T00:00:00.000Z' };
        await ok(fake, `POST /campaigns/${campaigns}/send`, { body });
        return call(fake, `DELETE /campaigns/${campaigns}`);
      },
    ],
    [422, (fake) => call(fake, 'POST /v1/send', { body: {} })],
    [429, () => call(createFakeMessaging({ rateLimit: { limit: 0 } }), 'GET /contacts')],
  ];

  // 412 to 423
  it.each(refusals)('a %i has the error envelope', async (code, refuse) => {
    const { status, body } = await refuse(createFakeMessaging());
    expect(status).toBe(code);
    expect(body).toMatchObject({
      success: false,
      error: { code: someText, message: someText, statusCode: code, requestId: someText },
      timestamp: textLike(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
  });

  // 432
  it.each(endpointsWithIds)('%s yields 404 for an id that does not exist', async (endpoint) => {
    const path = endpoint.replaceAll(/\{\w+\}/g, 'x');
    const options = { ...(!path.startsWith('GET') && { body: {} }) };
    expect((await call(createFakeMessaging(), path, options)).status).toBe(404);
  });

  // 432
  it.each([
    'PATCH /steps/x',
    'DELETE /steps/x',
    'DELETE /transitions/x',
    'GET /executions/x',
    'DELETE /executions/x',
  ])('%s of a workflow that has no such part yields 404', async (endpoint) => {
    const fake = createFakeMessaging();
    const { workflows } = await makeOneOfEach(fake);
    const path = endpoint.replace(' ', ` /workflows/${workflows}`);
    const options = { ...(!path.startsWith('GET') && { body: {} }) };
    expect((await call(fake, path, options)).status).toBe(404);
  });

  // 434
  it('a 422 has the code VALIDATION_ERROR, and each of its errors has a field, message and code', async () => {
    const fake = createFakeMessaging();
    const { segments } = await makeOneOfEach(fake);
    const wrong: [string, object][] = [
      ['POST /v1/send', {}],
      ['POST /v1/send', { ...mail, from: 'shop@unverified.test' }],
      ['POST /v1/track', {}],
      ['POST /v1/verify', {}],
      ['POST /contacts', {}],
      ['POST /contacts/lookup', {}],
      ['POST /contacts/bulk-delete', {}],
      ['POST /templates', {}],
      ['POST /campaigns', {}],
      ['POST /segments', {}],
      [`PATCH /segments/${segments}`, { name: 1 }],
      ['POST /workflows', {}],
      ['POST /domains', {}],
    ];
    for (const [endpoint, body] of wrong) {
      const answer = await call(fake, endpoint, { body });
      expect([endpoint, answer.status, answer.body.error.code]).toEqual([
        endpoint,
        422,
        'VALIDATION_ERROR',
      ]);
      for (const error of answer.body.error.errors) {
        expect(error).toEqual({ field: someText, message: someText, code: someText });
      }
    }
  });
});

describe('messaging, Limits: lists', () => {
  const fake = createFakeMessaging({ rateLimit: { limit: Infinity } });
  let contactId = '';

  // 101 items in each list.
  beforeAll(async () => {
    const count = 101;
    const { contacts } = fake.seed({
      contacts: count,
      templates: count,
      campaigns: count,
      workflows: count,
    });
    contactId = contacts[0]?.id ?? '';
    for (let index = 0; index < count; index += 1) {
      const body = { email: contacts[0]?.email, event: 'visit' };
      await ok(fake, 'POST /v1/track', { body });
    }
  });

  const lists = [
    ['/contacts', 'data'],
    ['/templates', 'templates'],
    ['/campaigns', 'data'],
    ['/workflows', 'data'],
    ['/events', 'data'],
    ['/events/contact/{contactId}', 'data'],
    ['/activity', 'data'],
  ] as const;

  // 445
  it.each(lists)(
    'GET %s has 20 items a page unless `limit` says otherwise, up to 100',
    async (path, name) => {
      const list = `GET ${path.replace('{contactId}', contactId)}`;
      const lengthOf = async (query: string) =>
        Reflect.get(Reflect.get(await ok(fake, list + query), name) as object, 'length') as number;
      expect(await lengthOf('')).toBe(20);
      expect(await lengthOf('?limit=1')).toBe(1);
      expect(await lengthOf('?limit=100')).toBe(100);
      expect((await call(fake, `${list}?limit=0`)).status).toBe(400);
      expect((await call(fake, `${list}?limit=101`)).status).toBe(400);
    },
  );

  // 447
  it.each(lists.filter(([, name]) => name === 'data'))(
    'GET %s has its total on the first page, and 0 on later pages',
    async (path) => {
      const list = `GET ${path.replace('{contactId}', contactId)}`;
      const first = await ok(fake, list);
      const second = await ok(fake, `${list}?cursor=${first.cursor}`);
      expect([first.total >= 101, second.total]).toEqual([true, 0]);
    },
  );

  // 258, 266
  it('GET /templates takes a cursor where the service gives one, next to its page totals', async () => {
    const fake = createFakeMessaging({ behavior: { templatePaging: 'cursor' } });
    fake.seed({ templates: 3 });
    const first = await ok(fake, 'GET /templates?limit=2');
    expect(first).toMatchObject({ total: 3, page: 1, pageSize: 2, totalPages: 2 });
    const second = await ok(fake, `GET /templates?limit=2&cursor=${first.cursor}`);
    expect(second).toMatchObject({ total: 3, page: 2, pageSize: 2, totalPages: 2 });
    expect([first, second]).toMatchObject([
      { templates: [{ name: 'Template 1' }, { name: 'Template 2' }] },
      { templates: [{ name: 'Template 3' }] },
    ]);
  });

  // 248
  it('a search of contacts has pages of what it found, and counts them', async () => {
    const fake = createFakeMessaging();
    fake.seed({ contacts: 30 });
    const first = await ok(fake, 'GET /contacts?search=CONTACT-2&limit=8');
    const rest = await ok(fake, `GET /contacts?search=CONTACT-2&cursor=${first.cursor}`);
    const found = [...first.data, ...rest.data].map(({ email }) => email);
    expect(found).toEqual(
      [2, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29].map((number) => `contact-${number}@example.com`),
    );
    expect([first.total, first.hasMore, rest.hasMore]).toEqual([11, true, false]);
  });
});

describe('messaging, fields of a body', () => {
  it.each<[rule: string, endpoint: string, body: object, field: string]>([
    // 203
    ['a subject has no carriage return', 'POST /v1/send', { ...mail, subject: 'a\rb' }, 'subject'],
    // 206
    [
      'the domain of a sender given as an object is verified',
      'POST /v1/send',
      { ...mail, from: { name: 'Shop', email: 'shop@unverified.test' } },
      'from',
    ],
    // 210
    [
      'a header name has no carriage return',
      'POST /v1/send',
      { ...mail, headers: { 'X\rA': 'a' } },
      'headers.X A',
    ],
    // 210
    [
      'a header value has no line feed',
      'POST /v1/send',
      { ...mail, headers: { 'X-A': 'a\nb' } },
      'headers.X-A',
    ],
    // 210
    [
      'a header value has no carriage return',
      'POST /v1/send',
      { ...mail, headers: { 'X-A': 'a\rb' } },
      'headers.X-A',
    ],
    // 214
    [
      'a subject alone is not content',
      'POST /v1/send',
      { to: mail.to, from: mail.from, subject: 'Hi' },
      'body',
    ],
    // 225
    ['`email` of a verification is required', 'POST /v1/verify', {}, 'email'],
    // 252
    [
      'a changed email has the format of one',
      'PATCH /contacts/{contacts}',
      { email: 'a' },
      'email',
    ],
    // 252
    [
      'a changed `subscribed` is a boolean',
      'PATCH /contacts/{contacts}',
      { subscribed: 'no' },
      'subscribed',
    ],
    // 252
    ['changed `data` is an object', 'PATCH /contacts/{contacts}', { data: 'x' }, 'data'],
    // 448
    [
      'the subject of a template is not empty',
      'POST /templates',
      { ...template, subject: '' },
      'subject',
    ],
    // 448
    [
      'a changed subject of a template has at most 998 characters',
      'PATCH /templates/{templates}',
      { subject: 'x'.repeat(999) },
      'subject',
    ],
    // 448
    [
      'a changed subject of a template has no newline',
      'PATCH /templates/{templates}',
      { subject: 'a\nb' },
      'subject',
    ],
    // 79
    [
      'a changed sender of a template is on a verified domain',
      'PATCH /templates/{templates}',
      { from: 'me@unverified.test' },
      'from',
    ],
    // 76
    [
      'a changed type of a template is one of the two',
      'PATCH /templates/{templates}',
      { type: 'OTHER' },
      'type',
    ],
    // 448
    [
      'the subject of a campaign is not empty',
      'POST /campaigns',
      { ...campaign, subject: '' },
      'subject',
    ],
    // 90
    [
      'the sender of a campaign is an email',
      'POST /campaigns',
      { ...campaign, from: 'me' },
      'from',
    ],
    // 90
    [
      'the sender of a replaced campaign is on a verified domain',
      'PUT /campaigns/{campaigns}',
      { ...campaign, from: 'me@unverified.test' },
      'from',
    ],
    // 94
    [
      'a replaced campaign for a segment names it',
      'PUT /campaigns/{campaigns}',
      { ...campaign, audienceType: 'SEGMENT' },
      'segmentId',
    ],
    // 280
    [
      'a test of a campaign needs the address that it goes to',
      'POST /campaigns/{campaigns}/test',
      {},
      'email',
    ],
    // 296
    ['members are removed by their emails', 'DELETE /segments/{friends}/members', {}, 'emails'],
    // 118
    [
      'the context of an execution is an object',
      'POST /workflows/{workflows}/executions',
      { contactId: '{contacts}', context: 'MAY' },
      'context',
    ],
  ])('%s', async (_rule, endpoint, body, field) => {
    const fake = createFakeMessaging();
    const made = await makeOneOfEach(fake);
    const fill = (text: string) =>
      text.replace(/\{([a-z]+)\}/g, (_match, kind) => Reflect.get(made, kind as string) as string);
    const filled = JSON.parse(fill(JSON.stringify(body))) as object;
    expect(badFields(await call(fake, fill(endpoint), { body: filled }))).toEqual([field]);
  });
});

describe('messaging, Custom fields', () => {
  /** The ways to write `data`; each writes to the contact ann@example.com. */
  const writes: Record<string, (fake: FakeMessaging, data: object) => Promise<unknown>> = {
    'POST /contacts': (fake, data) =>
      ok(fake, 'POST /contacts', { body: { email: 'ann@example.com', data } }),
    'PATCH /contacts/{id}': (fake, data) => {
      const [id] = fake.project.contacts.keys();
      return ok(fake, `PATCH /contacts/${id}`, { body: { data } });
    },
    'POST /v1/send': (fake, data) => ok(fake, 'POST /v1/send', { body: { ...mail, data } }),
    'POST /v1/track': (fake, data) =>
      ok(fake, 'POST /v1/track', { body: { email: 'ann@example.com', event: 'visit', data } }),
    'POST /events/track': (fake, data) =>
      ok(fake, 'POST /events/track', { body: { email: 'ann@example.com', event: 'visit', data } }),
    'the step UPDATE_CONTACT': async (fake, data) => {
      const { id } = await ok(fake, 'POST /workflows', { body: { name: 'Update' } });
      const body = { type: 'UPDATE_CONTACT', config: { data } };
      await ok(fake, `POST /workflows/${id}/steps`, { body });
      const [contactId] = fake.project.contacts.keys();
      await ok(fake, `POST /workflows/${id}/executions`, { body: { contactId } });
    },
  };

  const before = { plan: 'pro', seats: 3 };
  const reserved = { id: 'x', svc_id: 'x', svc_email: 'x', email: 'x@example.com' };
  const links = { unsubscribeUrl: 'x', subscribeUrl: 'x', manageUrl: 'x' };

  const rules: [rule: string, data: object, after: object][] = [
    // 33
    ['keys that are not sent keep their values', { city: 'Rome' }, { ...before, city: 'Rome' }],
    // 38
    [
      'texts, numbers and booleans are stored',
      { plan: 'free', seats: 0, trial: false },
      { plan: 'free', seats: 0, trial: false },
    ],
    // 39
    ['null deletes the key', { plan: null }, { seats: 3 }],
    // 40
    ['an empty text is ignored', { plan: '', city: '' }, before],
    // 41
    [
      'a value with `persistent: false` is not stored',
      { plan: { value: 'free', persistent: false }, code: { value: 'X', persistent: false } },
      before,
    ],
    // 43
    ['a value of another type is stored', { seats: 'many' }, { plan: 'pro', seats: 'many' }],
    // 53
    ['reserved keys are dropped', { ...reserved, ...links }, before],
    // 54
    ['`locale` is stored', { locale: 'de' }, { ...before, locale: 'de' }],
  ];

  describe.each(Object.entries(writes))('written by %s', (_name, write) => {
    it.each(rules)('%s', async (_rule, data, after) => {
      const fake = createFakeMessaging();
      const body = { email: 'ann@example.com', data: before };
      const { id } = await ok(fake, 'POST /contacts', { body });
      await write(fake, data);
      const contact = await ok(fake, `GET /contacts/${id}`);
      expect(contact.data).toEqual(after);
      expect(contact.email).toBe('ann@example.com');
    });
  });

  // 41
  it('a value with `persistent: false` is used for every recipient of the send', async () => {
    const fake = createFakeMessaging();
    const data = { code: { value: 'X1', persistent: false } };
    const to = ['ann@example.com', 'bob@example.com'];
    await ok(fake, 'POST /v1/send', { body: { ...mail, to, body: '{{code}}', data } });
    expect(fake.outbox.map(({ body }) => body)).toEqual(['X1', 'X1']);
  });

  // 43
  it('each project infers the types of its fields by itself', async () => {
    const fake = createFakeMessaging();
    const { secretKey: key } = fake.addProject();
    const write = (value: unknown, others: object = {}) =>
      ok(fake, 'POST /contacts', {
        body: { email: 'ann@example.com', data: { key: value } },
        ...others,
      });
    await write(3);
    await write('three', { key });
    const typeOf = async (others: object = {}) =>
      (await ok(fake, 'GET /contacts/fields', others)).fields.find(
        ({ field }) => field === 'data.key',
      )?.type;
    expect([await typeOf(), await typeOf({ key })]).toEqual(['number', 'string']);
  });

  // 43
  it('a type stays fixed when the value of another type is the only one left', async () => {
    const fake = createFakeMessaging();
    const write = (value: unknown) =>
      ok(fake, 'POST /contacts', { body: { email: 'ann@example.com', data: { key: value } } });
    await write(3);
    await write(null);
    await write('three');
    const { fields } = await ok(fake, 'GET /contacts/fields');
    expect(fields).toContainEqual({
      field: 'data.key',
      type: 'number',
      isCustom: true,
      coverage: 1,
    });
  });

  // 49, 50
  it.each([
    ['2026-05-01T10:20:30+02:00'],
    ['2026-05-01T10:20:30'],
    ['01.05.2026'],
    [{ day: '2026-05-01' }],
    [['2026-05-01']],
  ])('the type of %j is string', async (value) => {
    const fake = createFakeMessaging();
    await ok(fake, 'POST /contacts', { body: { email: 'a@example.com', data: { key: value } } });
    const { fields } = await ok(fake, 'GET /contacts/fields');
    expect(fields.find(({ field }) => field === 'data.key')?.type).toBe('string');
  });

  // 53
  it('`data` does not change the core fields', async () => {
    const fake = createFakeMessaging();
    const past = '1999-01-01T00:00:00.000Z';
    const data = { email: 'x@example.com', subscribed: false, createdAt: past, updatedAt: past };
    const body = { email: 'ann@example.com', data };
    const { id } = await ok(fake, 'POST /contacts', { body });
    const now = fake.clock.date().toISOString();
    expect(await ok(fake, `PATCH /contacts/${id}`, { body: { data } })).toMatchObject({
      email: 'ann@example.com',
      subscribed: true,
      createdAt: now,
      updatedAt: now,
    });
  });

  // 53
  it('a reserved key in `data` does not reach a template', async () => {
    const fake = createFakeMessaging();
    const body = '{{id}} {{email}} {{unsubscribeUrl}} {{subscribeUrl}} {{manageUrl}}';
    const data = { ...reserved, ...links };
    await ok(fake, 'POST /v1/send', { body: { ...mail, body, data } });
    expect(fake.outbox[0]?.body.split(' ')).not.toContain('x');
    expect(fake.outbox[0]?.body).not.toContain('x@example.com');
  });

  // 64
  it('coverage is between 0 and 1 without contacts too', async () => {
    const fake = createFakeMessaging();
    const body = { email: 'ann@example.com', data: { plan: 'pro' } };
    const { id } = await ok(fake, 'POST /contacts', { body });
    await ok(fake, `DELETE /contacts/${id}`);
    const { fields } = await ok(fake, 'GET /contacts/fields');
    const coverages = fields.map((field) => Reflect.get(field, 'coverage') as unknown);
    expect(coverages).toEqual(fields.map(() => 0));
  });

  // 66
  it('a standard field has distinct values too', async () => {
    const fake = createFakeMessaging();
    fake.seed({ contacts: 3 });
    const { values } = await ok(fake, 'GET /contacts/fields/email/values');
    expect(values).toEqual([1, 2, 3].map((number) => `contact-${number}@example.com`));
  });

  // 66
  it('the usage of a field has the campaigns and workflows that refer to it', async () => {
    const fake = createFakeMessaging();
    const { workflows } = await makeOneOfEach(fake);
    await ok(fake, 'POST /contacts', { body: { email: 'a@example.com', data: { plan: 'pro' } } });
    const body = { ...campaign, audienceType: 'FILTERED', audienceFilter: ofPros };
    const { data: filtered } = await ok(fake, 'POST /campaigns', { body });
    const step = { type: 'CONDITION', config: ofPros };
    await ok(fake, `POST /workflows/${workflows}/steps`, { body: step });
    expect(await ok(fake, 'GET /contacts/fields/data.plan/usage')).toMatchObject({
      segments: [{ name: 'Pros' }],
      campaigns: [{ id: filtered.id, name: 'May' }],
      workflows: [{ id: workflows, name: 'Slow' }],
    });
  });

  // 66
  it('a workflow stays when its field is deleted, and its condition matches nothing', async () => {
    const fake = createFakeMessaging();
    const data = { plan: 'pro' };
    const { id: contactId } = await ok(fake, 'POST /contacts', {
      body: { email: 'ann@example.com', data },
    });
    const { id } = await ok(fake, 'POST /workflows', { body: { name: 'Pros' } });
    const add = (body: object) => ok(fake, `POST /workflows/${id}/steps`, { body });
    const condition = await add({ type: 'CONDITION', config: ofPros });
    for (const branch of ['yes', 'no']) {
      const config = { subject: branch, body: 'Hi' };
      const { id: toStepId } = await add({ type: 'SEND_EMAIL', config });
      const body = { fromStepId: condition.id, toStepId, branch };
      await ok(fake, `POST /workflows/${id}/transitions`, { body });
    }
    await ok(fake, 'DELETE /contacts/fields/data.plan');
    await ok(fake, `POST /workflows/${id}/executions`, { body: { contactId } });
    expect(fake.outbox.map(({ subject }) => subject)).toEqual(['no']);
  });
});

describe('messaging, POST /v1/send', () => {
  // 205
  it('a subject of the request goes with the body of the template', async () => {
    const fake = createFakeMessaging();
    const { id } = await ok(fake, 'POST /templates', {
      body: { ...template, from: 'hello@example.com', replyTo: 'help@example.com' },
    });
    const body = { to: mail.to, template: id, subject: 'Mine' };
    await ok(fake, 'POST /v1/send', { body });
    expect(fake.outbox[0]).toMatchObject({
      subject: 'Mine',
      body: 'Hello',
      from: 'hello@example.com',
      replyTo: 'help@example.com',
    });
  });

  // 206
  it('the domain of a template’s sender must still be verified', async () => {
    const fake = createFakeMessaging();
    const body = { ...template, from: 'hello@example.com' };
    const { id } = await ok(fake, 'POST /templates', { body });
    fake.project.domains.clear();
    const answer = await call(fake, 'POST /v1/send', { body: { to: mail.to, template: id } });
    expect(badFields(answer)).toEqual(['from']);
  });

  // 208
  it('`subscribed: true` subscribes a new contact', async () => {
    const fake = createFakeMessaging();
    await ok(fake, 'POST /v1/send', { body: { ...mail, subscribed: true } });
    expect([...fake.project.contacts.values()]).toMatchObject([{ subscribed: true }]);
  });

  // 214
  it('a mail leaves immediately, whatever time the body names', async () => {
    const fake = createFakeMessaging();
    const body = { ...mail, scheduledFor: '2999-01-01T00:00:00.000Z' };
    await ok(fake, 'POST /v1/send', { body });
    expect(fake.outbox).toMatchObject([{ sentAt: fake.clock.date().toISOString() }]);
  });

  // 214
  it('`data` and `subscribed` are for every recipient of an array', async () => {
    const fake = createFakeMessaging();
    const to = ['ann@example.com', { name: 'Bob', email: 'bob@example.com' }];
    await ok(fake, 'POST /v1/send', {
      body: { ...mail, to, data: { plan: 'pro' }, subscribed: true },
    });
    const contact = { data: { plan: 'pro' }, subscribed: true };
    expect([...fake.project.contacts.values()]).toMatchObject([contact, contact]);
  });

  // 451
  it('the attachments count in the 40 MB of the whole message', async () => {
    const fake = createFakeMessaging();
    fake.settings.maxAttachmentBytes = Infinity;
    const attachments = [{ filename: 'a.txt', content: 'x'.repeat(42e6) }];
    expect((await call(fake, 'POST /v1/send', { body: { ...mail, attachments } })).status).toBe(
      422,
    );
  });
});

describe('messaging, Contacts', () => {
  // 24
  it('an email is unique within a project, and may be in two projects', async () => {
    const fake = createFakeMessaging();
    const { secretKey: key } = fake.addProject();
    const body = { email: 'ann@example.com' };
    await ok(fake, 'POST /contacts', { body: { email: 'ann@example.com' }, key });
    const { id, ...rest } = await ok(fake, 'POST /contacts', {
      body: { email: 'bob@example.com' },
    });
    expect(rest).toMatchObject({ _meta: { isNew: true } });
    expect((await ok(fake, `PATCH /contacts/${id}`, { body })).email).toBe('ann@example.com');
  });

  // 29
  it('only POST /contacts answers `_meta`', async () => {
    const fake = createFakeMessaging();
    const { contacts: id } = await makeOneOfEach(fake);
    expect(await ok(fake, `GET /contacts/${id}`)).not.toHaveProperty('_meta');
    expect(await ok(fake, `PATCH /contacts/${id}`, { body: {} })).not.toHaveProperty('_meta');
    expect((await ok(fake, 'GET /contacts')).data[0]).not.toHaveProperty('_meta');
  });

  // 252
  it('all fields of a change are optional', async () => {
    const fake = createFakeMessaging();
    const body = { email: 'ann@example.com', subscribed: false, data: { plan: 'pro' } };
    const { id } = await ok(fake, 'POST /contacts', { body });
    expect(await ok(fake, `PATCH /contacts/${id}`, { body: {} })).toMatchObject(body);
  });

  // 252, 433
  it('a change that is refused with 409 changes nothing', async () => {
    const fake = createFakeMessaging();
    await ok(fake, 'POST /contacts', { body: { email: 'bob@example.com' } });
    const { contacts: id } = await makeOneOfEach(fake);
    const body = { email: 'bob@example.com', subscribed: false, data: { plan: 'pro' } };
    expect((await call(fake, `PATCH /contacts/${id}`, { body })).status).toBe(409);
    expect(await ok(fake, `GET /contacts/${id}`)).toMatchObject({
      email: 'ann@example.com',
      subscribed: true,
      data: {},
    });
  });

  // 457
  it('a bulk job answers before it changes anything', async () => {
    const fake = createFakeMessaging();
    const { contacts: id } = await makeOneOfEach(fake);
    const body = { contactIds: [id] };
    await ok(fake, 'POST /contacts/bulk-unsubscribe', { body });
    expect((await ok(fake, `GET /contacts/${id}`)).subscribed).toBe(true);
    await fake.advance('1s');
    expect((await ok(fake, `GET /contacts/${id}`)).subscribed).toBe(false);
  });

  // 404
  it('POST /contacts and an import change `subscribed` without an event', async () => {
    const fake = createFakeMessaging();
    await makeOneOfEach(fake);
    const body = { email: 'ann@example.com', subscribed: false };
    await ok(fake, 'POST /contacts', { body });
    const form = new FormData();
    const file = new File(['email,subscribed\nann@example.com,true\n'], 'contacts.csv');
    form.set('file', file);
    await ok(fake, 'POST /contacts/import', { form });
    await fake.advance('1s');
    expect([...fake.project.contacts.values()]).toMatchObject([{ subscribed: true }]);
    expect(fake.project.events).toEqual([]);
  });
});

describe('messaging, Campaigns', () => {
  // 91, 92
  it('mails of a campaign have its `fromName` and `replyTo`', async () => {
    const fake = createFakeMessaging();
    await ok(fake, 'POST /contacts', { body: { email: 'ann@example.com' } });
    const sender = { fromName: 'Shop', replyTo: 'help@example.com' };
    const { data } = await ok(fake, 'POST /campaigns', { body: { ...campaign, ...sender } });
    await ok(fake, `POST /campaigns/${data.id}/send`);
    expect(fake.outbox).toMatchObject([{ from: 'me@example.com', ...sender }]);
  });

  // 156
  it('a campaign whose deletion is refused stays unchanged', async () => {
    const fake = createFakeMessaging();
    const { campaigns: id } = await makeOneOfEach(fake);
    const body = { scheduledFor: '2999-01-01T00:00:00.000Z' };
    const scheduled = await ok(fake, `POST /campaigns/${id}/send`, { body });
    expect((await call(fake, `DELETE /campaigns/${id}`)).status).toBe(409);
    expect(await ok(fake, `GET /campaigns/${id}`)).toEqual(scheduled);
  });

  // 280
  it('a test leaves the campaign in DRAFT', async () => {
    const fake = createFakeMessaging();
    const { campaigns: id } = await makeOneOfEach(fake);
    await ok(fake, `POST /campaigns/${id}/test`, { body: { email: 'boss@example.com' } });
    await fake.advance('1m');
    expect((await ok(fake, `GET /campaigns/${id}`)).status).toBe('DRAFT');
    expect(fake.outbox).toHaveLength(1);
  });

  // 293
  it.each([
    ['DRAFT', 204],
    ['SCHEDULED', 409],
    ['SENDING', 409],
    ['SENT', 204],
  ])('the segment of a campaign that is %s yields %i to its deletion', async (status, code) => {
    const fake = createFakeMessaging();
    const { segments: segmentId } = await makeOneOfEach(fake);
    const body = { ...campaign, audienceType: 'SEGMENT', segmentId };
    const { data } = await ok(fake, 'POST /campaigns', { body });
    Object.assign(fake.project.campaigns.get(data.id) ?? {}, { status });
    expect((await call(fake, `DELETE /segments/${segmentId}`)).status).toBe(code);
  });
});

describe('messaging, Workflows', () => {
  // 118
  it('a template sees the context of its execution', async () => {
    const fake = createFakeMessaging();
    const { id } = await ok(fake, 'POST /workflows', { body: { name: 'Coupon' } });
    const step = { type: 'SEND_EMAIL', config: { subject: '{{coupon}}', body: 'Hi' } };
    await ok(fake, `POST /workflows/${id}/steps`, { body: step });
    const { contacts: contactId } = await makeOneOfEach(fake);
    const body = { contactId, context: { coupon: 'MAY' } };
    await ok(fake, `POST /workflows/${id}/executions`, { body });
    expect(fake.outbox.map(({ subject }) => subject)).toEqual(['MAY']);
  });

  // 163
  it('a workflow can be deleted after its executions were cancelled', async () => {
    const fake = createFakeMessaging();
    const { workflows: id } = await makeOneOfEach(fake);
    expect((await call(fake, `DELETE /workflows/${id}`)).status).toBe(400);
    await ok(fake, `POST /workflows/${id}/executions/cancel-all`);
    expect((await call(fake, `DELETE /workflows/${id}`)).status).toBe(204);
  });

  // 319
  it('cancel-all leaves the executions of other workflows alone', async () => {
    const fake = createFakeMessaging();
    const first = await makeOneOfEach(fake);
    const second = await makeOneOfEach(fake);
    await ok(fake, `POST /workflows/${first.workflows}/executions/cancel-all`);
    const path = `GET /workflows/${second.workflows}/executions/${second.executionId}`;
    expect((await ok(fake, path)).status).toBe('WAITING');
  });

  // 312
  it('a step that is deleted without splice=true leaves a gap', async () => {
    const fake = createFakeMessaging();
    const { workflows: id, stepId } = await makeOneOfEach(fake);
    const add = (body: object) => ok(fake, `POST /workflows/${id}/steps`, { body });
    const connect = (fromStepId: string, toStepId: string) =>
      ok(fake, `POST /workflows/${id}/transitions`, { body: { fromStepId, toStepId } });
    const middle = await add({ type: 'DELAY' });
    const last = await add({ type: 'EXIT' });
    await connect(stepId, middle.id);
    await connect(middle.id, last.id);
    await ok(fake, `DELETE /workflows/${id}/steps/${middle.id}?splice=false`);
    expect((await ok(fake, `GET /workflows/${id}`)).transitions).toEqual([]);
  });
});

describe('messaging, Events', () => {
  // 330
  it('the usage of an event has the workflows whose conditions refer to it', async () => {
    const fake = createFakeMessaging();
    const { workflows: id } = await makeOneOfEach(fake);
    const config = { field: 'event.signup', operator: 'within', value: 7, unit: 'days' };
    await ok(fake, `POST /workflows/${id}/steps`, { body: { type: 'CONDITION', config } });
    const { workflows } = await ok(fake, 'GET /events/signup/usage');
    expect(workflows).toEqual([{ id, name: 'Slow' }]);
  });

  // 331
  it('an event that was deleted is in no list of events', async () => {
    const fake = createFakeMessaging();
    const body = { email: 'ann@example.com', event: 'visit' };
    const { data } = await ok(fake, 'POST /v1/track', { body });
    await ok(fake, 'DELETE /events/visit');
    expect((await ok(fake, 'GET /events')).data).toEqual([]);
    expect((await ok(fake, `GET /events/contact/${data.contact}`)).data).toEqual([]);
    expect(await ok(fake, 'GET /events/names')).toEqual({ names: [] });
  });
});

describe('messaging, Activity', () => {
  // 406
  it('the feed has bounces and complaints', async () => {
    const fake = createFakeMessaging();
    await ok(fake, 'POST /v1/send', { body: mail });
    const at = fake.clock.date().toISOString();
    Object.assign(fake.project.outbox[0] ?? {}, { bouncedAt: at, complainedAt: at });
    const { data } = await ok(fake, 'GET /activity');
    const types = data.map((entry) => Reflect.get(entry, 'type') as unknown);
    expect(types).toEqual(expect.arrayContaining(['email.bounced', 'email.complained']));
  });
});
