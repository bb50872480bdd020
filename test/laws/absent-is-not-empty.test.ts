import {
  GenerationCanceledError,
  GenerationFailedError,
  isPostreelError,
  JobFailedError,
  memoryWorkflowState,
  PartialError,
  type MediaClient,
  type MessagingClient,
} from 'postreel';
import { createFakeMedia, createFakeMessaging, type FakeMessaging } from 'postreel/testing';
import { createInbox, verifyWebhook } from 'postreel/webhooks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { mediaOver, messagingOver } from '../support/clients.js';
import { furnish } from '../support/furnished-project.js';
import { onboarding } from '../support/messaging/onboarding.js';
import { settledInTime } from '../support/settled.js';
import { confirm } from '../../src/webhooks/receive/confirm.js';
import { holdLaw, type Subject } from './exceptions.js';

type Json = null | boolean | number | string | Json[] | { [field: string]: Json };

/** One call of the package that reads answers and acts upon them. */
interface Flow {
  readonly name: string;
  readonly run: (clients: Clients) => Promise<unknown>;
  /** What the flow says to have happened; it must not say more for an answer that was harmed. */
  readonly claim?: (result: never) => unknown;
  /** Does it wait for an end that a status check tells? One wrong sample changes nothing then. */
  readonly isWait?: true;
  /** The fields without which the flow must not write. */
  readonly grounds?: RegExp;
  /** Does it only delete what an answer leaves free? */
  readonly isGuard?: true;
}

interface Clients {
  readonly messaging: MessagingClient;
  readonly media: MediaClient;
  readonly fake: FakeMessaging;
}

/** An answer as it goes by: the endpoint, how often it was asked before, and its body. */
interface Passing {
  readonly endpoint: string;
  readonly index: number;
  readonly body: Json;
}

type Harm = (answer: Passing) => Response | undefined;

const unharmed: Harm = () => undefined;
const rows = Array.from({ length: 3 }, (_, index) => ({ email: `new-${index}@example.com` }));
const counts = ({ done, failed }: { done: number; failed: unknown[] }) => ({
  done,
  failed: failed.length,
});
const statusIn = ({ status }: { status?: unknown }) => status;
const video = {
  workflowType: 'idea',
  workflowFormat: 'video',
  prompt: 'Cats',
  voiceId: 'voice_1',
} as const;
const speech = { content: 'Hello', voiceId: 'voice_1' };

const flows: readonly Flow[] = [
  {
    name: 'contacts.importAll()',
    run: ({ messaging }) => messaging.contacts.importAll(rows),
    claim: counts,
    isWait: true,
  },
  {
    name: 'contacts.deleteAll()',
    run: ({ messaging }) => messaging.contacts.deleteAll(['con_1', 'con_2']),
    claim: counts,
    isWait: true,
  },
  {
    name: 'contacts.subscribeAll()',
    run: ({ messaging }) => messaging.contacts.subscribeAll(['con_1', 'con_2']),
    claim: counts,
    isWait: true,
  },
  {
    name: 'contacts.unsubscribe()',
    run: ({ messaging }) => messaging.contacts.unsubscribe('ann@example.com'),
    grounds: /^data\.0\.(id|email)$/,
  },
  {
    name: 'contacts.subscribe()',
    run: ({ messaging }) => messaging.contacts.subscribe('bea@example.com'),
    grounds: /^data\.0\.(id|email)$/,
  },
  {
    name: 'contacts.upsert() of what was found',
    run: async ({ messaging }) => {
      const found = await messaging.contacts.findByEmail('ann@example.com');
      return found && messaging.contacts.upsert({ ...found, data: { plan: 'free' } });
    },
  },
  {
    name: 'contacts.waitForImport()',
    run: async ({ messaging }) => {
      const { jobId } = await messaging.contacts.import({ data: 'email\nx@example.com\n' });
      return messaging.contacts.waitForImport(jobId);
    },
    claim: statusIn,
    isWait: true,
  },
  {
    name: 'contacts.waitForBulkJob()',
    run: async ({ messaging }) => {
      const { jobId } = await messaging.contacts.bulkDelete({ contactIds: ['con_1'] });
      return messaging.contacts.waitForBulkJob(jobId);
    },
    claim: statusIn,
    isWait: true,
  },
  {
    name: 'contacts.fields.delete(ifUnused)',
    run: ({ messaging }) => messaging.contacts.fields.delete('data.plan', { ifUnused: true }),
    isGuard: true,
  },
  {
    name: 'events.delete(ifUnused)',
    run: ({ messaging }) => messaging.events.delete('paid', { ifUnused: true }),
    isGuard: true,
  },
  {
    name: 'campaigns.edit()',
    run: ({ messaging }) =>
      messaging.campaigns.edit('cam_spring', (draft) => {
        draft.subject = 'Summer';
      }),
  },
  {
    name: 'campaigns.waitUntilSent()',
    run: async ({ messaging }) => {
      await messaging.campaigns.sendNow('cam_spring');
      return messaging.campaigns.waitUntilSent('cam_spring', { timeout: 600_000 });
    },
    claim: statusIn,
    isWait: true,
  },
  {
    name: 'domains.waitUntilVerified()',
    run: async ({ messaging, fake }) => {
      const { id } = await messaging.domains.create({
        projectId: fake.project.id,
        domain: 'mail.shop.test',
      });
      const wait = messaging.domains.waitUntilVerified(id, {
        onUpdate: () => void fake.project.dns.add('mail.shop.test'),
      });
      return wait;
    },
    // Either is enough.
    claim: ({ status, verified }: { status?: unknown; verified?: unknown }) =>
      status === 'verified' || verified === true,
    isWait: true,
  },
  {
    name: 'workflows.deploy()',
    run: async ({ messaging }) => {
      const state = memoryWorkflowState();
      await messaging.workflows.deploy(onboarding, { state });
      return messaging.workflows.deploy({ ...onboarding, name: 'Other' }, { state });
    },
  },
  {
    name: 'workflows.deploy() of what is there',
    run: async ({ messaging }) => {
      await messaging.workflows.deploy(onboarding, { state: memoryWorkflowState() });
      return messaging.workflows.deploy(onboarding, { state: memoryWorkflowState() });
    },
  },
  {
    name: 'workflows.pull()',
    run: async ({ messaging }) => {
      const state = memoryWorkflowState();
      const { workflowId } = await messaging.workflows.deploy(onboarding, { state });
      return messaging.workflows.pull(workflowId ?? '');
    },
  },
  {
    name: 'workflows.executions.wait()',
    run: async ({ messaging }) => {
      const { workflows, contacts } = messaging;
      const { id } = await workflows.create({ name: 'Wait' });
      await workflows.steps.create(id, { type: 'DELAY', config: { duration: '1m' } });
      await workflows.update(id, { enabled: true });
      const contact = await contacts.create({ email: 'new@example.com' });
      const execution = await workflows.executions.start(id, { contactId: contact.id });
      return workflows.executions.wait(id, execution.id);
    },
    claim: statusIn,
    isWait: true,
  },
  {
    name: 'projects.regenerateKeys(swapKey)',
    run: async ({ messaging, fake }) => {
      await messaging.projects.regenerateKeys(fake.project.id, { swapKey: true });
      return messaging.contacts.get('con_1');
    },
  },
  {
    name: 'sendEach()',
    run: ({ messaging }) =>
      messaging.sendEach(['ann@example.com', 'new@example.com'], {
        from: 'shop@example.com',
        subject: 's',
        body: 'b',
      }),
    claim: counts,
  },
  {
    name: 'contacts.list()',
    run: ({ messaging }) => messaging.contacts.list().toArray(),
  },
  {
    name: 'templates.list()',
    run: ({ messaging }) => messaging.templates.list().toArray(),
  },
  {
    name: 'segments.members.list()',
    run: ({ messaging }) => messaging.segments.members.list('seg_vip').toArray(),
  },
  {
    name: 'generate.video() and its file',
    run: async ({ media }) => {
      const [job] = await media.generate.video({ payload: [video] });
      return job!.waitForFile(); // one job was submitted
    },
    claim: ({ url }: { url?: string }) => url,
    isWait: true,
  },
  {
    name: 'generate.audio() and its file',
    run: async ({ media }) => (await media.generate.audio(speech)).waitForFile(),
    claim: ({ url }: { url?: string }) => url,
    isWait: true,
  },
  {
    name: 'a download',
    run: async ({ media }) => {
      const file = await (await media.generate.audio(speech)).waitForFile();
      return file.arrayBuffer();
    },
    claim: ({ byteLength }: { byteLength?: number }) => byteLength,
    isWait: true,
  },
  {
    name: 'the confirmation of a callback',
    run: async ({ media }) => {
      const { fileId } = await media.generate.audio(speech);
      await new Promise((resolve) => setTimeout(resolve, 3_600_000));
      const result = {
        fileId,
        status: 'success',
        url: 'https://evil.test/f.mp3',
        raw: {},
      } as const;
      return confirm(result, (id) => media.generate.status({ fileId: id }));
    },
    claim: ({ status, url }: { status?: unknown; url?: unknown }) =>
      `${String(status)} ${String(url)}`,
  },
  {
    name: 'media.waitForFiles()',
    run: async ({ media }) => {
      const jobs = await media.generate.video({ payload: [video, video] });
      return media.waitForFiles(jobs.map(({ fileId }) => fileId));
    },
    claim: (files: { file?: unknown; error?: unknown }[]) =>
      files.map(({ file, error }) => (isVerdict(error) ? 'failed' : file !== undefined)),
    isWait: true,
  },
  {
    name: 'media.queue()',
    run: async ({ media }) => {
      const results: unknown[] = [];
      for await (const result of media.queue([video, speech], { timeout: 3_600_000 })) {
        results[result.index] = result;
      }
      return results;
    },
    claim: (files: { file?: unknown; error?: unknown }[]) =>
      files.map(({ file, error }) => (isVerdict(error) ? 'failed' : file !== undefined)),
    isWait: true,
  },
];

const bases = { messaging: 'https://messaging.fake', media: 'https://media.fake' };

/** Runs a flow in a new world, and keeps what it was answered and what it wrote. */
async function live(flow: Flow, harm: Harm) {
  const clock = { now: () => Date.now() };
  const fake = createFakeMessaging({ clock });
  const fakeMedia = createFakeMedia({ clock });
  furnish(fake);
  const writes: string[] = [];
  const answers: Passing[] = [];
  const keys = new Set<string | null>();
  const firstKey = fake.secretKey;
  const seen = new Map<string, number>();
  const fetch =
    (service: typeof fake.fetch): typeof fake.fetch =>
    async (input, init) => {
      const request = new Request(input, init);
      const endpoint = `${request.method} ${new URL(request.url).pathname.replace(/\/\w+_[\w-]+/g, '/{id}')}`;
      if (request.method !== 'GET') {
        writes.push(endpoint);
      }
      keys.add(request.headers.get('authorization'));
      const response = await service(request);
      const text = await response.clone().text();
      const index = seen.get(endpoint) ?? 0;
      seen.set(endpoint, index + 1);
      const isJson = response.ok && /^[[{]/.test(text);
      const passing = { endpoint, index, body: isJson ? (JSON.parse(text) as Json) : null };
      if (isJson) {
        answers.push(passing);
      }
      return (isJson ? harm(passing) : undefined) ?? response;
    };
  const mismatches: unknown[] = [];
  const messaging = messagingOver(fetch(fake.fetch), {
    apiKey: fake.secretKey,
    baseUrl: bases.messaging,
  });
  const media = mediaOver(fetch(fakeMedia.fetch), {
    apiKey: fakeMedia.apiKey,
    baseUrl: bases.media,
  });
  messaging.on('mismatch', (event) => mismatches.push(event));
  messaging.on('warning', () => undefined);
  media.on('warning', () => undefined);
  const { value, error } = await settledInTime(() => flow.run({ messaging, media, fake }));
  const known = [firstKey, fake.project.secretKey, fakeMedia.apiKey];
  for (const key of known) {
    keys.delete(`Bearer ${key}`);
  }
  keys.delete(null); // downloads carry none
  expect([...keys], 'no other key is ever sent').toEqual([]);
  return { value, error, writes: writes.sort(), answers, mismatches };
}

type Life = Awaited<ReturnType<typeof live>>;

/** What a life says to have happened: its claim, the verdict on a job, or that it does not know. */
function claimOf(flow: Flow, { value, error }: Life): unknown {
  if (error instanceof PartialError) {
    return flow.claim?.(error.result as never);
  }
  if (error !== undefined) {
    return isVerdict(error) ? 'a verdict' : 'not known';
  }
  return flow.claim ? flow.claim(value as never) : 'ended';
}

function isVerdict(error: unknown): boolean {
  return (
    error instanceof JobFailedError ||
    error instanceof GenerationFailedError ||
    error instanceof GenerationCanceledError
  );
}

/** Every place of a body, as a path; of a list the first item stands for all. */
function placesIn(body: Json, path: readonly (string | number)[] = []): (string | number)[][] {
  if (path.length > 4 || typeof body !== 'object' || body === null) {
    return [];
  }
  const entries: [string | number, Json][] = Array.isArray(body)
    ? body.slice(0, 1).map((item, index) => [index, item])
    : Object.entries(body);
  return entries.flatMap(([name, value]) => [
    ...(typeof name === 'string' ? [[...path, name]] : []),
    ...placesIn(value, [...path, name]),
  ]);
}

const harms: Readonly<Record<string, (holder: Record<string, Json>, name: string) => void>> = {
  'left out': (holder, name) => void Reflect.deleteProperty(holder, name),
  null: (holder, name) => {
    holder[name] = null;
  },
  'another type': (holder, name) => {
    const value = holder[name] ?? null;
    holder[name] = typeof value === 'object' ? 'x' : { odd: true };
  },
};

function harmed(body: Json, path: readonly (string | number)[], kind: string): Json {
  const copy = structuredClone(body);
  const name = path.at(-1);
  const holder = path
    .slice(0, -1)
    .reduce<Json>((value, step) => Reflect.get(value as object, step) as Json, copy);
  if (typeof name === 'string' && typeof holder === 'object' && holder !== null) {
    harms[kind]?.(holder as Record<string, Json>, name);
  }
  return copy;
}

const json = (body: Json, status = 200) => Response.json(body, { status });

/** What one answer to a status check may be, wrongly. */
const wrongs: Readonly<Record<string, (body: Json) => Response>> = {
  'a 404': () => json({ error: 'not found' }, 404),
  'a 400': () => json({ error: 'bad' }, 400),
  'a 200 with {}': () => json({}),
  'a 200 with null': () => json(null),
  'success: false': () => json({ success: false, error: 'no' }),
  'a word that is not known': (body) => json(withWord(body)),
};

function withWord(body: Json): Json {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return body;
  }
  const { status, data } = body;
  return status === undefined && typeof data === 'object'
    ? { ...body, data: withWord(data) }
    : { ...body, status: 'WARMING_UP', verified: false };
}

/** The subjects of a flow: each field of each answer that it reads, and each check answered wrongly once. */
async function subjectsOf(flow: Flow): Promise<Subject[]> {
  const whole = await live(flow, unharmed);
  expect(whole.error, flow.name).toBeUndefined();
  const claim = claimOf(flow, whole);
  const endpoints = [...new Map(whole.answers.map((one) => [one.endpoint, one]))];
  const byField = endpoints.flatMap(([endpoint, { body }]) =>
    placesIn(body).map((path): Subject => ({
      name: `${flow.name}: ${endpoint} ${path.join('.')}`,
      check: async () => {
        for (const kind of Object.keys(harms)) {
          const harm: Harm = (one) =>
            one.endpoint === endpoint ? json(harmed(one.body, path, kind)) : undefined;
          const life = await live(flow, harm);
          expect(extra(life.writes, whole.writes), `${kind}: writes nothing more`).toEqual([]);
          expect(saysMore(claimOf(flow, life), claim), `${kind}: claims nothing more`).toBe(false);
          if (endpoint.startsWith('GET ') && flow.grounds?.test(path.join('.'))) {
            expect(life.writes, `${kind}: writes nothing`).toEqual([]);
          }
        }
      },
    })),
  );
  const reads = whole.answers.filter(({ endpoint }) => endpoint.startsWith('GET '));
  const places = Object.entries({
    first: reads[0],
    last: reads.length > 1 ? reads.at(-1) : undefined,
  });
  const checks = places.flatMap(([place, read]) => (read ? [{ place, ...read }] : []));
  const byCheck = checks.flatMap(({ place, endpoint, index }) =>
    Object.entries(wrongs).map(([label, wrong]): Subject => ({
      name: `${flow.name}: ${label} once for the ${place} ${endpoint}`,
      check: async () => {
        const harm: Harm = (one) =>
          one.endpoint === endpoint && one.index === index ? wrong(one.body) : undefined;
        const life = await live(flow, harm);
        expect(extra(life.writes, whole.writes), 'writes nothing more').toEqual([]);
        if (flow.isGuard && !label.startsWith('a word')) {
          expect(life.writes, 'deletes nothing').toEqual([]);
        }
        if (flow.isWait) {
          expect(claimOf(flow, life), 'ends as without it').toEqual(claim);
        } else {
          expect(saysMore(claimOf(flow, life), claim), 'claims nothing more').toBe(false);
        }
      },
    })),
  );
  return [...byField, ...byCheck];
}

/** The writes that were not among the others. */
function extra(writes: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return writes.filter((write) => {
    const place = left.indexOf(write);
    left.splice(place, place < 0 ? 0 : 1);
    return place < 0;
  });
}

/** Does a claim go beyond that of the life without harm? */
function saysMore(claim: unknown, whole: unknown): boolean {
  if (Array.isArray(claim) && Array.isArray(whole)) {
    return claim.some((one, index) => one !== false && one !== whole[index]);
  }
  const isLess = claim === 'not known' || JSON.stringify(claim) === JSON.stringify(whole);
  if (isLess || typeof claim !== 'object' || claim === null || Array.isArray(claim)) {
    return !isLess && claim !== undefined;
  }
  const { done, failed } = claim as { done: number; failed: number };
  const most = whole as { done: number; failed: number };
  return done > most.done || failed > most.failed;
}

const secret = 'a secret of at least 16 characters';

/** The body of a callback, harmed: it is refused, and never told as an end. */
const callbacks = (): Subject[] => {
  const bodies = {
    success: { success: true, data: { id: 'file_1', file: 'https://cdn.test/f.mp3' } },
    failure: { success: false, data: { id: 'file_1' } },
  };
  return Object.entries(bodies).flatMap(([name, body]) =>
    placesIn(body).map((path) => ({
      name: `a callback of ${name}: ${path.join('.')}`,
      check: async () => {
        for (const kind of Object.keys(harms)) {
          const url = await createInbox({ secret }).url('https://shop.example/');
          const call = verifyWebhook({ url, body: harmed(body, path, kind) }, { secret });
          await expect(call, kind).rejects.toThrow("The callback's body cannot be read");
        }
      },
    })),
  );
};

const bytes = new TextEncoder().encode('the bytes of a file');
const cut = 7;

/** A server of files that breaks the first connection off after a few bytes. */
function cutting(change: (headers: Headers) => void): typeof fetch {
  let requests = 0;
  return (_url, init) => {
    const range = new Headers(init?.headers).get('range');
    const from = Number(/bytes=(\d+)-/.exec(range ?? '')?.[1] ?? 0);
    const isFirst = requests++ === 0;
    const headers = new Headers({
      'content-type': 'video/mp4',
      'content-length': String(bytes.length - from),
      etag: '"one"',
      'accept-ranges': 'bytes',
    });
    if (from > 0) {
      headers.set('content-range', `bytes ${from}-${bytes.length - 1}/${bytes.length}`);
    }
    change(headers);
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(isFirst ? bytes.slice(0, cut) : bytes.slice(from));
        if (!isFirst) {
          controller.close();
        }
      },
      pull: (controller) => controller.error(new Error('cut')),
    });
    return Promise.resolve(new Response(body, { status: from > 0 ? 206 : 200, headers }));
  };
}

/** What a server of files says about them, harmed: the bytes are right, or the download rejects. */
const downloads = (): Subject[] => {
  const names = ['content-length', 'content-range', 'etag', 'accept-ranges', 'content-type'];
  const changes: Readonly<Record<string, (headers: Headers, name: string) => void>> = {
    'left out': (headers, name) => headers.delete(name),
    empty: (headers, name) => headers.set(name, ''),
    'another word': (headers, name) => headers.set(name, 'x'),
  };
  return names.flatMap((name) =>
    Object.entries(changes).map(([label, change]) => ({
      name: `a download whose ${name} is ${label}`,
      check: async () => {
        const cdn = cutting((headers) => change(headers, name));
        const record = { fileId: 'file_1', status: 'success', download: 'https://cdn.test/f.mp4' };
        const media = mediaOver(async (input, init) => {
          const url = input instanceof Request ? input.url : String(input);
          return url.startsWith('https://cdn.test') ? cdn(input, init) : json(record);
        });
        const { value, error } = await settledInTime(async () =>
          (await media.waitForFile('file_1')).arrayBuffer(),
        );
        if (error === undefined) {
          expect(new Uint8Array(value ?? new ArrayBuffer(0))).toEqual(bytes);
        } else {
          expect(error).toSatisfy(isPostreelError);
        }
      },
    })),
  );
};

beforeAll(() => void vi.useFakeTimers());
afterAll(() => void vi.useRealTimers());

describe('law 5', () => {
  it('absent is not empty, and one sample is no fact', async () => {
    const subjects: Subject[] = [...callbacks(), ...downloads()];
    for (const flow of flows) {
      subjects.push(...(await subjectsOf(flow)));
    }
    await holdLaw('law 5, absent is not empty', subjects);
  });
});
