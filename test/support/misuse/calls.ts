import {
  campaign,
  campaigns,
  client,
  contacts,
  email,
  m,
  mail,
  messaging,
  ofFake,
  base,
  send,
  type Misuse,
} from './subjects.js';

/** Calls to the messaging service. */
export const calls: readonly Misuse[] = [
  ['send()', () => m['send']?.(), 'pass its fields as one object; got undefined'],
  ['send(address, mail)', () => m['send']?.(email, mail), /must be an object|as one object/],
  ['send(address, text)', () => m['send']?.(email, 'Hi'), 'such as { from, to, subject, body }'],
  ['a path as attachment', () => send({ attachments: ['./a.pdf'] }), 'read the file first'],
  [
    'a path as the content of an attachment',
    () => send({ attachments: [{ filename: 'a.pdf', content: './a.pdf' }] }),
    'not a path',
  ],
  [
    'an attachment with a path and no content',
    () => send({ attachments: [{ filename: 'a.pdf', path: './a.pdf' }] }),
    'not its location',
  ],
  ['send([mail])', () => m['send']?.([mail]), 'as one object; got a list'],
  ['no `to`', () => send({ to: undefined }), '`to` is required'],
  ['no recipients', () => send({ to: [] }), '`to` must not be empty'],
  ['an invalid address', () => send({ to: 'ann' }), '`to` must be an email address'],
  [
    'two addresses in one text',
    () => send({ to: 'ann@example.com, bea@example.com' }),
    'give several as a list',
  ],
  [
    'html',
    () => send({ body: undefined, html: 'Hi' }),
    '`body` is required unless `template` is set',
  ],
  [
    'templateId',
    () => m['send']?.({ to: email, templateId: 'tpl_1' }),
    '`templateId` is not a field. Did you mean `template`?',
  ],
  [
    'two lines of subject',
    () => send({ subject: 'a\nb' }),
    '`subject` must not contain a line break',
  ],
  [
    'eleven attachments',
    () => send({ attachments: Array(11).fill({}) }),
    'at most 10 items; got 11',
  ],
  ['NaN', () => send({ data: { total: NaN } }), '`data.total` must be a number; got NaN'],
  ['a promise in the data', () => send({ data: { a: Promise.resolve(1) } }), 'got a Promise'],
  ['subscribed: yes', () => send({ subscribed: 'yes' }), '`subscribed` must be a boolean'],
  [
    'a timeout below 0',
    () => m['send']?.(mail, { timeout: -1 }),
    '`timeout` must be a number of milliseconds above 0',
  ],
  ['retry: 3', () => m['send']?.(mail, { retry: 3 }), 'for a number use `retries`'],
  ['deadlin', () => m['send']?.(mail, { deadlin: 3 }), 'Did you mean `deadline`?'],
  [
    'an invalid signal',
    () => m['send']?.(mail, { signal: {} }),
    'the `signal` of an AbortController',
  ],
  [
    'an unknown priority',
    () => m['send']?.(mail, { priority: 'high' }),
    "one of 'interactive', 'bulk'",
  ],
  ['track(email, event)', () => m['track']?.(email, 'paid'), /must be an object|as one object/],
  ['verify(email)', () => m['verify']?.(email), 'pass its fields as one object; got a string'],
  ['get()', () => contacts['get']?.(), '`id` must be a string; got undefined'],
  ['get(contact)', () => contacts['get']?.({ id: 'con_1' }), 'pass its `id`'],
  ['get(promise)', () => contacts['get']?.(Promise.resolve('con_1')), '`await` it first'],
  [
    'update(changes, id)',
    () => contacts['update']?.({ data: {} }, 'con_1'),
    /must be a string|must be an object/,
  ],
  ['an address that ends in /v1', () => ofFake({}, '/v1').send(mail), '`baseUrl` ends in `/v1`'],
  [
    'the key of another project',
    () => ofFake({ apiKey: 'sk_other' }).contacts.get('1'),
    'The key (sk_…) came from the option `apiKey`',
  ],
  [
    'for in place of for await',
    () => [...(client.contacts.list() as unknown as Iterable<unknown>)],
    'use `for await (const item of list)`',
  ],
  [
    'a queue that is too short',
    () => {
      const one = messaging({ ...base, rateLimit: { limit: 1, windowMs: 60_000, maxQueueMs: 9 } });
      return Promise.all(['1', '2'].map((id) => one.contacts.get(id)));
    },
    'allow a longer `maxQueueMs`',
  ],
  ['list(text)', () => contacts['list']?.('ann'), 'pass the query as an object; got a string'],
  [
    'a page of 1000',
    () => contacts['list']?.({ limit: 1000 }),
    '`limit` must be at most 100; got 1000',
  ],
  [
    'a lookup of 501',
    () => contacts['lookup']?.({ emails: Array(501).fill(email) }),
    'Use `contacts.lookupAll()`',
  ],
  ['an import of a path', () => contacts['import']?.('people.csv'), 'for a path use `csvFile()`'],
  [
    'a campaign without its segment',
    () => campaigns['create']?.({ ...campaign, audienceType: 'SEGMENT' }),
    '`segmentId` is required',
  ],
  [
    'a campaign in the past',
    () => campaigns['send']?.('1', { scheduledFor: '2020-01-01T00:00:00Z' }),
    'must be in the future',
  ],
  [
    'a campaign for tomorrow',
    () => campaigns['send']?.('1', { scheduledFor: 'tomorrow' }),
    'ISO 8601 string',
  ],
  [
    'a path of another origin',
    () => m['request']?.('GET', 'https://other.test/'),
    'must start with a slash',
  ],
  ['a method in small letters', () => m['request']?.('get', '/contacts'), 'one of GET, POST'],
];
