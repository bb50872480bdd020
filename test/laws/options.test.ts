import {
  MediaClient,
  MediaPool,
  MessagingClient,
  type BulkAllOptions,
  type DataOptions,
  type DownloadOptions,
  type EventDeleteOptions,
  type FieldDeleteOptions,
  type ImportAllOptions,
  type ListOptions,
  type MediaOptions,
  type MediaRateLimitOptions,
  type MessagingOptions,
  type QueueOptions,
  type RegenerateOptions,
  type RequestOptions,
  type SendEachOptions,
  type SpendingCaps,
  type TransferOptions,
  type ValidationOptions,
  type WaitOptions,
  type WorkflowDeleteOptions,
} from 'postreel';
import { afterAll, beforeAll, describe, it, vi } from 'vitest';
import type { JobWaitOptions } from '../../src/core/wait.js';
import type { RecordWaitOptions } from '../../src/core/wait.js';
import { answering, mediaOver, messagingOver } from '../support/clients.js';
import { memoryStore } from '../support/transport/memory-store.js';
import { holdLaw, type Subject } from './exceptions.js';
import { fails, subjectsOf, type Door, type Samples } from './option-subjects.js';

const { fetch } = answering((request) => {
  const isList = /\/contacts$/.test(new URL(request.url).pathname) && request.method === 'GET';
  return isList
    ? { data: [{ id: 'con_1' }], hasMore: false, total: 1 }
    : {
        id: 'x',
        status: 'success',
        jobId: 'job_1',
        fileId: 'file_1',
        progress: 1,
        download: 'https://cdn.test/f.mp4',
        emails: [{ email: 'em_1' }],
        verified: true,
        references: [],
      };
});

const messaging = messagingOver(fetch);
const bytes = () => new Response('bytes', { headers: { 'content-type': 'video/mp4' } });
const media = mediaOver(async (input, init) =>
  new Request(input, init).url.startsWith('https://cdn.test') ? bytes() : fetch(input, init),
);
const signal = new AbortController().signal;

const request: Samples<RequestOptions> = {
  signal,
  timeout: 1,
  deadline: 1,
  headers: {},
  retries: 1,
  retry: {},
  reconcile: true,
  priority: 'bulk',
};
const recordWait: Samples<RecordWaitOptions<never>> = {
  timeout: 1,
  interval: 1,
  signal,
  onUpdate: fails,
  isDone: fails,
};
const jobWait: Samples<JobWaitOptions<never>> = recordWait;
const fileWait: Samples<WaitOptions> = {
  timeout: 1,
  interval: 1,
  signal,
  inbox: {},
  onUpdate: fails,
};
const queue: Samples<QueueOptions> = {
  concurrency: 1,
  folderId: 'f',
  name: 'n',
  key: fails,
  retryFailed: true,
  save: fails,
  timeout: 1,
  deadline: 1,
  stallTimeout: 1,
  outageTimeout: 1,
  unknownTimeout: 1,
  signal,
  onProgress: fails,
  onUpdate: fails,
  maxJobs: 1,
  maxMinutes: 1,
};
const client = {
  apiKey: 'k',
  baseUrl: 'u',
  fetch,
  timeout: 1,
  retries: 1,
  rateLimit: {},
  validation: {},
  headers: {},
  logger: console,
  journal: {},
  dangerouslyAllowSecretKeyInBrowser: true,
  dangerouslyAllowPlainHttp: true,
};
const door = <Options extends object>(one: Door<Options>) => subjectsOf(one);

async function drain(items: AsyncIterable<unknown>): Promise<unknown[]> {
  const drained: unknown[] = [];
  for await (const item of items) {
    drained.push(item);
  }
  return drained;
}

const doors: Subject[] = [
  ...door<MessagingOptions>({
    name: 'new MessagingClient()',
    samples: { ...client, data: {}, workflowMapping: {}, filterMapping: {} },
    means: { apiKey: ['null'], baseUrl: ['null'] },
    words: { apiKey: 'The API key' },
    open: (options) => new MessagingClient(options),
  }),
  ...door<MediaOptions>({
    name: 'new MediaClient()',
    samples: { ...client, appUrl: 'https://a.test', keepSettled: 1, coalesce: true },
    means: { apiKey: ['null'], baseUrl: ['null'] },
    words: { apiKey: 'The API key' },
    open: (options) => new MediaClient(options),
  }),
  ...door<MessagingOptions>({
    name: 'messaging.with()',
    samples: { ...client, data: {}, workflowMapping: {}, filterMapping: {} },
    means: { apiKey: ['null'], baseUrl: ['null'] },
    words: { apiKey: 'The API key' },
    open: (options) => messaging.with(options),
  }),
  ...door<MediaRateLimitOptions>({
    name: 'rateLimit',
    samples: {
      limit: 1,
      windowMs: 1,
      headroom: 0,
      group: 'g',
      maxQueueMs: 1,
      store: memoryStore(),
      pending: 1,
    },
    open: (rateLimit) => new MediaClient({ rateLimit }),
  }),
  ...door<ValidationOptions>({
    name: 'validation',
    samples: { requests: 'off', responses: 'off' },
    open: (validation) => new MediaClient({ validation }),
  }),
  ...door<DataOptions>({
    name: 'data',
    samples: { reserved: 'send', emptyString: 'send' },
    open: (data) => new MessagingClient({ data }),
  }),
  ...door<RequestOptions>({
    name: 'a call',
    samples: request,
    open: (options) => messaging.contacts.get('con_1', options),
  }),
  ...door<NonNullable<RequestOptions['retry']>>({
    name: 'retry',
    samples: { unknownOutcome: true },
    open: (retry) => messaging.contacts.get('con_1', { retry }),
  }),
  ...door<ListOptions>({
    name: 'a list',
    samples: { ...request, prefetch: 1, incomplete: 'error' },
    open: (options) => messaging.contacts.list({}, options).toArray(),
  }),
  ...door<{ max?: number | undefined }>({
    name: 'toArray()',
    samples: { max: 1 },
    open: (options) => messaging.contacts.list().toArray(options),
  }),
  ...door<RequestOptions>({
    name: 'verifyAll()',
    samples: request,
    open: (options) => drain(messaging.verifyAll(['ann@example.com'], options)),
  }),
  ...door<RequestOptions>({
    name: 'contacts.lookupAll()',
    samples: request,
    open: (options) => drain(messaging.contacts.lookupAll(['ann@example.com'], options)),
  }),
  ...door<BulkAllOptions>({
    name: 'contacts.deleteAll()',
    samples: { ...request, from: 0, wait: {}, onProgress: fails },
    open: (options) => messaging.contacts.deleteAll(['con_1'], options),
  }),
  ...door<ImportAllOptions>({
    name: 'contacts.importAll()',
    samples: { ...request, from: 0, wait: {}, onProgress: fails },
    open: (options) => messaging.contacts.importAll([{ email: 'ann@example.com' }], options),
  }),
  ...door<FieldDeleteOptions>({
    name: 'contacts.fields.delete()',
    samples: { ...request, ifUnused: true },
    open: (options) => messaging.contacts.fields.delete('data.plan', options),
  }),
  ...door<EventDeleteOptions>({
    name: 'events.delete()',
    samples: { ...request, ifUnused: true },
    open: (options) => messaging.events.delete('paid', options),
  }),
  ...door<WorkflowDeleteOptions>({
    name: 'workflows.delete()',
    samples: { ...request, cancelExecutions: true },
    open: (options) => messaging.workflows.delete('wf_1', options),
  }),
  ...door<RegenerateOptions>({
    name: 'projects.regenerateKeys()',
    samples: { ...request, swapKey: true },
    open: (options) => messaging.projects.regenerateKeys('prj_1', options),
  }),
  ...door<SendEachOptions>({
    name: 'sendEach()',
    samples: {
      ...request,
      journal: {},
      key: 'k',
      unknown: 'send',
      concurrency: 1,
      from: 0,
      onResult: fails,
    },
    open: (options) =>
      messaging.sendEach(
        ['ann@example.com'],
        { from: 'a@example.com', subject: 's', body: 'b' },
        options,
      ),
  }),
  ...door<JobWaitOptions<never>>({
    name: 'contacts.waitForImport()',
    samples: jobWait,
    open: (options) => messaging.contacts.waitForImport('job_1', options as object),
  }),
  ...door<RecordWaitOptions<never>>({
    name: 'domains.waitUntilVerified()',
    samples: recordWait,
    open: (options) => messaging.domains.waitUntilVerified('dom_1', options as object),
  }),
  ...door<WaitOptions>({
    name: 'waitForFile()',
    samples: fileWait,
    open: (options) => media.waitForFile('file_1', options),
  }),
  ...door<WaitOptions & { settle?: 'all' | undefined }>({
    name: 'waitForFiles()',
    samples: { ...fileWait, settle: 'all' },
    open: async (options) => {
      const [first] = await media.waitForFiles(['file_1'], options);
      if (first && !first.file) {
        throw first.error;
      }
    },
  }),
  ...door<WaitOptions>({
    name: 'watch()',
    samples: fileWait,
    open: (options) => drain(media.watch('file_1', options)),
  }),
  ...door<QueueOptions>({
    name: 'queue()',
    samples: queue,
    open: (options) => drain(media.queue([], options)),
  }),
  ...door<QueueOptions>({
    name: 'pool.queue()',
    samples: queue,
    open: (options) => drain(new MediaPool([media]).queue([], options)),
  }),
  ...door<SpendingCaps>({
    name: 'plan()',
    samples: { maxJobs: 1, maxMinutes: 1 },
    open: (options) => media.plan([], options),
  }),
  ...door<TransferOptions>({
    name: 'file.blob()',
    samples: { signal, onProgress: fails, timeout: 1, retries: 1 },
    open: async (options) => (await media.waitForFile('file_1')).blob(options),
  }),
  ...door<DownloadOptions>({
    name: 'file.response()',
    samples: { signal, range: 'bytes=0-1', ifRange: 'x' },
    open: async (options) => (await media.waitForFile('file_1')).response(options),
  }),
];

beforeAll(() => {
  for (const service of ['MESSAGING', 'MEDIA']) {
    vi.stubEnv(`${service}_API_KEY`, 'sk_test');
    vi.stubEnv(`${service}_BASE_URL`, 'https://service.test');
  }
});

afterAll(() => void vi.unstubAllEnvs());

describe('law 1', () => {
  it('left out is left out, and what cannot be is refused by its name', async () => {
    await holdLaw('law 1, left out is left out', doors);
  });
});
