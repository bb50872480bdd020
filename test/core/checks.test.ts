import {
  isPostreelError,
  type MediaClient,
  type MessagingClient,
  type MismatchEvent,
  type ValidationOptions,
} from 'postreel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import endpoints from '../../src/testing/endpoints.json' with { type: 'json' };
import { answering, mediaOver, messagingOver } from '../support/clients.js';
import { samples } from '../support/contract/samples.js';

type Loose = (...args: unknown[]) => PromiseLike<unknown>;

const mail = { from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: 'Hi' };
const film = { workflowType: 'idea', prompt: 'Cats', voiceId: 'voice_1' };

afterEach(() => {
  vi.doUnmock('../../src/messaging/schemas.js');
  vi.restoreAllMocks();
});

/** A method of a client by its name, for arguments that no type allows. */
function methodOf(clients: { messaging: MessagingClient; media: MediaClient }, sdk: string): Loose {
  const names = sdk.split('.');
  const name = names.pop() ?? '';
  const owner = names.reduce<object>((value, key) => Reflect.get(value, key) as object, clients);
  return (Reflect.get(owner, name) as Loose).bind(owner);
}

/** Makes a call, and returns the error that it rejects with. Fails if a request is sent. */
async function refusalOf(sdk: string, ...args: unknown[]) {
  const { fetch, requests } = answering(() => ({}));
  const clients = { messaging: messagingOver(fetch), media: mediaOver(fetch) };
  clients.messaging.on('warning', () => undefined); // not printed
  const error: unknown = await Promise.resolve()
    .then(() => methodOf(clients, sdk)(...args))
    .then(
      () => undefined,
      (failure: unknown) => failure,
    );
  expect(requests, 'nothing leaves').toEqual([]);
  expect(isPostreelError(error), `${sdk} is refused`).toBe(true);
  expect(error).toMatchObject({ outcome: 'not-sent' });
  return error as { message: string; fieldErrors: readonly { field: string; message: string }[] };
}

describe('a request that the service would reject or misread', () => {
  it.each<[string, object, string]>([
    ['a missing field', { to: undefined }, '`to` is required'],
    ['an empty text', { subject: '' }, '`subject` must not be empty'],
    ['a text too long', { subject: 'x'.repeat(999) }, 'at most 998 characters; got 999'],
    ['too many items', { attachments: Array(11).fill({}) }, 'takes at most 10 items; got 11'],
    ['another type', { subscribed: 'yes' }, 'must be a boolean; got a text of 3 characters'],
    ['null', { subject: null }, '`subject` must be a string; got null'],
    ['what is no address', { reply: 'hidden-7' }, '`reply` must be an email address.'],
    ['an address in a list', { to: ['a@b.test', 'hidden-7'] }, '`to[1]`'],
    ['an address of a person', { from: { name: 'Shop', email: 1 } }, '`from.email` must be'],
    ['another name', { body: undefined, html: 'hidden-7' }, '`html` is not a field'],
  ])('is rejected with its field and the rule: %s', async (_, change, words) => {
    const { message } = await refusalOf('messaging.send', { ...mail, ...change });
    expect(message).toMatch(/^POST \/v1\/send was not sent: /);
    expect(message).toContain(words);
    expect(message).not.toContain('hidden-7'); // lengths, never contents
  });

  it.each<[string, unknown[], string]>([
    ['messaging.contacts.list', [{ limit: 101 }], '`limit` must be at most 100; got 101'],
    ['messaging.contacts.list', ['ann'], 'pass the query as an object; got a string'],
    [
      'media.generate.video',
      [{ ...film, aspectRatio: '4:3' }],
      'must be one of "16:9", "9:16", "1:1"',
    ],
    [
      'media.generate.video',
      [{ payload: [film, { ...film, prompt: undefined }] }],
      '`payload[1].prompt`',
    ],
    ['messaging.contacts.create', [{ nmae: 'x' }], '`email` is required'],
    ['messaging.contacts.create', [], 'pass its fields as one object; got undefined'],
  ])('is rejected by every method: %s(%j)', async (sdk, args, words) => {
    expect((await refusalOf(sdk, ...args)).message).toContain(words);
  });

  it('names every field that is wrong', async () => {
    const wrong = { ...mail, to: undefined, subject: '', subscribed: 1 };
    const { message, fieldErrors } = await refusalOf('messaging.send', wrong);
    expect(fieldErrors.map(({ field }) => field)).toEqual(['to', 'subject', 'subscribed']);
    expect(message).toMatch(/`to` is required \(and 2 more\)\.$/);
  });

  it('is sent with `validation: { requests: "off" }`', async () => {
    const { fetch, requests } = answering(() => ({ emails: [] }));
    const client = messagingOver(fetch, { validation: { requests: 'off' } });
    await client.send({ ...mail, to: 'nobody' });
    expect(requests).toHaveLength(1);
  });

  it.each<[string, object, string]>([
    ['emial', { emial: 'ann@example.com' }, 'Did you mean `email`?'],
    ['subscribde', { subscribde: true }, 'Did you mean `subscribed`?'],
    ['DATA', { DATA: {} }, 'Did you mean `data`?'],
    ['nickname', { nickname: 'Ann' }, 'Custom fields go into `data`: `data: { nickname: … }`.'],
  ])('is sent with a warning if a field may have no effect: %s', async (name, body, words) => {
    const { fetch, requests } = answering(() => ({ id: 'con_1' }));
    const client = messagingOver(fetch);
    const warnings: string[] = [];
    client.on('warning', ({ message }) => warnings.push(message));
    await client.contacts.update('con_1', body);
    expect(warnings).toEqual([expect.stringContaining(`\`${name}\` is not a documented field`)]);
    expect(warnings[0]?.endsWith(words)).toBe(true);
    expect(requests).toHaveLength(1);
  });
});

const withIds = endpoints.filter(({ path }) => path.includes('{'));

describe.each(withIds)('the ids of $sdk', ({ sdk, path }) => {
  it('are strings that name one record', async () => {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    const input = samples[sdk]?.body ?? samples[sdk]?.query;
    for (const [place, name] of names.entries()) {
      for (const value of ['', '..', undefined, null, { id: 'x' }, 7]) {
        const ids: unknown[] = names.map(() => 'id_1').with(place, value as string);
        const { message } = await refusalOf(sdk, ...ids, ...(input === undefined ? [] : [input]));
        expect(message, JSON.stringify(value)).toContain(`\`${name}\``);
      }
    }
  });
});

describe('a string in place of a list', () => {
  it.each<[string, unknown[], string]>([
    ['messaging.contacts.lookup', [{ emails: 'ann@example.com' }], '`emails`'],
    ['messaging.contacts.bulkDelete', [{ contactIds: 'con_1' }], '`contactIds`'],
    ['messaging.contacts.bulkSubscribe', [{ contactIds: 'con_1' }], '`contactIds`'],
    ['messaging.contacts.deleteAll', ['con_1'], '`contacts.deleteAll()`'],
    ['messaging.contacts.importAll', ['email'], '`contacts.importAll()`'],
    ['messaging.sendEach', ['ann@example.com', mail], '`sendEach()`'],
    ['messaging.segments.members.add', ['seg_1', { emails: 'ann@example.com' }], '`emails`'],
    ['messaging.send', [{ ...mail, attachments: 'file' }], '`attachments`'],
    ['media.generate.video', [{ payload: 'film' }], '`payload`'],
    ['media.waitForFiles', ['file_1'], '`fileIds`'],
  ])('is rejected, not read letter by letter: %s', async (sdk, args, words) => {
    expect((await refusalOf(sdk, ...args)).message).toContain(words);
  });
});

describe('a response that differs from its document', () => {
  const odd = { id: 7, email: 'ann@example.com', more: true };

  it('is returned, and reported as a `mismatch`', async () => {
    const client = messagingOver(answering(() => odd).fetch);
    const mismatches: MismatchEvent[] = [];
    client.on('mismatch', (event) => mismatches.push(event));
    await expect(client.contacts.get('con_1')).resolves.toEqual(odd);
    const where = { method: 'GET', path: '/contacts/con_1' };
    const issue = { field: 'id', message: 'must be a string; got 7' };
    expect(mismatches).toEqual([
      { ...where, issues: expect.arrayContaining([expect.objectContaining(issue)]) as object[] },
    ]);
  });

  it.each<[ValidationOptions['responses'], string | undefined]>([
    ['event', undefined],
    ['off', undefined],
    ['throw', 'RESPONSE_MISMATCH'],
  ])('with `responses: %j` rejects with %s', async (responses, code) => {
    const client = messagingOver(answering(() => odd).fetch, { validation: { responses } });
    const read = await client.contacts.get('con_1').safe();
    const changed = await client.contacts.update('con_1', { subscribed: true }).safe();
    expect([read.error?.code, changed.error?.code]).toEqual([code, code]);
    if (code) {
      expect(read.error?.message).toMatch(
        /^The response to GET \/contacts\/con_1 does not match the service's document: `/,
      );
      expect([read.error?.outcome, changed.error?.outcome]).toEqual(['rejected', 'unknown']);
    }
  });

  it.each(endpoints)(
    'by an extra or a missing field is never rejected: $sdk',
    async ({ sdk, path }) => {
      const isGenerate = /^media\.generate\.(video|audio)$/.test(sdk); // without an id of a file it is no answer
      const ids = { fileId: 'file_1', filesCreated: ['file_1'] };
      for (const body of [{}, { data: [] }, { data: [{ more: [1] }], more: { a: 1 } }]) {
        const { fetch } = answering(() => (isGenerate ? { ...ids, ...body } : body));
        const clients = { messaging: messagingOver(fetch), media: mediaOver(fetch) };
        clients.messaging.on('mismatch', () => undefined); // so that it is looked at
        clients.messaging.on('warning', () => undefined); // not printed
        const names = [...path.matchAll(/\{\w+\}/g)].map(() => 'id_1');
        const input = samples[sdk]?.body ?? samples[sdk]?.query;
        const args = [...names, ...(input === undefined ? [] : [input])];
        await expect(methodOf(clients, sdk)(...args)).resolves.not.toThrow();
      }
    },
  );

  it('is checked quickly, even if it is large and has many problems', async () => {
    const text = `{"data":[${'{"a":[]},'.repeat(199_999)}{}],"hasMore":false}`;
    for (const responses of ['event', 'throw'] as const) {
      const client = messagingOver(answering(() => new Response(text)).fetch, {
        validation: { responses },
      });
      const events: MismatchEvent[] = [];
      client.on('mismatch', (event) => events.push(event));
      const startedAt = performance.now();
      const error: unknown = await client.contacts.list().then(
        () => undefined,
        (failure: unknown) => failure,
      );
      expect(events).toHaveLength(1);
      expect(events[0]?.issues.length).toBeLessThanOrEqual(100);
      expect(((error as Error | undefined)?.message ?? '').length).toBeLessThan(1_500);
      expect(performance.now() - startedAt).toBeLessThan(20_000); // each item would take minutes
    }
  });
});

describe('checks that cannot be loaded', () => {
  async function clientWithout(validation: ValidationOptions) {
    vi.resetModules();
    vi.doMock('../../src/messaging/schemas.js', () => {
      throw new Error('404: chunk-3.js');
    });
    const { MessagingClient } = await import('postreel');
    const { fetch, requests } = answering(() => ({ id: 'con_1' }));
    const options = {
      apiKey: 'sk_1',
      baseUrl: 'https://messaging.test',
      rateLimit: false,
    } as const;
    const client = new MessagingClient({ ...options, fetch, validation });
    const warnings: string[] = [];
    client.on('warning', ({ message }) => warnings.push(message));
    return { client, requests, warnings };
  }

  it('prevent every request', async () => {
    const { client, requests } = await clientWithout({});
    for (let attempt = 1; attempt <= 2; attempt++) {
      const { error } = await client.contacts.create({ email: 'ann@example.com' }).safe();
      expect(error).toMatchObject({ code: 'SCHEMAS_MISSING', outcome: 'not-sent' });
      expect(error?.message).toContain("or set `validation: { requests: 'off' }`");
    }
    expect(requests).toEqual([]);
  });

  it('return every response unchecked, with one warning', async () => {
    const { client, warnings } = await clientWithout({ requests: 'off' });
    client.on('mismatch', () => undefined);
    await expect(client.contacts.get('con_1')).resolves.toEqual({ id: 'con_1' });
    await client.contacts.get('con_1');
    expect(warnings).toEqual([
      'The schemas could not be loaded. Responses cannot be checked until the schemas have loaded.',
    ]);
  });

  it('are not requested by a call without a check', async () => {
    const { client, warnings } = await clientWithout({ requests: 'off' });
    await client.contacts.create({ email: 'ann@example.com' });
    await client.contacts.get('con_1');
    expect(warnings).toEqual([]);
  });
});
