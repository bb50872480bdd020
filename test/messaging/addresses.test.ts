import { createFakeMessaging } from 'postreel/testing';
import { defineWorkflow, MessagingClient } from 'postreel';
import { messaging as schemas } from 'postreel/schemas';
import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

const mail = { from: 'shop@example.com', subject: 'Hi', body: '<p>Hi</p>' };
const campaign = { name: 'May', ...mail, audienceType: 'ALL' } as const;
const template = { name: 'Welcome', ...mail, type: 'TRANSACTIONAL' } as const;

/** How each call takes an address, and the name that an error has for it. */
type Road = readonly [
  name: string,
  field: string,
  call: (messaging: MessagingClient, address: string) => PromiseLike<unknown>,
];

const roads: readonly Road[] = [
  ['send({ to })', 'to', (m, to) => m.send({ ...mail, to })],
  ['send({ to: { email } })', 'to.email', (m, email) => m.send({ ...mail, to: { email } })],
  [
    'send({ to: [ok, { email }] })',
    'to[1].email',
    (m, email) => m.send({ ...mail, to: ['ok@example.com', { email, name: 'Ann' }] }),
  ],
  ['send({ from })', 'from', (m, from) => m.send({ ...mail, from, to: 'ok@example.com' })],
  ['send({ reply })', 'reply', (m, reply) => m.send({ ...mail, reply, to: 'ok@example.com' })],
  ['contacts.create()', 'email', (m, email) => m.contacts.create({ email })],
  ['contacts.update()', 'email', (m, email) => m.contacts.update('con_1', { email })],
  ['contacts.findByEmail()', 'email', (m, email) => m.contacts.findByEmail(email)],
  ['contacts.subscribe()', 'email', (m, email) => m.contacts.subscribe(email)],
  [
    'contacts.lookup()',
    'emails[1]',
    (m, email) => m.contacts.lookup({ emails: ['ok@example.com', email] }),
  ],
  [
    'contacts.lookup() under another name',
    'addresses[1]',
    (m, email) => m.contacts.lookup({ addresses: ['ok@example.com', email] }),
  ],
  [
    'segments.members.add()',
    'emails[1]',
    (m, email) => m.segments.members.add('seg_1', { emails: ['ok@example.com', email] }),
  ],
  [
    'segments.members.remove()',
    'emails[0]',
    (m, email) => m.segments.members.remove('seg_1', { emails: [email] }),
  ],
  ['track()', 'email', (m, email) => m.track({ email, event: 'seen' })],
  ['events.track()', 'email', (m, email) => m.events.track({ email, event: 'seen' })],
  ['campaigns.create({ from })', 'from', (m, from) => m.campaigns.create({ ...campaign, from })],
  [
    'campaigns.replace({ replyTo })',
    'replyTo',
    (m, replyTo) => m.campaigns.replace('cmp_1', { ...campaign, replyTo }),
  ],
  ['campaigns.sendTest()', 'email', (m, email) => m.campaigns.sendTest('cmp_1', { email })],
  ['templates.create({ from })', 'from', (m, from) => m.templates.create({ ...template, from })],
  ['templates.update({ from })', 'from', (m, from) => m.templates.update('tpl_1', { from })],
  [
    'projects.members.invite()',
    'email',
    (m, email) => m.projects.members.invite('prj_1', { email }),
  ],
  ['auth.requestPasswordReset()', 'email', (m, email) => m.auth.requestPasswordReset({ email })],
];

const refused: readonly (readonly [string, string, string])[] = [
  ['an invisible character', 'ann@exam\u200Bple.com', 'without the invisible character U+200B'],
  [
    'an invisible one at its end',
    'ann@example.com\u200B',
    'without the invisible character U+200B',
  ],
  ['a comma at its end', 'ann@example.com, ', 'without the `,` at its end'],
  ['a semicolon at its end', 'ann@example.com;', 'without the `;` at its end'],
  ['quotes around it', '"ann@example.com"', 'without the quotes around it'],
  ['single quotes around it', "'ann@example.com'", 'without the quotes around it'],
  ['the quotes of a word processor', '\u201Cann@example.com\u201D', 'without the quotes around it'],
];

const offline = messagingOver(() => {
  throw new Error('must not reach the network');
});

describe.each(roads)('the address of %s', (_, field, call) => {
  it('is sent without the blanks around it', async () => {
    const { fetch, requests } = answering(() => ({ success: true, data: {} }));
    await Promise.resolve(call(messagingOver(fetch), '\u00A0ann@example.com \n')).catch(
      () => undefined, // an answer without fields may be refused
    );
    const [request] = requests;
    const sent = `${request?.url ?? ''} ${(await request?.text()) ?? ''}`;
    expect(decodeURIComponent(sent)).toMatch(/["=]ann@example\.com(["&]|\s|$)/);
  });

  it.each(refused)(
    'is rejected with %s, and the error names the field',
    async (_, address, message) => {
      await expect(call(offline, address)).rejects.toMatchObject({
        name: 'InvalidRequestError',
        outcome: 'not-sent',
        fieldErrors: [{ field, message: `must be an email address, ${message}` }],
      });
    },
  );
});

describe('the addresses of rows', () => {
  const rows = [' ann@example.com ', ...refused.map(([, address]) => address)];
  const messages = refused.map(([, , message]) => expect.stringContaining(message) as unknown);
  const errorsIn = (failed: readonly { index: number; error: unknown }[]) =>
    [...failed].sort((a, b) => a.index - b.index).map(({ error }) => (error as Error).message);

  it('are trimmed, and fail their row with the name of the field, in sendEach()', async () => {
    const fake = createFakeMessaging();
    const messaging = new MessagingClient(fake.options);
    for (const recipients of [rows, rows.map((email) => ({ email }))]) {
      const { done, failed } = await messaging.sendEach(recipients, mail);
      expect({ done, errors: errorsIn(failed) }).toEqual({ done: 1, errors: messages });
    }
    expect(fake.outbox.map(({ to }) => to)).toEqual(['ann@example.com', 'ann@example.com']);
  });

  it('are trimmed, and fail their row with the name of the field, in importAll()', async () => {
    const fake = createFakeMessaging();
    const messaging = new MessagingClient(fake.options);
    const { done, failed } = await messaging.contacts.importAll(
      rows.map((email) => ({ email, subscribed: true })),
    );
    expect({ done, errors: errorsIn(failed) }).toEqual({ done: 1, errors: messages });
    expect([...fake.project.contacts.values()].map(({ email }) => email)).toEqual([
      'ann@example.com',
    ]);
  });

  it('are trimmed, and fail their row with the name of the field, in contacts.lookupAll()', async () => {
    const { fetch, requests } = answering(() => ({}));
    const lookup = async () => {
      const results: unknown[] = [];
      for await (const result of messagingOver(fetch).contacts.lookupAll(rows)) {
        results.push(result);
      }
      return results;
    };
    const failure = await lookup().catch((error: unknown) => error);
    const { failed } = (failure as { result: { failed: { index: number; error: unknown }[] } })
      .result;
    expect(errorsIn(failed)).toEqual(messages);
    await expect(requests[0]?.json()).resolves.toEqual({ emails: ['ann@example.com'] });
  });
});

describe('`Name <address>`', () => {
  it.each([
    ['to', { to: 'Ann Lee <ann@example.com>' }],
    ['to', { to: [' "Ann Lee" <ann@example.com> '] }],
    ['from', { to: 'ann@example.com', from: 'Ann Lee < ann@example.com >' }],
  ])('is a name and an address in `%s`', async (field, change) => {
    const { fetch, requests } = answering(() => ({}));
    await messagingOver(fetch).send({ ...mail, ...change });
    const body = (await requests[0]?.json()) as Record<string, unknown>; // what was sent
    expect([body[field]].flat()).toEqual([{ name: 'Ann Lee', email: 'ann@example.com' }]);
  });

  it.each([
    ['Ann <ann@example.com,>', 'without the `,` at its end'],
    ['Ann <ann@example.com>;', 'without the `;` at its end'],
    ['Ann <"ann@example.com">', 'without the quotes around it'],
    ['"Ann <ann@example.com>"', 'without the quotes around it'],
    ['Ann <ann@exam\u00ADple.com>', 'without the invisible character U+00AD'],
  ])('follows the same rule: %s', async (to, message) => {
    await expect(offline.send({ ...mail, to })).rejects.toThrow(message);
  });

  it.each<Road>(roads.filter(([name]) => !/\.?send\(\{ (to|from) \}/.test(name)))(
    'is rejected in %s',
    async (_name, field, call) => {
      await expect(call(offline, 'Ann <ann@example.com>')).rejects.toMatchObject({
        fieldErrors: [{ field, message: 'must be an email address alone, without a name' }],
      });
    },
  );
});

describe('the schemas, used alone', () => {
  it.each([
    [
      schemas.send.body,
      { ...mail, to: [' Ann <ann@example.com> ', { email: 'bea@example.com ' }] },
    ],
    [schemas.contacts.create.body, { email: ' ann@example.com' }],
    [schemas.contacts.lookup.body, { emails: ['ann@example.com '] }],
  ])('accept a value that a call trims: %#', (schema, body) => {
    expect(schema.safeParse(body).success).toBe(true);
  });

  it('reject a value that a call rejects', () => {
    const { error } = schemas.contacts.create.body.safeParse({ email: ' ann@example.com; ' });
    expect(error?.issues[0]?.message).toContain('without the `;` at its end');
  });
});

describe('verify()', () => {
  it('trims an address and does not check it, because the service does', async () => {
    const { fetch, requests } = answering(() => ({}));
    await messagingOver(fetch).verify({ email: ' ann@example.com,\t' });
    await expect(requests[0]?.json()).resolves.toEqual({ email: 'ann@example.com,' });
  });

  it('rejects an address of blanks only', async () => {
    await expect(offline.verify({ email: '  ' })).rejects.toThrow('`email` must not be empty');
  });
});

describe('the sender of a step that is written as code', () => {
  const workflow = (from: string) =>
    defineWorkflow({
      name: 'Welcome',
      trigger: { event: 'signed_up' },
      steps: {
        hello: { type: 'SEND_EMAIL', subject: 'Hi', body: '<p>Hi</p>', from, next: 'end' },
        end: { type: 'EXIT' },
      },
    });

  it('is rejected by the same rule', () => {
    expect(() => workflow('shop@example.com;')).toThrow(
      '`steps.hello.from` must be an email address, without the `;` at its end',
    );
  });

  it('is sent without the blanks around it', async () => {
    const fake = createFakeMessaging();
    const messaging = new MessagingClient(fake.options);
    const { workflowId = '' } = await messaging.workflows.deploy(workflow(' shop@example.com '));
    const { steps = [] } = await messaging.workflows.get(workflowId);
    expect(steps).toContainEqual(
      expect.objectContaining({
        config: expect.objectContaining({ from: 'shop@example.com' }) as unknown,
      }),
    );
  });
});
