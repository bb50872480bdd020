import type { MessagingClient, Paginated } from 'postreel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { messagingOver } from '../support/clients.js';
import { answering } from '../support/msw.js';

const email = 'ann@example.com';
const content = { from: 'shop@example.com', to: email, subject: 'Hi', body: '<p>Hi</p>' };
const campaign = { name: 'A', subject: 'A', body: 'A', from: email, audienceType: 'ALL' };

type Call = (messaging: MessagingClient, fields: object) => PromiseLike<unknown>;

/** Every method whose fields the document lists, with a slip and what was meant. */
const documented: [string, Call, string, string][] = [
  ['send', (m, fields) => m.send({ ...content, ...fields }), 'replyTo', 'reply'],
  ['track', (m, fields) => m.track({ email, event: 'paid', ...fields }), 'dta', 'data'],
  ['verify', (m, fields) => m.verify({ email, ...fields }), 'emial', 'email'],
  ['contacts.create', (m, fields) => m.contacts.create({ email, ...fields }), 'dat', 'data'],
  ['contacts.update', (m, fields) => m.contacts.update('1', fields), 'emial', 'email'],
  [
    'campaigns.create',
    (m, fields) => m.campaigns.create({ ...campaign, ...fields } as never), // JavaScript
    'fromname',
    'fromName',
  ],
  [
    'campaigns.replace',
    (m, fields) => m.campaigns.replace('1', { ...campaign, ...fields } as never), // JavaScript
    'html',
    'body',
  ],
  [
    'segments.members.add',
    (m, fields) => m.segments.members.add('1', { emails: [email], ...fields }),
    'createMising',
    'createMissing',
  ],
];

async function warnings(call: Call, fields: object) {
  const { fetch, requests } = answering();
  const messaging = messagingOver(fetch);
  const heard: string[] = [];
  messaging.on('warning', ({ message }) => heard.push(message));
  await call(messaging, fields);
  return { heard, sent: (await requests[0]?.json()) as object };
}

/** The methods that take custom fields in `data`. */
const withCustomFields = ['track', 'contacts.create', 'contacts.update'];

describe.each(documented)('%s', (method, call, slip, meant) => {
  it(`sends \`${slip}\` and asks whether \`${meant}\` was meant`, async () => {
    const { heard, sent } = await warnings(call, { [slip]: 'x' });
    expect(heard).toEqual([
      `\`${slip}\` is not a documented field and may have no effect. Did you mean \`${meant}\`?`,
    ]);
    expect(sent).toHaveProperty(slip, 'x');
  });

  it('warns about a field that resembles no other, without a guess', async () => {
    const { heard } = await warnings(call, { colour: 'red' });
    const place = withCustomFields.includes(method)
      ? ' Custom fields go into `data`: `data: { colour: … }`.'
      : '';
    expect(heard).toEqual([`\`colour\` is not a documented field and may have no effect.${place}`]);
  });

  it.each(['once', 'timeout', 'deadline', 'retries', 'retry'])(
    'refuses the option %s among the fields',
    async (name) => {
      const { fetch, requests } = answering();
      const { [name]: value } = { once: 'a', retry: {} } as Record<string, unknown>;
      const sending = call(messagingOver(fetch), { [name]: value ?? 1 });
      await expect(sending).rejects.toMatchObject({
        name: 'InvalidRequestError',
        outcome: 'not-sent',
        fieldErrors: [{ field: name }],
      });
      await expect(sending).rejects.toThrow(`\`${name}\` is an option of the call`);
      expect(requests).toEqual([]);
    },
  );

  it('refuses a signal among the fields', async () => {
    const { fetch, requests } = answering();
    const { signal } = new AbortController();
    await expect(call(messagingOver(fetch), { signal })).rejects.toThrow(
      'got an AbortSignal: pass it after the fields, as in `{ signal }`',
    );
    expect(requests).toEqual([]);
  });

  it('accepts undefined fields silently', async () => {
    expect((await warnings(call, { colour: undefined })).heard).toEqual([]);
  });
});

it('sendEach refuses an option among the fields of its common email', async () => {
  const { fetch, requests } = answering();
  const common = { from: content.from, subject: 'Hi', body: '<p>Hi</p>', once: 'news' };
  await expect(messagingOver(fetch).sendEach([email], common)).rejects.toThrow(
    '`once` is an option of the call, not a field: pass it after the fields, as in `{ once: … }`.',
  );
  expect(requests).toEqual([]);
});

it('contacts.create warns about a `status`, which the service ignores', async () => {
  const { heard } = await warnings((m, fields) => m.contacts.create({ email, ...fields }), {
    status: 'unsubscribed',
  });
  expect(heard).toEqual([
    '`status` is not a documented field and may have no effect. Did you mean `subscribed`?',
  ]);
});

describe('the query of a list whose document shows all of it', () => {
  const lists: [
    string,
    (m: MessagingClient, query: object) => Paginated<unknown>,
    string,
    string,
  ][] = [
    ['contacts.list', (m, query) => m.contacts.list(query), 'serach', 'search'],
    ['templates.list', (m, query) => m.templates.list(query), 'typ', 'type'],
    [
      'segments.members.list',
      (m, query) => m.segments.members.list('1', query),
      'pagesize',
      'pageSize',
    ],
  ];

  it.each(lists)('%s asks once about a misspelled field', async (_, list, slip, meant) => {
    const { messaging, heard } = pagesOf(3);
    await list(messaging, { [slip]: 'x' }).toArray();
    expect(heard).toEqual([
      `\`${slip}\` is not a documented field and may have no effect. Did you mean \`${meant}\`?`,
    ]);
  });

  it.each(lists)('%s does not warn about fields that it adds itself', async (_, list) => {
    const { messaging, heard } = pagesOf(3);
    await list(messaging, {}).toArray();
    expect(heard).toEqual([]);
  });

  /** A service with some pages of one item each, by cursor and by page. */
  function pagesOf(count: number) {
    let asked = 0;
    const { fetch } = answering(() => {
      asked += 1;
      const hasMore = asked < count;
      const item = { id: String(asked), email, subscribed: true, data: {} };
      const place = { cursor: hasMore ? String(asked) : null, hasMore };
      return { data: [item], ...place, total: count, page: asked, pageSize: 1 };
    });
    const messaging = messagingOver(fetch);
    const heard: string[] = [];
    messaging.on('warning', ({ message }) => heard.push(message));
    return { messaging, heard };
  }
});

it('accepts the fields of a returned record silently', async () => {
  const record = { id: '1', ...campaign, recipientCount: 3 };
  const { heard } = await warnings((m) => m.campaigns.replace('1', record as never), {}); // an answer
  expect(heard).toEqual([]);
});

describe('a required field that is misspelled', () => {
  it.each<[string, Call, RegExp]>([
    ['email', (m) => m.contacts.create({ emial: email } as never), /`emial`/],
    [
      'template',
      (m) => m.send({ to: email, templateId: 'tpl_1' } as never),
      /`templateId` is not a field. Did you mean `template`\?/,
    ],
    [
      'audienceType',
      (m) =>
        m.campaigns.create({ ...campaign, audienceType: undefined, audiencetype: 'ALL' } as never),
      /`audiencetype`/,
    ],
  ])('%s is named in the error', async (_, call, hint) => {
    const messaging = messagingOver(() => {
      throw new Error('must not reach the network');
    });
    await expect(call(messaging, {})).rejects.toThrow(hint);
  });
});

describe('a warning without a listener', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const unheard = (name: string) =>
    messagingOver(answering().fetch).contacts.update('1', { [name]: 1 });

  it('is emitted once per message, as a warning of the process', async () => {
    const emit = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    await unheard('unheardOnce');
    await unheard('unheardOnce');
    await unheard('unheardTwice');
    expect(emit.mock.calls.map(([message]) => message)).toEqual([
      expect.stringContaining('`unheardOnce`'),
      expect.stringContaining('`unheardTwice`'),
    ]);
  });

  it('is not printed if there is a listener or a logger', async () => {
    const emit = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    await warnings((m) => m.contacts.update('1', { heardByListener: 1 } as never), {});
    const warn = vi.fn();
    const { fetch } = answering();
    await messagingOver(fetch, { logger: { warn } }).contacts.update('1', { logged: 1 } as never);
    expect(emit).not.toHaveBeenCalled();
    expect(warn).toHaveBeenCalledWith(
      expect.stringContaining('warning'),
      expect.objectContaining({ message: expect.stringContaining('`logged`') as string }),
    );
  });
});

describe('a required field under another name', () => {
  const unreachable = messagingOver(() => {
    throw new Error('must not reach the network');
  });
  const mail = { from: 'shop@example.com', subject: 'Hi' };

  it.each([
    [
      { ...mail, to: 'a@b.c', html: '<p>Hi</p>' },
      '`body` is required unless `template` is set; `html` is not a field. Did you mean `body`?',
    ],
    [
      { ...mail, too: 'a@b.c', body: 'Hi' },
      '`to` is required; `too` is not a field. Did you mean `to`?',
    ],
    [{ ...mail, whom: 'a@b.c', body: 'Hi' }, '`to` is required; `whom` is not a field'],
  ])('is named in the error: %j', async (body, message) => {
    await expect(unreachable.send(body as never)).rejects.toThrow(message); // wrong on purpose
  });
});
