import { hasIoContexts } from '../core/runtime.js';
import type { RequestOptions } from '../core/types.js';
import {
  clientOptions,
  rateLimitOf,
  rateLimitOptions,
  text,
  wholeNumber,
  type OptionKinds,
} from '../core/options.js';
import { mapSchemas } from '../core/call/route.js';
import { createStatusChecks } from '../core/wait.js';
import { redact } from '../core/call/redact.js';
import { Connection } from '../core/client.js';
import { type ServiceFacts, normalizeBaseUrl } from '../core/settings.js';
import type { MediaEvents } from './events.js';
import { isInOwnNetwork } from './generate/own-network.js';
import { Generate } from './generate/resource.js';
import { routes as generateRoutes } from './generate/routes.js';
import { GenerationJob, JobMemory, type JobRecord } from './jobs/job.js';
import { isMediaCall, JobLedger } from './jobs/ledger.js';
import { limits as serviceLimits, paidTimeoutMs } from './limits.js';
import * as notices from './notices.js';
import type { MediaOptions, MediaRateLimitOptions } from './options.js';
import { routes } from './routes.js';
import { sharedCountedPoller } from './status/counted-poller.js';
import { FileWaits } from './status/file-waits.js';
import { isForOtherFile, otherFile } from './status/other-file.js';
import { StatusPoller } from './status/poller.js';
import type { QueueHost } from './queue/queue.js';
import { sharedSlots, type Slots } from './submit/slots.js';
import { OnceJobs } from './submit/once.js';
import { Submitter } from './submit/submitter.js';

const mediaOptions: OptionKinds<MediaOptions> = {
  ...clientOptions,
  rateLimit: rateLimitOf<MediaRateLimitOptions>({ ...rateLimitOptions, pending: wholeNumber(1) }),
  appUrl: text,
};

const service: ServiceFacts<MediaOptions> = {
  name: 'media',
  environment: { apiKey: 'MEDIA_API_KEY', baseUrl: 'MEDIA_BASE_URL' },
  keyPrefixes: undefined,
  ...serviceLimits.requests,
  alwaysJson: true,
  keepMs: Number.POSITIVE_INFINITY, // a forgotten key costs money
  hasCall: isMediaCall,
  options: mediaOptions,
};

// The submitter uses a status check of another wait that is younger than this.
const freshMs = 3_000;

type MediaConnection = Connection<MediaEvents, MediaOptions>;

/** The parts of a media client, connected to each other. */
export interface MediaContext {
  readonly connection: MediaConnection;
  readonly waits: FileWaits;
  readonly generate: Generate;
  /** The client's jobs in the journal; `undefined` without a journal. */
  readonly ledger: JobLedger | undefined;
  /** Creates the handle of a job. */
  job(record: JobRecord): GenerationJob;
  /** Creates the part of the client that queues use. */
  queueHost(): QueueHost;
}

/** Creates the parts of a media client and connects them to each other. */
export function createContext(given: MediaOptions): MediaContext {
  const connection = new Connection<MediaEvents, MediaOptions>(service, given, loadSchemas);
  const { events, settings, transport, options } = connection;
  const { clock } = settings;
  const { keys } = connection;
  const ledger = keys && new JobLedger(keys);
  const { rateLimit } = options;
  const pendingLimit =
    (rateLimit === false ? undefined : rateLimit?.pending) ?? serviceLimits.pendingJobs;
  // With `rateLimit: false` the caller enforces both limits: requests and pending jobs.
  const maxJobs = rateLimit === false ? Number.POSITIVE_INFINITY : pendingLimit;
  let slots: Slots | undefined;
  const memory = new JobMemory(clock);
  const poller = createPoller(connection, (fileId, isOver) => slots?.seen(fileId, isOver));
  const clean = (text: string) => redact(text, [connection.keyring.current]);
  const onGone = (fileId: string) => slots?.release([fileId]);
  const waits = new FileWaits({ poller, memory, events, settings, ledger, clean, onGone });
  const appUrl =
    options.appUrl === undefined ? undefined : normalizeBaseUrl(options.appUrl, '`appUrl`');

  const job = (record: JobRecord) =>
    new GenerationJob(record, {
      appUrl,
      status: (fileId, own) => generate.status({ fileId }, own),
      waitForFile: (fileId, own) => waits.wait(fileId, record.kind, own),
    });
  const timeoutMs = options.timeout ?? paidTimeoutMs;
  const onSubmitError = notices.repeated(clock, (failure: unknown) =>
    notices.submissionFails(events, failure),
  );
  const submitter = new Submitter({
    transport,
    clock,
    mustBeAlone: hasIoContexts(),
    slots: async () => {
      slots = await slotsOf(connection, maxJobs);
      return slots;
    },
    ledger,
    limits: settings.limits,
    timeoutMs,
    retries: settings.retries,
    check: (fileId, signal) => poller.checkStatus(fileId, freshMs, signal).catch(() => undefined),
    areChecksCharged: () => poller.areChecksCharged,
    onAccepted: ({ fileId, kind }, callId) => {
      memory.add(fileId, kind);
      events.emit('job:accepted', { fileId, kind, callId: callId ?? 0 });
    },
    onSubmitError,
    onWait: (waitMs, queued) => events.emit('throttled', { reason: 'limit', waitMs, queued }),
  });
  const generate: Generate = new Generate(transport, {
    submitter,
    ledger,
    once: keys && ledger && new OnceJobs({ submitter, keys, ledger, clock, onSubmitError }),
    pendingLimit,
    maxJobs,
    get statusChecksAreCharged() {
      return poller.areChecksCharged;
    },
    onWebhook: webhookWatch(connection),
    adopt: job,
  });
  const queueHost = (): QueueHost => ({
    generate,
    ledger,
    pendingLimit,
    wake: () => submitter.wake(),
    warn: (message, code) => notices.warn(events, message, code),
  });
  return { connection, waits, generate, ledger, job, queueHost };
}

/** Warns once when a webhook is in a private network and the service is not. */
function webhookWatch({ events, settings }: MediaConnection): (webhook: string) => void {
  let isReported = isInOwnNetwork(settings.baseUrl); // a service in the same network can reach the webhook
  return (webhook) => {
    if (!isReported && isInOwnNetwork(webhook)) {
      isReported = true;
      notices.webhookInOwnNetwork(events, webhook);
    }
  };
}

// The slots count the project's pending jobs. All clients of the project share them.
async function slotsOf(parts: MediaConnection, limit: number): Promise<Slots> {
  return sharedSlots(await parts.project(), {
    limit,
    store: parts.settings.store,
    warn: (message) => notices.warn(parts.events, message),
  });
}

function createPoller(
  connection: MediaConnection,
  onSeen: (fileId: string, isOver: boolean) => void,
): StatusPoller {
  const { events, transport, settings } = connection;
  const { clock } = settings;
  const ask = async (fileId: string, options: RequestOptions, isCharged: boolean) => {
    const input = { query: { fileId }, isCharged };
    const record = await transport.send(generateRoutes.status, input, options);
    if (isForOtherFile(record, fileId)) {
      notices.otherFile(events, fileId);
      throw otherFile(fileId);
    }
    return record;
  };
  return new StatusPoller(
    ask,
    async () => sharedCountedPoller(await connection.project()),
    createStatusChecks(clock),
    {
      onLearned: () => notices.statusChecksAreCharged(events),
      onSeen,
      onFailing: notices.repeated(clock, (failure: unknown, forMs: number) =>
        notices.checksFail(events, failure, forMs),
      ),
    },
  );
}

async function loadSchemas() {
  const { schemas } = await import('./schemas.js');
  return mapSchemas(routes, schemas);
}
