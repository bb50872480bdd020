import { transient, type SendRequest, type WarningEvent } from 'postreel';
import { describe, expect, it } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: '<p>Hi</p>' };
const sent = {
  success: true,
  data: {
    emails: [{ contact: { id: 'con_1', email: 'ann@example.com' }, email: 'eml_1' }],
    timestamp: '2026-11-21T09:30:00.000Z',
  },
};
const verification = {
  email: 'ann@example.com',
  valid: true,
  isDisposable: false,
  isAlias: false,
  isTypo: false,
  isPlusAddressed: false,
  isPersonalEmail: false,
  domainExists: true,
  hasWebsite: true,
  hasMxRecords: true,
  reasons: [],
};
const offline = messagingOver(() => {
  throw new Error('must not reach the network');
});

/** Sends what the types would not allow. */
function send(change: object) {
  return offline.send({ ...mail, ...change });
}

it('sends the content of an email at the time of the call, however often the object is used', async () => {
  const { fetch, requests } = answering(() => sent);
  const messaging = messagingOver(fetch);
  const email = { ...mail };
  const calls = ['ann@example.com', 'bea@example.com'].map((to) => {
    email.to = to;
    return messaging.send(email);
  });
  await Promise.all(calls);
  const bodies = await Promise.all(requests.map((request) => request.json()));
  expect(bodies).toMatchObject([{ to: 'ann@example.com' }, { to: 'bea@example.com' }]);
});

describe('a send rejects before a request', () => {
  it.each([
    ['no recipient', { to: undefined }, 'to', 'is required'],
    ['an empty list of recipients', { to: [] }, 'to', 'must not be empty'],
    ['a recipient without an @', { to: 'ann' }, 'to', 'must be an email address'],
    ['a number as recipient', { to: 7 }, 'to', 'must be an email address or { name, email }'],
    ['one bad of two', { to: ['a@b.co', 'ann'] }, 'to[1]', 'must be an email address'],
    ['a name without an address', { to: { name: 'Ann' } }, 'to.email', 'is required'],
    ['a bad named one', { to: [{ email: 'ann' }] }, 'to[0].email', 'must be an email address'],
    ['a name that is none', { to: { email: 'a@b.co', name: 1 } }, 'to.name', 'must be a string'],
    ['a bad sender', { from: { email: 'shop' } }, 'from.email', 'must be an email address'],
    ['no sender', { from: undefined }, 'from', 'is required unless `template` is set'],
    ['no subject', { subject: undefined }, 'subject', 'is required unless `template` is set'],
    ['no body', { body: undefined }, 'body', 'is required unless `template` is set'],
    ['an empty subject', { subject: '' }, 'subject', 'must not be empty'],
    ['an empty body', { body: '' }, 'body', 'must not be empty'],
    ['an empty template id', { template: '' }, 'template', 'must not be empty'],
    ['a CR in the subject', { subject: 'Hi\rBcc: x' }, 'subject', 'must not contain a line break'],
    ['an LF in the subject', { subject: 'Hi\nBcc: x' }, 'subject', 'must not contain a line break'],
    [
      'a subject of 999 characters',
      { subject: 'x'.repeat(999) },
      'subject',
      'must be at most 998 characters; got 999',
    ],
    [
      'a header name with a line break',
      { headers: { 'X-A\r\nBcc': 'x' } },
      'headers',
      'must not have a name that contains a line break',
    ],
    [
      'a header value with a line break',
      { headers: { 'X-A': 'x\nBcc: y' } },
      'headers.X-A',
      'must not contain a line break',
    ],
    [
      'a header value of 999 characters',
      { headers: { 'X-A': 'x'.repeat(999) } },
      'headers.X-A',
      'must be at most 998 characters; got 999',
    ],
    ['a bad reply address', { reply: 'help' }, 'reply', 'must be an email address'],
    [
      '11 attachments',
      { attachments: Array.from({ length: 11 }, () => ({})) },
      'attachments',
      'takes at most 10 items; got 11',
    ],
    [
      'two addresses in one string',
      { to: 'ann@example.com, bea@example.com' },
      'to',
      'must be one email address; give several as a list',
    ],
  ])('%s', async (_, change, field, message) => {
    await expect(send(change)).rejects.toMatchObject({
      name: 'InvalidRequestError',
      outcome: 'not-sent',
      fieldErrors: [{ field, message }],
    });
  });

  it('all missing fields in one error', async () => {
    const call = offline.send({ to: 'ann@example.com' } as SendRequest); // wrong on purpose
    await expect(call).rejects.toMatchObject({
      message:
        'POST /v1/send was not sent: `from` is required unless `template` is set (and 2 more).',
      fieldErrors: [{ field: 'from' }, { field: 'subject' }, { field: 'body' }],
    });
  });

  it('a missing body', async () => {
    const call = offline.send(undefined as never); // wrong on purpose
    await expect(call).rejects.toMatchObject({
      name: 'InvalidRequestError',
      outcome: 'not-sent',
      fieldErrors: [{ field: '', message: 'pass its fields as one object; got undefined' }],
    });
  });

  it('a message of more than 40 MB', async () => {
    await expect(send({ body: 'x'.repeat(40 * 1024 * 1024) })).rejects.toMatchObject({
      name: 'InvalidRequestError',
      outcome: 'not-sent',
      fieldErrors: [{ message: 'the whole message takes at most 40 MB; got 40.01 MB' }],
    });
  });
});

describe('a send accepts', () => {
  it.each([
    ['a template without a sender', { to: mail.to, template: 'tpl_1' }],
    ['a template with overrides', { ...mail, template: 'tpl_1' }],
    ['the longest subject', { ...mail, subject: 'x'.repeat(998) }],
    [
      'ten attachments of any form',
      { ...mail, attachments: Array(10).fill({ any: 'form', content: undefined }) },
    ],
    ['named addresses', { ...mail, to: [{ name: 'Ann', email: mail.to }, 'bob@example.com'] }],
    ['fields that it does not know', { ...mail, trackOpens: false }],
  ])('%s', async (_, body) => {
    const { fetch, requests } = answering(() => sent);
    await expect(messagingOver(fetch).send(body)).resolves.toEqual(sent.data);
    await expect(requests[0]?.json()).resolves.toEqual(body);
  });

  it('dates as ISO 8601, and transient values in the documented form', async () => {
    const { fetch, requests } = answering();
    const since = new Date('2026-11-21T09:30:00Z');
    await messagingOver(fetch).send({
      ...mail,
      data: { since, code: transient('A1'), plan: null },
    });
    await expect(requests[0]?.json()).resolves.toMatchObject({
      data: {
        since: '2026-11-21T09:30:00.000Z',
        code: { value: 'A1', persistent: false },
        plan: null,
      },
    });
  });
});

describe('warnings of a send', () => {
  it.each([
    [
      '`name` beside an object as `from`',
      { from: { email: 'shop@example.com' }, name: 'Shop' },
      ['`name` has no effect when `from` is an object. Use `from: { name, email }`.'],
    ],
    ['an empty string in data', { data: { plan: '' } }, [expect.stringContaining('`data.plan`')]],
    ['nothing for `name` beside a string', { name: 'Shop' }, []],
  ])('%s', async (_, change, messages) => {
    const { fetch } = answering();
    const messaging = messagingOver(fetch);
    const warnings: WarningEvent[] = [];
    messaging.on('warning', (warning) => warnings.push(warning));
    await messaging.send({ ...mail, ...change });
    expect(warnings.map(({ message }) => message)).toEqual(messages);
  });
});

describe('what happens when a send fails', () => {
  it('never sends an email twice after a 503', async () => {
    const { fetch, requests } = answering(() => new Response(null, { status: 503 }));
    await expect(messagingOver(fetch).send(mail)).rejects.toMatchObject({
      status: 503,
      outcome: 'unknown',
    });
    expect(requests).toHaveLength(1);
  });

  it('repeats a call for one recipient after a 429, because nothing was mailed', async () => {
    const answers = [tooMany(), Response.json(sent)];
    const { fetch, requests } = answering(() => answers.shift());
    await messagingOver(fetch).send({ ...mail, to: ['ann@example.com'] });
    expect(requests).toHaveLength(2);
  });

  it('repeats no call for several recipients after a 429, because some may have been mailed', async () => {
    const { fetch, requests } = answering(tooMany);
    const call = messagingOver(fetch).send({ ...mail, to: ['ann@example.com', 'bob@example.com'] });
    await expect(call).rejects.toMatchObject({ status: 429, outcome: 'unknown' });
    expect(requests).toHaveLength(1);
  });
});

describe('verify', () => {
  it('returns the facts about an address', async () => {
    const { fetch } = answering();
    const messaging = messagingOver(fetch, { validation: { responses: 'throw' } });
    await expect(messaging.verify({ email: 'ann@example.com' })).resolves.toEqual(verification);
  });

  it('is repeated after a 503, and is harmless if it fails', async () => {
    const { fetch, requests } = answering(
      () => new Response(null, { status: 503, headers: { 'retry-after': '0' } }),
    );
    const call = messagingOver(fetch, { retries: 1 }).verify({ email: 'ann@example.com' });
    await expect(call).rejects.toMatchObject({ status: 503, outcome: 'rejected' });
    expect(requests).toHaveLength(2);
  });
});

function tooMany(): Response {
  return new Response(null, { status: 429, headers: { 'retry-after': '0' } });
}
