import { systemClock } from '../core/async.js';
import type { RequestOptions } from '../core/types.js';
import { fingerprint } from '../core/values.js';
import {
  atLeast,
  flag,
  text,
  wholeNumber,
  type OptionKinds,
  clientOptions,
  rateLimitOf,
  rateLimitOptions,
} from '../core/options.js';
import { schemaMap } from '../core/route.js';
import { journalKind } from '../journal/option.js';
import { scopeOf } from '../journal/names.js';
import { createStatusChecks } from '../core/wait.js';
import { redact } from '../core/redact.js';
import { Connection } from '../core/client.js';
import type { ServiceFacts } from '../core/settings.js';
import { normalizeBaseUrl } from '../core/request.js';
import type { MediaEvents } from './events.js';
import { Generate } from './generate/resource.js';
import { routes as generateRoutes } from './generate/routes.js';
import { CallPlaces } from './jobs/call-places.js';
import { GenerationJob, JobMemory, type JobRecord } from './jobs/job.js';
import { MediaJournal } from './jobs/journal.js';
import { outstandingJobs } from './jobs/outstanding.js';
import { submit } from './jobs/submit.js';
import { limits as serviceLimits } from './limits.js';
import * as notices from './notices.js';
import type { MediaOptions, MediaRateLimitOptions } from './options.js';
import { routes } from './routes.js';
import { sharedCountedPoller } from './status/counted-poller.js';
import { FileWaits } from './status/file-waits.js';
import { isOfOther, otherFile } from './status/other-file.js';
import { StatusPoller } from './status/poller.js';

const mediaOptions: OptionKinds<MediaOptions> = {
  ...clientOptions,
  rateLimit: rateLimitOf<MediaRateLimitOptions>({ ...rateLimitOptions, pending: wholeNumber(1) }),
  appUrl: text,
  journal: journalKind,
  keepSettled: atLeast(0),
  coalesce: flag,
};

const service: ServiceFacts<MediaOptions> = {
  name: 'media',
  environment: { apiKey: 'MEDIA_API_KEY', baseUrl: 'MEDIA_BASE_URL' },
  keyPrefixes: undefined,
  ...serviceLimits.requests,
  alwaysJson: true,
  options: mediaOptions,
};

// What a call has cost is known by its answer alone: it is waited for longer than any other.
const paidTimeoutMs = 120_000;
const usualKeepMs = 30 * 24 * 3_600_000;

/** What the parts of a media client share. */
export interface MediaContext {
  readonly options: MediaOptions;
  readonly connection: Connection<MediaEvents, MediaOptions>;
  readonly poller: StatusPoller;
  readonly waits: FileWaits;
  readonly generate: Generate;
  /** How many jobs may be queued or processing at one time. */
  readonly pendingLimit: number;
  /** Where the client's jobs are written down. */
  readonly journal: MediaJournal | undefined;
  /** How long an attempt of a paid call may take unless the caller sets it, in milliseconds. */
  readonly paidTimeoutMs: number | undefined;
  /** Takes keys out of a text that the service wrote. */
  readonly clean: (text: string) => string;
  /** Names the project that the client's jobs belong to, without its key. */
  owner(): Promise<string>;
  /** The rate limit, for estimates when it is left to the caller. */
  readonly limits: { readonly limit: number; readonly windowMs: number };
  /** The handle of a job. */
  job(record: JobRecord): GenerationJob;
  /** The handle of a job that was just accepted. */
  adopt(record: JobRecord): GenerationJob;
}

/** Makes the parts of a media client and wires them to each other. */
export function createContext(given: MediaOptions): MediaContext {
  const connection = new Connection<MediaEvents, MediaOptions>(service, given, loadSchemas);
  const { events, settings, transport, options } = connection;
  const journal = createJournal(options, connection);
  const timeoutMs = options.timeout === undefined ? paidTimeoutMs : undefined;
  const owner = async () => fingerprint(await connection.projectName());
  const memory = new JobMemory();
  const poller = createPoller(connection);
  const clean = (text: string) => redact(text, [connection.keyring.current]);
  const appUrl = options.appUrl === undefined ? undefined : normalizeBaseUrl(options.appUrl);
  const { rateLimit } = options;
  const pendingLimit =
    (rateLimit === false ? undefined : rateLimit?.pending) ?? serviceLimits.pendingJobs;
  const places = new CallPlaces(connection, pendingLimit);
  const onActive = (fileId: string) => places.renew(fileId);
  const waits = new FileWaits({ poller, memory, events, settings, journal, clean, onActive });

  const job = (record: JobRecord) =>
    new GenerationJob(record, {
      appUrl,
      status: (fileId, own) => generate.status({ fileId }, own),
      waitForFile: (fileId, own) => waits.wait(fileId, record.kind, own),
    });
  const adopt = (record: JobRecord) => {
    memory.add(record.fileId, record.kind);
    return job(record);
  };
  const generate: Generate = new Generate(transport, {
    coalesce: options.coalesce ?? false,
    pendingLimit,
    maxJobs: rateLimit === false ? Number.POSITIVE_INFINITY : pendingLimit,
    get statusChecksAreCharged() {
      return poller.areChecksCharged;
    },
    timeoutMs,
    submit: ({ jobs, send, ...submission }) => {
      const placed = places.around(send, jobs.length);
      return submit({ ...submission, jobs, send: placed, owner }, journal, events);
    },
    adopt: (record) => {
      countOutstanding(connection, poller, record.fileId);
      onEndOf(poller, record.fileId, () => places.end(record.fileId));
      return adopt(record);
    },
  });
  const limits = settings.limits ?? service;
  const parts = { options, connection, poller, waits, generate, pendingLimit, journal, owner };
  return { ...parts, clean, paidTimeoutMs: timeoutMs, limits, job, adopt };
}

function createJournal(
  { journal, keepSettled = usualKeepMs }: MediaOptions,
  { settings, events }: Connection<MediaEvents, MediaOptions>,
): MediaJournal | undefined {
  return (
    journal &&
    new MediaJournal({
      store: journal,
      scope: scopeOf(journal, settings),
      clock: systemClock,
      keepMs: keepSettled,
      onTrouble: (message) => notices.warn(events, message),
    })
  );
}

function createPoller(connection: Connection<MediaEvents, MediaOptions>): StatusPoller {
  const { events, transport, settings } = connection;
  const { clock } = settings;
  const ask = async (fileId: string, options: RequestOptions, isCharged: boolean) => {
    const input = { query: { fileId }, isCharged };
    const record = await transport.send(generateRoutes.status, input, options);
    if (isOfOther(record, fileId)) {
      notices.otherFile(events, fileId);
      throw otherFile(fileId);
    }
    return record;
  };
  return new StatusPoller(
    ask,
    async () => sharedCountedPoller(await connection.projectName(), clock),
    createStatusChecks(clock),
    () => notices.statusChecksAreCharged(events),
  );
}

// Jobs that are submitted beside a queue take its slots, until a status check sees their end.
function countOutstanding(
  connection: Connection<MediaEvents, MediaOptions>,
  poller: StatusPoller,
  fileId: string,
): void {
  connection
    .projectName()
    .then((project) => {
      const jobs = outstandingJobs(project);
      jobs.add(fileId);
      onEndOf(poller, fileId, () => jobs.end(fileId));
    })
    .catch(() => undefined); // the key has gone: a queue finds out by itself
}

function onEndOf(poller: StatusPoller, fileId: string, listener: () => void): void {
  const stopListening = poller.onEnd(fileId, () => {
    stopListening();
    listener();
  });
}

async function loadSchemas() {
  const { schemas } = await import('./schemas.js');
  return schemaMap(routes, schemas);
}
