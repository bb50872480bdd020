import {
  and,
  isPostreelError,
  type MediaClient,
  MediaPool,
  memoryJournal,
  type MessagingClient,
  or,
} from 'postreel';
import { createInbox, verifyWebhook } from 'postreel/webhooks';
import { describe, expect, it } from 'vitest';
import type { Route } from '../../src/core/route.js';
import { routes as mediaRoutes } from '../../src/media/routes.js';
import { routes as messagingRoutes } from '../../src/messaging/routes.js';
import endpoints from '../../src/testing/endpoints.json' with { type: 'json' };
import { mediaOver, messagingOver } from '../support/clients.js';
import { samples } from '../support/contract/samples.js';
import { methodsOf } from '../support/methods-of.js';
import { holdLaw, type Subject } from './exceptions.js';

/** What becomes of a value that is none: it is refused, or the reason why it may stand. */
type Verdict = 'refused' | { readonly means: string };

type Named<T> = string extends T ? never : T extends string ? T : never;
type FieldsOf<T> = T extends unknown ? Named<keyof { [K in keyof T as Named<K>]: 1 }> : never;
type ManyIn<T> = T extends unknown
  ? {
      [K in FieldsOf<T> & keyof T]: [Extract<T[K], readonly unknown[]>] extends [never] ? never : K;
    }[FieldsOf<T> & keyof T]
  : never;
type IdsIn<T> = Extract<FieldsOf<T>, 'id' | 'template' | `${string}Id` | `${string}_id`>;

type Verdicts<Name extends string, Key extends string> = [Name] extends [never]
  ? { readonly [K in Key]?: never }
  : { readonly [K in Key]: { readonly [N in Name]: Verdict } };

/** For each row the fields of its body and query that take many, and those that are ids. */
type FactsFor<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Route<string, infer Query, infer Body>
    ? Verdicts<ManyIn<Query | Body>, 'many'> & Verdicts<IdsIn<Query | Body>, 'ids'>
    : FactsFor<Table[Name]>;
};

const refused = 'refused';
const leftOut = { means: 'a record that was returned: its own id is left out' };

/** An endpoint, or a field of one, that is not here does not compile. */
const rows: FactsFor<{ messaging: typeof messagingRoutes; media: typeof mediaRoutes }> = {
  messaging: {
    send: {
      many: { to: { means: 'one address' }, attachments: refused },
      ids: { template: refused },
    },
    track: {},
    verify: {},
    contacts: {
      list: {},
      create: {},
      get: {},
      update: {},
      delete: {},
      lookup: { many: { emails: refused } },
      fields: {
        list: {},
        values: {},
        usage: {},
        delete: {},
      },
      import: {},
      getImport: {},
      bulkSubscribe: { many: { contactIds: refused } },
      bulkUnsubscribe: { many: { contactIds: refused } },
      bulkDelete: { many: { contactIds: refused } },
      getBulkJob: {},
    },
    templates: {
      list: {},
      create: { ids: { id: leftOut } },
      get: {},
      update: { ids: { id: leftOut } },
      delete: {},
      duplicate: {},
      usage: {},
    },
    campaigns: {
      list: {},
      create: { ids: { id: leftOut, segmentId: refused } },
      get: {},
      replace: { ids: { id: leftOut, segmentId: refused } },
      delete: {},
      duplicate: {},
      send: {},
      cancel: {},
      sendTest: {},
      stats: {},
    },
    segments: {
      list: {},
      create: { ids: { id: leftOut } },
      get: {},
      update: {},
      delete: {},
      members: {
        list: {},
        add: { many: { emails: refused } },
        remove: { many: { emails: refused } },
      },
      compute: {},
      refresh: {},
    },
    workflows: {
      list: {},
      fields: {},
      create: { ids: { id: leftOut } },
      get: {},
      update: { ids: { id: leftOut } },
      delete: {},
      steps: {
        create: { ids: { id: leftOut } },
        update: { ids: { id: leftOut } },
        delete: {},
      },
      transitions: {
        create: { ids: { id: leftOut, fromStepId: refused, toStepId: refused } },
        delete: {},
      },
      executions: {
        start: { ids: { contactId: refused } },
        list: {},
        get: {},
        cancel: {},
        cancelAll: {},
      },
    },
    events: {
      track: {},
      list: {},
      stats: {},
      listForContact: {},
      names: {},
      usage: {},
      delete: {},
    },
    domains: {
      list: {},
      create: { ids: { id: leftOut, projectId: refused } },
      verify: {},
      delete: {},
    },
    activity: {
      list: {},
      stats: {},
      recentCount: {},
      types: {},
      upcoming: {},
    },
    analytics: {
      timeseries: {},
      topCampaigns: {},
      campaignStats: {},
      topEvents: {},
    },
    uploads: {
      image: {},
    },
    config: {
      get: {},
    },
    auth: {
      login: {},
      signup: {},
      logout: {},
      oauthConfig: {},
      verifyEmail: {},
      requestVerification: {},
      requestPasswordReset: {},
      resetPassword: {},
    },
    users: {
      me: {},
    },
    projects: {
      list: {},
      create: { ids: { id: leftOut } },
      update: { ids: { id: leftOut } },
      delete: {},
      regenerateKeys: {},
      billing: {
        createCheckout: {},
        createPortal: {},
        getLimits: {},
        setLimits: {},
        consumption: {},
        invoices: {},
      },
      securityReport: {},
      reset: {},
      setupState: {},
      securityState: {},
      members: {
        list: {},
        invite: {},
        updateRole: {},
        remove: {},
      },
    },
  },
  media: {
    generate: {
      video: { many: { payload: refused }, ids: { folderId: refused } },
      audio: {
        many: { pronunciations: refused },
        ids: { voiceId: refused, voiceStyleId: refused },
      },
      status: { ids: { fileId: refused } },
    },
  },
};

type Run = (value: never) => unknown;

/** What a parameter of a helper takes, beside what its endpoints take. */
interface Parameter {
  /** As the refusal names it; a method that takes rows names itself. */
  readonly name: string;
  readonly takes: 'many' | 'id' | 'any number';
  readonly run: Run;
}

const many = (name: string, run: Run): Parameter => ({ name, takes: 'many', run });
const id = (name: string, run: Run): Parameter => ({ name, takes: 'id', run });
/** A field of an open record: only a number that was rounded is certainly no id. */
const open = (name: string, run: Run): Parameter => ({ name, takes: 'any number', run });
const none: readonly Parameter[] = [];

/** The methods that are no endpoint. */
const helpersOf = (
  messaging: MessagingClient,
  media: MediaClient,
): Readonly<Record<string, readonly Parameter[]>> => ({
  'messaging.sendEach': [
    many('sendEach()', (rows) =>
      messaging.sendEach(rows, { from: 'shop@example.com', subject: 's', body: 'b' }),
    ),
  ],
  'messaging.verifyAll': [many('verifyAll()', (rows) => drained(messaging.verifyAll(rows)))],
  'messaging.with': none,
  'messaging.request': none, // a path and a body of one's own
  'messaging.on': none,
  'messaging.once': none,
  'messaging.off': none,
  'messaging.contacts.upsert': none, // `create`
  'messaging.contacts.findByEmail': [id('email', (one) => messaging.contacts.findByEmail(one))],
  'messaging.contacts.subscribe': [id('id', (one) => messaging.contacts.subscribe(one))],
  'messaging.contacts.unsubscribe': [id('id', (one) => messaging.contacts.unsubscribe(one))],
  'messaging.contacts.lookupAll': [
    many('contacts.lookupAll()', (rows) => drained(messaging.contacts.lookupAll(rows))),
  ],
  'messaging.contacts.importAll': [
    many('contacts.importAll()', (rows) => messaging.contacts.importAll(rows)),
  ],
  'messaging.contacts.waitForImport': [id('jobId', (one) => messaging.contacts.waitForImport(one))],
  'messaging.contacts.subscribeAll': [
    many('contacts.subscribeAll()', (rows) => messaging.contacts.subscribeAll(rows)),
    id('[0]', (one) => firstFailure(messaging.contacts.subscribeAll([one]))),
  ],
  'messaging.contacts.unsubscribeAll': [
    many('contacts.unsubscribeAll()', (rows) => messaging.contacts.unsubscribeAll(rows)),
    id('[0]', (one) => firstFailure(messaging.contacts.unsubscribeAll([one]))),
  ],
  'messaging.contacts.deleteAll': [
    many('contacts.deleteAll()', (rows) => messaging.contacts.deleteAll(rows)),
    id('[0]', (one) => firstFailure(messaging.contacts.deleteAll([one]))),
  ],
  'messaging.contacts.waitForBulkJob': [
    id('jobId', (one) => messaging.contacts.waitForBulkJob(one)),
  ],
  'messaging.contacts.fields.check': none,
  'messaging.templates.variables': none,
  'messaging.templates.render': none,
  'messaging.campaigns.sendNow': [id('id', (one) => messaging.campaigns.sendNow(one))],
  'messaging.campaigns.schedule': [
    id('id', (one) => messaging.campaigns.schedule(one, new Date(Date.now() + 3_600_000))),
  ],
  'messaging.campaigns.edit': [id('id', (one) => messaging.campaigns.edit(one, () => undefined))],
  'messaging.campaigns.preview': [id('id', (one) => messaging.campaigns.preview(one))],
  'messaging.campaigns.waitUntilSent': [id('id', (one) => messaging.campaigns.waitUntilSent(one))],
  'messaging.workflows.deploy': none, // ids are its own, in the state
  'messaging.workflows.pull': [id('id', (one) => messaging.workflows.pull(one))],
  'messaging.workflows.executions.wait': [
    id('id', (one) => messaging.workflows.executions.wait(one, 'run_1')),
    id('executionId', (one) => messaging.workflows.executions.wait('wf_1', one)),
  ],
  'messaging.domains.waitUntilVerified': [
    id('id', (one) => messaging.domains.waitUntilVerified(one)),
  ],
  'messaging.rateLimit.state': none,
  'messaging.filters.where': none,
  'messaging.filters.and': [many('and', (parts) => messaging.filters.and(parts))],
  'messaging.filters.or': [many('or', (parts) => messaging.filters.or(parts))],
  'media.job': [id('fileId', (fileId) => media.job({ fileId, kind: 'video' }))],
  'media.waitForFile': [id('fileId', (one) => media.waitForFile(one))],
  'media.waitForFiles': [
    many('fileIds', (list) => media.waitForFiles(list)),
    id('fileId', (one) => media.waitForFiles([one], { settle: 'first-error' })),
  ],
  'media.watch': [id('fileId', (one) => drained(media.watch(one)))],
  'media.queue': [many('jobs', (jobs) => drained(media.queue(jobs)))],
  'media.joinAudio': [many('files', (files) => media.joinAudio(files))],
  'media.resumeAll': none,
  'media.with': none,
  'media.request': none,
  'media.on': none,
  'media.once': none,
  'media.off': none,
  'media.generate.longAudio': none, // the body of `audio`
  'media.journal.pending': none,
  'media.journal.acknowledge': [id('fileId', (one) => media.journal.acknowledge(one))],
  'media.journal.dismiss': [id('id', (one) => media.journal.dismiss(one))],
  'media.journal.resolve': [
    many('fileIds', (list) => media.journal.resolve('call_1', list)),
    id('fileIds', (one) => media.journal.resolve('call_1', [one])),
  ],
  'media.rateLimit.state': none,
});

/** What no method of a client takes. */
const othersOf = (messaging: MessagingClient, media: MediaClient): readonly Parameter[] => [
  many('clients', (clients) => new MediaPool(clients)),
  many('jobs', (jobs) => drained(new MediaPool([media]).queue(jobs))),
  many('and', (parts) => and(parts)),
  many('or', (parts) => or(parts)),
  many('ids', (ids) => messaging.contacts.bulkDelete({ ids })),
  many('addresses', (addresses) => messaging.contacts.lookup({ addresses })),
  many('payload[0].mediaUrls', (mediaUrls) =>
    media.generate.video({ payload: [{ ...videoOf(), visuals: 'library', mediaUrls }] }),
  ),
  ...['voiceId', 'templateId', 'brandId', 'subtitlePresetId'].map((name) =>
    id(`payload[0].${name}`, (one) =>
      media.generate.video({ payload: [{ ...videoOf(), [name]: one }] }),
    ),
  ),
  open('contactId', (contactId) => messaging.activity.list({ contactId }).toArray()),
  open('config.templateId', (templateId) =>
    messaging.workflows.steps.create('wf_1', { type: 'SEND_EMAIL', config: { templateId } }),
  ),
  id('contactIds', (one) => messaging.contacts.bulkDelete({ contactIds: [one] })),
];

const videoOf = () =>
  ({ workflowType: 'idea', workflowFormat: 'video', prompt: 'Cats', voiceId: 'v' }) as const;

const notIds = [2 ** 53, 1e21, NaN, -1, 1.5];
const valuesOf: Readonly<Record<Parameter['takes'], readonly unknown[]>> = {
  many: ['ann@example.com', '123', ''],
  id: notIds,
  'any number': [2 ** 53, 1e21],
};

let sent = 0;
const network = () => {
  sent += 1;
  // A refused key ends whatever would go on.
  return Promise.resolve(Response.json({ error: 'no' }, { status: 401 }));
};
const messaging = messagingOver(network);
const media = mediaOver(network, { journal: memoryJournal() });
const helpers = helpersOf(messaging, media);
const clients = { messaging, media };

const outward = (): Subject[] => [
  ...endpoints.flatMap(({ sdk }) => subjectsOf(sdk)),
  ...Object.entries(helpers).flatMap(([name, parameters]) =>
    parameters.map((parameter) => subjectOf(name, parameter)),
  ),
  ...othersOf(messaging, media).map((parameter, index) => subjectOf(`other ${index}`, parameter)),
];

/** The ids in the path of an endpoint, and the fields of its body and query. */
function subjectsOf(sdk: string): Subject[] {
  const row = at(tables, sdk) as Route;
  const verdicts = at(rows, sdk) as Partial<Record<'many' | 'ids', Record<string, Verdict>>>;
  const sample = samples[sdk] ?? {};
  const input = sample.body ?? sample.query;
  const names = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const call = (ids: readonly unknown[], body: unknown) =>
    methodOf(sdk)(...ids, ...(body === undefined ? [] : [body]));
  const good = names.map(() => 'id_1');
  const inPath = names.map((name, place) => id(name, (one) => call(good.with(place, one), input)));
  const inBody = (['many', 'ids'] as const).flatMap((kind) =>
    Object.entries(verdicts[kind] ?? {}).flatMap(([name, verdict]) =>
      verdict === refused
        ? [
            (kind === 'many' ? many : id)(name, (one) =>
              call(good, { ...(input ?? {}), [name]: one }),
            ),
          ]
        : [],
    ),
  );
  return [...inPath, ...inBody].map((parameter) => subjectOf(sdk, parameter));
}

function subjectOf(method: string, { name, takes, run }: Parameter): Subject {
  const named = name.startsWith('[') ? name : `\`${name}`;
  const values = valuesOf[takes];
  return {
    name: `${method}: ${name} takes ${takes === 'many' ? 'no text' : 'no unsafe number'}`,
    check: async () => {
      for (const value of values) {
        const before = sent;
        const end = await endOf(() => run(value as never)); // on purpose
        expect(sent, `${String(value)} does not reach the network`).toBe(before);
        expect(end, `${String(value)} is refused by name`).toContain(named);
      }
    },
  };
}

/** The message with which a call is refused before anything is done. */
async function endOf(run: () => unknown): Promise<string> {
  try {
    await run();
    return 'ok';
  } catch (failure) {
    const isRefusal = isPostreelError(failure) && /^INVALID_/.test(failure.code);
    return isRefusal ? failure.message : `no refusal, but ${String(failure).replaceAll('`', '')}`;
  }
}

async function drained(items: AsyncIterable<unknown>): Promise<void> {
  for await (const item of items) {
    expect(item, 'something came').toBeDefined();
  }
}

// A row that is no id fails by itself.
async function firstFailure(report: Promise<{ failed: { error: unknown }[] }>): Promise<void> {
  const { failed } = await report;
  if (failed[0]) {
    throw failed[0].error;
  }
}

const tables = { messaging: messagingRoutes, media: mediaRoutes };

function at(root: object, path: string): object {
  return path.split('.').reduce((owner, name) => Reflect.get(owner, name) as object, root);
}

function methodOf(sdk: string, of: object = clients): (...args: unknown[]) => unknown {
  const dot = sdk.lastIndexOf('.');
  const owner = at(of, sdk.slice(0, dot));
  const method = Reflect.get(owner, sdk.slice(dot + 1)) as (...args: unknown[]) => unknown;
  return method.bind(owner);
}

/** Numbers that JSON.parse() rounds, and one that it does not, though it is not safe either. */
const longIds = ['12345678901234567890', '9007199254740993', '9007199254740994'];

const inward = (): Subject[] => [
  ...endpoints.map(({ sdk }) => ({
    name: `${sdk}: an id that is a long number in the answer`,
    check: () => Promise.all(longIds.map((digits) => readsExactly(sdk, digits))),
  })),
  {
    name: 'verifyWebhook(): an id that is a long number',
    check: () => Promise.all(longIds.map(receivesExactly)),
  },
  {
    name: 'verifyWebhook(): a number that a parser has rounded',
    check: async () => {
      const inbox = createInbox({ secret });
      const url = await inbox.url('https://shop.example/done');
      const body = { success: false, data: { id: 12345678901234567890 } }; // eslint-disable-line no-loss-of-precision -- on purpose
      await expect(verifyWebhook({ url, body }, { secret })).rejects.toThrow('`data.id`');
    },
  },
  {
    name: 'sendEach(): the id of an email that is a long number',
    check: async () => {
      const ids: unknown[] = [];
      await answeredBy(longAnswer('12345678901234567890')).messaging.sendEach(
        ['ann@example.com'],
        { from: 'shop@example.com', subject: 's', body: 'b' },
        { onResult: (result) => ids.push(result) },
      );
      expect(ids).toMatchObject([{ id: '12345678901234567890' }]);
    },
  },
];

const secret = 'a secret of at least 16 characters';

/** An answer that is everything at once: a record, an envelope, a list. */
function longAnswer(digits: string, isList = false): string {
  const record = `{"id":${digits},"fileId":${digits},"jobId":${digits},"user_id":${digits},"contact":${digits},"event":${digits},"folderId":${digits},"filesCreated":[${digits}],"contactIds":[${digits}],"emails":[{"contact":{"id":${digits}},"email":${digits}}],"status":"success","progress":1,"note":"a text with : ${digits}, in it \\" : ${digits}"}`;
  return isList
    ? `{"data":[${record}],"hasMore":true,"cursor":${digits},"total":1}`
    : `{"success":true,"data":${record}}`;
}

function answeredBy(text: string) {
  const fetch = () =>
    Promise.resolve(new Response(text, { headers: { 'content-type': 'application/json' } }));
  return { messaging: messagingOver(fetch), media: mediaOver(fetch) };
}

async function readsExactly(sdk: string, digits: string): Promise<void> {
  const row = at(tables, sdk) as Route;
  const sample = samples[sdk] ?? {};
  const input = sample.body ?? sample.query;
  const ids = [...row.path.matchAll(/\{/g)].map(() => 'id_1');
  const own = answeredBy(longAnswer(digits, row.returns.list !== undefined));
  const result: unknown = await methodOf(sdk, own)(...ids, ...(input === undefined ? [] : [input]));
  expect(unsafeIn(result), 'no number that is not safe').toEqual([]);
  expect(JSON.stringify(result), 'the same digits').toContain(`"${digits}"`);
}

async function receivesExactly(digits: string): Promise<void> {
  const inbox = createInbox({ secret });
  const url = await inbox.url('https://shop.example/done');
  const body = `{"success":false,"data":{"id":${digits}}}`;
  await expect(verifyWebhook({ url, body }, { secret })).resolves.toMatchObject({ fileId: digits });
}

function unsafeIn(value: unknown): unknown[] {
  if (typeof value === 'number') {
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? [value] : [];
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(unsafeIn) : [];
}

describe('law 2', () => {
  it('knows every method of both clients', () => {
    const known = new Set([...endpoints.map(({ sdk }) => sdk), ...Object.keys(helpers)]);
    const methods = [
      ...methodsOf(messaging, 'messaging').keys(),
      ...methodsOf(media, 'media').keys(),
    ];
    expect(methods.filter((name) => !known.has(name))).toEqual([]);
    expect([...known].filter((name) => !methods.includes(name))).toEqual([]);
  });

  it('a text is no list, and no id that was rounded is sent', async () => {
    await holdLaw('law 2, a text is no list and an id is what it was', outward());
  });

  it('an id that is a long number is read as its digits, never rounded', async () => {
    await holdLaw('law 2, an id of an answer is what it was', inward());
  });
});
