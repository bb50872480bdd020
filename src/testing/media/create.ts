import { readOptions } from '../../core/options.js';
import { createService, type FakeClientOptions, type Service } from '../core/service.js';
import { clockOf, parseDuration } from '../core/clock.js';
import { Refusal } from '../core/http.js';
import { fakeId, Ids } from '../core/ids.js';
import { behaviorOf, limitOf } from '../core/settings.js';
import type { FakeRequest, Handlers } from '../core/types.js';
import { createWire } from '../core/wire.js';
import { generateAudio, getStatus, generateVideo, refuse } from './generate.js';
import { type Bytes, answerDownload, contentOf, downloadEndpoint } from './files.js';
import { createOutcomes, type Job, type MediaWorld } from './jobs.js';
import {
  fakeMediaKinds,
  mediaBehaviors,
  type FakeMediaOptions,
  type MediaBehavior,
} from './settings.js';
import type { BrandKit, CallbackAttempt, MediaFile, MediaFolder, Outcome } from './types.js';

/** A fake of the media service, with one account. */
export interface FakeMedia extends Service {
  /** For `new MediaClient(fake.options)`: the key, the address and the `fetch`. */
  readonly options: FakeClientOptions;
  readonly apiKey: string;
  /** The behavior where the document leaves a choice; may be changed at any time. */
  readonly settings: MediaBehavior;
  /** All valid keys; add one for a second budget, delete one to revoke it. */
  readonly apiKeys: Set<string>;
  /** The address of finished files; faults and records call it `GET /cdn/{file}`. */
  readonly cdnUrl: string;
  /** All files, oldest first. */
  readonly files: MediaFile[];
  /** All folders; push one to let `folderId` name it. */
  readonly folders: MediaFolder[];
  /** The kits that `brandId` may name. */
  readonly brandKits: BrandKit[];
  /** All POST requests to audio webhooks. */
  readonly callbacks: CallbackAttempt[];
  /**
   * Scripts the ending of the next job, or of the next matching one; returns the function that removes the
   * script.
   */
  readonly outcome: (outcome: Outcome, match?: (job: Job) => boolean) => () => void;
  /** Returns the bytes of the download of a file. */
  readonly contentOf: (fileId: string) => Bytes;
}

const handlers: Handlers<MediaWorld> = {
  'POST /v1/generate/video': generateVideo,
  'POST /v1/generate/audio': generateAudio,
  'GET /v1/generate/status': getStatus,
};

/** Creates a fake media service: `fake.fetch` and `fake.handlers()` reach it without a network. */
export function createFakeMedia(given?: FakeMediaOptions): FakeMedia {
  const options = readOptions(given, fakeMediaKinds, {
    name: '`createFakeMedia()`',
    isStrict: true,
    example: "{ clock: { mode: 'real' } }",
  });
  const world = createWorld(options);
  const service = createMediaService(world);
  const { baseUrl, fetch } = service;
  const { apiKey, apiKeys, cdnUrl, files, folders, brandKits, callbacks, settings } = world;
  return {
    ...service,
    options: { apiKey, baseUrl, fetch },
    settings,
    apiKey,
    apiKeys,
    cdnUrl,
    files,
    folders,
    brandKits,
    callbacks,
    outcome: (outcome, match) => world.outcomes.script(outcome, match),
    contentOf(fileId) {
      const file = files.find((candidate) => candidate.fileId === fileId);
      return file === undefined ? new Uint8Array() : contentOf(world, file);
    },
    reset() {
      service.reset();
      world.reset();
    },
  };
}

function createMediaService(world: MediaWorld): Service {
  const { options, settings, clock, cdnUrl } = world;
  const changes = options.rateLimit === false ? { limit: Infinity } : options.rateLimit;
  return createService<MediaWorld>({
    baseUrl: world.baseUrl,
    clock,
    service: 'media',
    handlers,
    enter: (request) => enter(world, request),
    bucket: (request, endpoint) => (counts(endpoint, settings) ? keyOf(request) : undefined),
    // media, Limits: 10 requests per 10 minutes per API key.
    limit: () => ({
      limit: 10,
      windowMs: 600_000,
      ...limitOf(settings),
      ...changes,
    }),
    wire: createWire(() => world),
    also: {
      baseUrl: cdnUrl,
      endpoint: downloadEndpoint,
      answer: (request, path) => answerDownload(world, request, path),
    },
    ...(options.random === undefined ? {} : { random: options.random }),
  });
}

/** The document limits "requests" yet has status polled every 10 s: by default only generate calls count. */
function counts(endpoint: string, { statusCounts }: MediaBehavior): boolean {
  return statusCounts || endpoint !== 'GET /v1/generate/status';
}

/** Creates a world without files. */
function createWorld(options: FakeMediaOptions): MediaWorld {
  const settings = behaviorOf(mediaBehaviors, options);
  const id = fakeId();
  const { apiKey = `media_key_${id}`, brandKits = [fullKit] } = options;
  const { baseUrl = `https://media-${id}.fake`, cdnUrl = `https://cdn-${id}.media.fake` } = options;
  const clock = clockOf(options.clock);
  const counts = new Map<string, number>();
  const ids = new Ids();
  const files: MediaFile[] = [];
  const folders: MediaFolder[] = [];
  const callbacks: CallbackAttempt[] = [];
  const outcomes = createOutcomes();
  const kits = [...brandKits];

  function newId(prefix: string): string {
    const count = (counts.get(prefix) ?? 0) + 1;
    counts.set(prefix, count);
    return ids.issue(`${prefix}_${String(count).padStart(6, '0')}`);
  }

  function find(fileId: string): MediaFile | undefined {
    const keepMs = parseDuration(options.keepFor ?? (settings.keepsFinished ? Infinity : '1h'));
    const file = files.find((candidate) => candidate.fileId === fileId);
    return file === undefined || clock.now() > file.finishesAt + keepMs ? undefined : file;
  }

  function reset(): void {
    for (const list of [files, folders, callbacks]) {
      list.length = 0;
    }
    kits.splice(0, kits.length, ...brandKits);
    outcomes.clear();
  }

  return {
    options,
    settings,
    ids,
    clock,
    baseUrl,
    cdnUrl: cdnUrl.replace(/\/+$/, ''),
    apiKey,
    apiKeys: new Set([apiKey]),
    id: newId,
    find,
    reset,
    files,
    folders,
    callbacks,
    outcomes,
    brandKits: kits,
  };
}

const fullKit: BrandKit = {
  brandId: 'brand_000001',
  logo: 'https://cdn.example/logo.png',
  introSeconds: 5,
  outroSeconds: 5,
  colours: ['#102030', '#f0e0d0'],
  fonts: ['Sans'],
  voiceId: 'voice_of_the_kit',
};

/** Admits a request, or rejects it with a 401 if it has no valid key. */
function enter(world: MediaWorld, request: FakeRequest): MediaWorld {
  // media, Authentication 1 and 3: every call, status included, sends the key.
  if (!world.apiKeys.has(keyOf(request) ?? '')) {
    throw new Refusal(401, 'UNAUTHORIZED', 'Missing or invalid API key.');
  }
  // media, Endpoints: all requests send `Content-Type: application/json`.
  if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? '')) {
    refuse('Content-Type must be application/json.');
  }
  return world;
}

/** The key of a request, as sent. */
function keyOf({ headers }: FakeRequest): string | undefined {
  return /^Bearer (\S+)$/.exec(headers.get('authorization') ?? '')?.[1];
}
