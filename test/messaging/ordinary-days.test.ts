import { defineWorkflow, MessagingClient, PartialError, type ImportJob } from 'postreel';
import { createFakeMessaging } from 'postreel/testing';
import { describe, expect, it } from 'vitest';
import { answering, messagingOver } from '../support/clients.js';

/** Everyday uses whose failures must not go unnoticed. */

function scene() {
  const fake = createFakeMessaging();
  const messaging = new MessagingClient(fake.options);
  const warnings: string[] = [];
  messaging.on('warning', ({ message }) => warnings.push(message));
  return { fake, messaging, warnings };
}

const mail = { from: 'shop@example.com', subject: 'Hi', body: '<p>Hi</p>' };
const to = 'ann@example.com';
const messageOf = (error: unknown) => (error as Error).message;

describe('a bulk job with one missing contact', () => {
  it('reports the contact with the service’s reason, and the others are done', async () => {
    const { messaging } = scene();
    const one = await messaging.contacts.create({ email: 'a@example.com' });
    const other = await messaging.contacts.create({ email: 'b@example.com' });
    const report = await messaging.contacts.unsubscribeAll([one.id, 'gone', other.id]);
    expect(report).toMatchObject({ done: 2, failed: [{ row: 'gone', index: 1 }], unknown: [] });
    expect(messageOf(report.failed[0]?.error)).toContain('Contact not found');
  });

  /** A service whose job ends in this record. */
  const endingIn = (job: object) => {
    const { fetch } = answering((request) =>
      request.method === 'POST' ? { jobId: 'job_1' } : { state: 'completed', ...job },
    );
    return messagingOver(fetch).contacts;
  };
  const wait = { interval: 1 };

  it.each<[string, object, object]>([
    [
      'counts it and does not name it',
      { result: { failureCount: 1, errors: [] } },
      { done: 0, unknown: 3 },
    ],
    [
      'names it without counts of the others',
      { result: { failureCount: 1, errors: [{ contactId: 'c', error: 'gone' }] } },
      { done: 2, failed: 1 },
    ],
    [
      'names fewer than it counts',
      { result: { successCount: 1, failureCount: 2, errors: [{ contactId: 'c', error: 'gone' }] } },
      { failed: 1, unknown: 2 },
    ],
    [
      'counts what was so before as unchanged',
      { result: { successCount: 1, unchangedCount: 2, failureCount: 0 } },
      { done: 3 },
    ],
    ['counts in words that nobody knows', { result: { ok: 2, ko: 1 } }, { unknown: 3 }],
    ['has no counts at all', {}, { done: 3 }],
  ])('%s', async (_, job, wanted) => {
    const { done, failed, unknown } = await endingIn(job).unsubscribeAll(['a', 'b', 'c'], { wait });
    const counts = { done, failed: failed.length, unknown: unknown.length };
    expect(counts).toEqual({ done: 0, failed: 0, unknown: 0, ...wanted });
  });

  it('counts as deleted if the response to the first deletion was lost and the second does not find it', async () => {
    let starts = 0;
    const { fetch } = answering((request) => {
      if (request.method === 'POST') {
        starts += 1;
        return starts === 1
          ? Response.json({ error: 'no' }, { status: 503, headers: { 'retry-after': '0' } })
          : { jobId: 'j' };
      }
      const errors = ['a', 'b'].map((contactId) => ({ contactId, error: 'Contact not found' }));
      return { state: 'completed', result: { successCount: 0, failureCount: 2, errors } };
    });
    const report = await messagingOver(fetch).contacts.deleteAll(['a', 'b'], { wait });
    expect([starts, report.done]).toEqual([2, 2]);
  });

  it('does not count as deleted if the only deletion does not find it', async () => {
    const errors = ['a', 'b'].map((contactId) => ({ contactId, error: 'Contact not found' }));
    const result = { successCount: 0, failureCount: 2, errors };
    const { fetch } = answering(({ method }) =>
      method === 'POST' ? { jobId: 'j' } : { state: 'completed', result },
    );
    const report = await messagingOver(fetch).contacts.deleteAll(['a', 'b'], { wait });
    expect(report).toMatchObject({ done: 0, failed: [{ row: 'a' }, { row: 'b' }], unknown: [] });
  });

  it('is reported with the reason if the whole job fails', async () => {
    const { fetch } = answering(() => ({ state: 'failed', failedReason: 'The disk is full.' }));
    const call = messagingOver(fetch).contacts.waitForBulkJob('job_1');
    await expect(call).rejects.toThrow(
      'Job job_1 ended with the status "failed": The disk is full.',
    );
  });
});

const newContacts = 'subscribed';

describe('an import of many rows', () => {
  it('with one bad address fails only that row, in text rows and in object rows', async () => {
    const rows = Array.from({ length: 2000 }, (_, at) => `p${at}${at === 7 ? '' : '@example.com'}`);
    const text = ['email\n', rows.join('\n')];
    const objects = rows.map((email) => ({ email }));
    for (const source of [text, objects]) {
      const { messaging } = scene();
      const report = await messaging.contacts.importAll(source as typeof objects, { newContacts });
      expect(report).toMatchObject({ done: 1999, failed: [{ index: 7 }], unknown: [] });
    }
  });

  it('with an address that the service refuses names its row, by the email and not by the number', async () => {
    const { messaging } = scene();
    // The fake wants a dot in the domain; the same address comes twice.
    const emails = ['a@example.com', 'b@localhost', 'c@example.com', 'd@localhost'];
    const report = await messaging.contacts.importAll(
      emails.map((email) => ({ email })),
      { newContacts },
    );
    expect(report.failed.map(({ index }) => index)).toEqual([1, 3]);
    expect(messageOf(report.failed[0]?.error)).toContain('b@localhost is not an email address.');
    expect(report).toMatchObject({ done: 2, unknown: [] });
  });

  it('leaves rows with the same email unknown if the job identifies neither of them', async () => {
    const result = (row: number) => ({
      successCount: 2,
      failureCount: 1,
      errors: [{ row, email: 'A@b.c', error: 'Bounced before' }],
    });
    const ends = async (row: number) => {
      const { fetch } = answering((request) =>
        request.method === 'POST' ? { jobId: 'j' } : { state: 'completed', result: result(row) },
      );
      const rows = [{ email: 'a@b.c' }, { email: 'x@b.c' }, { email: 'a@b.c' }];
      const report = await messagingOver(fetch).contacts.importAll(rows, {
        newContacts,
        wait: { interval: 1 },
      });
      return [report.done, report.failed.map(({ index }) => index), report.unknown.length];
    };
    expect(await ends(1)).toEqual([2, [0], 0]); // the first row of data
    expect(await ends(4)).toEqual([2, [2], 0]); // the fourth line of the file
    expect(await ends(9)).toEqual([1, [], 2]); // neither
  });

  it('accepts the rows of papaparse', async () => {
    const { fake, messaging } = scene();
    const rows = [
      { 'E-Mail': ' ann@example.com ', Name: 'Ann', Notes: 'x' },
      { 'E-Mail': 'bea@example.com', Name: 'Bea', Notes: '', __parsed_extra: [''] },
      { 'E-Mail': 'cid@example.com', Name: 'Cid', Notes: '', __parsed_extra: ['lost'] },
      { 'E-Mail': '' },
    ];
    const columns = { ' e-mail': 'email', NAME: 'name', notes: null };
    const report = await messaging.contacts.importAll(rows, { newContacts, columns });
    expect([report.done, report.failed.map(({ index }) => index)]).toEqual([2, [2, 3]]);
    expect([...fake.project.contacts.values()].map(({ data }) => data)).toEqual([
      { name: 'Ann' },
      { name: 'Bea' },
    ]);
  });

  it.each<[string, Record<string, string | null>, string]>([
    [
      'a column that is not there',
      { Name: 'name' },
      '`columns` names "name", but there is no such column',
    ],
    [
      'two columns onto one field',
      { mail: 'email', 'E-Mail': 'email' },
      'Two columns map to the field `email`',
    ],
    ['a column twice', { mail: null, ' MAIL ': null }, '`columns` names "MAIL" twice'],
    ['no field', { mail: '' }, 'the name of a field, or `null`'],
  ])('rejects %s', async (_, columns, words) => {
    const { fake, messaging } = scene();
    const text = messaging.contacts.importAll(['mail,e-mail\na@b.co,b@b.co\n'], {
      newContacts,
      columns,
    });
    await expect(text).rejects.toMatchObject({ name: 'InvalidRequestError', outcome: 'not-sent' });
    await expect(text).rejects.toThrow(words);
    expect(fake.requests).toEqual([]);
  });

  it.each([
    [false, false],
    ['No', false],
    ['0', false],
    [0, false],
    ['TRUE', true],
    [undefined, undefined],
    ['', undefined],
  ])('accepts `subscribed: %j`', async (word, subscribed) => {
    const { fake, messaging } = scene();
    const rows = [{ email: to, subscribed: word as boolean }];
    await messaging.contacts.importAll(rows, { subscribed: false });
    const [contact] = fake.project.contacts.values();
    expect(contact?.subscribed).toBe(subscribed ?? false);
  });

  it('keeps people unsubscribed whose rows have no value', async () => {
    const { fake, messaging } = scene();
    await messaging.contacts.create({ email: to, subscribed: false });
    await messaging.contacts.importAll([{ email: to, plan: 'pro' }], { newContacts });
    expect([...fake.project.contacts.values()]).toMatchObject([{ subscribed: false }]);
  });

  it('continues after a kill at the row that `onProgress` has reported', async () => {
    const { fake, messaging } = scene();
    const rows = Array.from({ length: 9 }, (_, at) => ({
      email: `p${at}@example.com`,
      note: 'x'.repeat(170_000),
    }));
    const controller = new AbortController();
    let from = 0;
    const first = messaging.contacts.importAll(rows, {
      newContacts,
      signal: controller.signal,
      onProgress: (progress) => {
        ({ from } = progress);
        controller.abort(new Error('killed'));
      },
    });
    await expect(first).rejects.toBeInstanceOf(PartialError);
    expect(from).toBe(3);
    const rest = await messaging.contacts.importAll(rows, { newContacts, from });
    expect([rest.done, fake.project.contacts.size]).toEqual([6, 9]);
  });

  it('has cells without types: a separate call stores a text that looks like a number', async () => {
    const { fake, messaging } = scene();
    await messaging.contacts.importAll(['email,zip,phone\nann@example.com,12345,0123\n'], {
      newContacts,
    });
    const [contact] = fake.project.contacts.values();
    expect(contact?.data).toEqual({ zip: 12345, phone: '0123' }); // as some services read them
    await messaging.contacts.update(contact?.id ?? '', { data: { zip: '12345' } });
    expect(contact?.data).toEqual({ zip: '12345', phone: '0123' });
  });

  it('warns that a reserved column is dropped', async () => {
    const { messaging, warnings } = scene();
    await messaging.contacts.importAll(['email,id,unsubscribeUrl\nann@example.com,7,x\n'], {
      newContacts,
    });
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toContain('`id` is a reserved field, which the service drops');
  });

  it('has jobs of a separate type', async () => {
    const { messaging } = scene();
    const { jobs } = await messaging.contacts.importAll([{ email: to }], { newContacts });
    expect<ImportJob[]>(jobs).toMatchObject([{ state: 'completed' }]);
  });
});

describe('an attachment', () => {
  const sent = async (content: unknown) => {
    const { fake, messaging } = scene();
    const attachments = [{ filename: 'a.pdf', content: content as string }];
    await messaging.send({ ...mail, to, attachments });
    return fake.outbox[0]?.attachments[0];
  };

  it.each([
    'invoices/42.pdf',
    './a.pdf',
    '/tmp/invoices/2027',
    'reports/2027',
    'C:\\invoices\\42.pdf',
    'file:///tmp/42.pdf',
    'https://example.com/42.pdf',
    'a.pdf',
    'Total: 42',
    'data:text/plain,hello',
  ])('that is %j is rejected, because it would be mailed as this text', async (content) => {
    await expect(sent(content)).rejects.toMatchObject({
      name: 'InvalidRequestError',
      outcome: 'not-sent',
      fieldErrors: [{ field: 'attachments[0].content' }],
    });
  });

  const base64 = 'AGhp/w==';
  it.each<[string, unknown, object]>([
    ['base64', base64, {}],
    ['base64 in lines', 'AGhp\r\n/w==', { content: 'AGhp\r\n/w==' }],
    ['a data address', `data:application/pdf;base64,${base64}`, { contentType: 'application/pdf' }],
    [
      'a Buffer after a JSON queue',
      JSON.parse(JSON.stringify(Buffer.from([0, 104, 105, 255]))),
      {},
    ],
    ['bytes', new Uint8Array([0, 104, 105, 255]), {}],
    ['a JPEG in base64', '/9j/4AAQSkZJ', { content: '/9j/4AAQSkZJ' }],
  ])('that is %s is sent as the file', async (_, content, more) => {
    expect(await sent(content)).toEqual({ filename: 'a.pdf', content: base64, ...more });
  });
});

describe('addresses', () => {
  it.each<[string, unknown, unknown]>([
    [
      'a name and an address in one text',
      'Ann Lee <ann@example.com>',
      { name: 'Ann Lee', email: to },
    ],
    ['a name in quotes', '"Lee, Ann" <ann@example.com>', { name: 'Lee, Ann', email: to }],
    ['an address in brackets', '<ann@example.com>', to],
    ['another package’s form', { name: 'Ann', address: to }, { name: 'Ann', email: to }],
    ['spaces around it', ' ann@example.com ', to],
  ])('are accepted in the usual forms: %s', async (_, written, wire) => {
    const { fetch, requests } = answering(() => ({ emails: [] }));
    const given = written as string;
    await messagingOver(fetch).send({ ...mail, from: given, to: [given] });
    expect(await requests[0]?.json()).toMatchObject({ from: wire, to: [wire] });
  });

  it('with separate data are rejected, and the error names `sendEach()`', async () => {
    const { messaging } = scene();
    const recipients = [{ email: to, data: { plan: 'pro' } }];
    await expect(messaging.send({ ...mail, to: recipients })).rejects.toThrow(
      /`to\[0\]\.data` has no effect here.*`sendEach\(\)`/,
    );
  });

  it('with an invisible character are rejected, and the error names the character', async () => {
    const { messaging } = scene();
    const email = 'ann\u200b@example.com';
    const words = 'without the invisible character U+200B';
    await expect(messaging.send({ ...mail, to: email })).rejects.toThrow(words);
    await expect(messaging.contacts.create({ email })).rejects.toThrow(words);
  });

  it('that are listed twice emit a warning, because the service mails both', async () => {
    const { messaging, warnings } = scene();
    await messaging.send({ ...mail, to: [to, 'bea@example.com', 'Ann <ANN@example.com>'] });
    expect(warnings).toEqual([expect.stringContaining('`to[2]` repeats an earlier recipient')]);
  });

  it('that are missing in the response are named in a warning', async () => {
    const emails = [to, 'cid@example.com'].map((email) => ({
      contact: { id: '1', email },
      email: '1',
    }));
    const { fetch } = answering(() => ({ success: true, data: { emails, timestamp: 'x' } }));
    const messaging = messagingOver(fetch);
    const warnings: string[] = [];
    messaging.on('warning', ({ message }) => warnings.push(message));
    await messaging.send({ ...mail, to: [to, 'bea@example.com', 'cid@example.com'] });
    expect(warnings).toEqual([expect.stringContaining('no email to bea@example.com')]);
  });
});

describe('the variables of a text', () => {
  it.each([
    '{{#if pro}}Hi{{/if}}',
    '{{name | upcase}}',
    '{{name ?? &quot;you&quot;}}',
    '<a href="https://a.b/%7B%7Bcode%7D%7D">',
    '<%= name %>',
    '*|FNAME|*',
    'Hello {{name',
  ])('that the service would mail unchanged emit one warning: %s', async (text) => {
    const { messaging, warnings } = scene();
    const body = `<p>${text}</p>`;
    await messaging.send({ ...mail, to, body });
    await messaging.send({ ...mail, to: 'bea@example.com', body });
    await messaging.templates.create({ name: 'A', subject: 'A', body, type: 'MARKETING' });
    await messaging.campaigns.create({ ...campaign, body });
    await messaging.workflows.deploy(workflow(body));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('which is not a variable: the service sends it unchanged');
  });

  const tag = '{{name | upcase}}';
  const campaign = {
    name: 'May',
    from: 'shop@example.com',
    subject: 'Hi',
    audienceType: 'ALL',
  } as const;
  const workflow = (body: string) =>
    defineWorkflow({
      name: 'Welcome',
      trigger: { event: 'signed_up' },
      steps: {
        hello: { type: 'SEND_EMAIL', subject: 'Hi', body, next: 'end' },
        end: { type: 'EXIT' },
      },
    });

  it.each<[string, (messaging: MessagingClient) => Promise<unknown>, string]>([
    ['send()', async (m) => m.send({ ...mail, to, subject: tag }), 'subject'],
    ['campaigns.create()', async (m) => m.campaigns.create({ ...campaign, body: tag }), 'body'],
    ['workflows.deploy()', (m) => m.workflows.deploy(workflow(tag)), 'config.body'],
    [
      'workflows.deploy({ dryRun })',
      (m) => m.workflows.deploy(workflow(tag), { dryRun: true }),
      'config.body',
    ],
    [
      'workflows.steps.create()',
      async (m) => {
        const { id } = await m.workflows.create({ name: 'A', eventName: 'signed_up' });
        const config = { subject: tag, body: '<p>Hi</p>' };
        await m.workflows.steps.create(id, { type: 'SEND_EMAIL', config });
      },
      'config.subject',
    ],
    [
      'workflows.steps.update()',
      async (m) => {
        const { id } = await m.workflows.create({ name: 'A', eventName: 'signed_up' });
        const step = await m.workflows.steps.create(id, { type: 'SEND_EMAIL', config: {} });
        await m.workflows.steps.update(id, step.id, { config: { body: tag } });
      },
      'config.body',
    ],
  ])('are checked by %s', async (_, call, field) => {
    const { messaging, warnings } = scene();
    await call(messaging);
    expect(warnings).toEqual([expect.stringContaining(`\`${field}\` has \`${tag}\``)]);
  });

  it('may have spaces in their names, as columns do', async () => {
    const { fake, messaging, warnings } = scene();
    const body = '{{First Name}} {{Last Name ?? "Doe"}}';
    await messaging.send({ ...mail, to, body, data: { 'First Name': 'Ann' } });
    expect(warnings).toEqual([]);
    expect(fake.outbox[0]?.body).toBe('Ann Doe');
    expect(messaging.templates.render(body, { 'First Name': 'Ann' }).text).toBe('Ann Doe');
  });
});

describe('lookupAll', () => {
  it('looks up every row except one that is not an email, and reports it at the end', async () => {
    const { messaging } = scene();
    const emails = Array.from({ length: 700 }, (_, at) => (at === 3 ? '' : `p${at}@example.com`));
    const found: unknown[] = [];
    const run = async () => {
      for await (const { notFound } of messaging.contacts.lookupAll(emails)) {
        found.push(...(notFound as unknown[]));
      }
    };
    await expect(run()).rejects.toMatchObject({
      name: 'PartialError',
      result: { done: 699, failed: [{ row: '', index: 3 }], notReached: 0, resumeFrom: 700 },
    });
    expect(found).toHaveLength(699);
  });
});
