import { readOptions } from '../../core/options.js';
import { createService, type FakeClientOptions, type Service } from '../core/service.js';
import type { Handlers } from '../core/types.js';
import { enter, keyOf, createWorld, type MediaWorld } from './world.js';
import { generateAudio, getStatus, generateVideo } from './generate.js';
import { type Bytes, answerDownload, contentOf, downloadEndpoint } from './downloads.js';
import { clockAheadMs } from '../behavior/shared.js';
import type { MediaBehavior } from '../behavior/media.js';
import { fakeMediaKinds, type FakeMediaOptions } from './options.js';
import type { Job } from './jobs.js';
import type { BrandKit, CallbackAttempt, MediaFile, MediaFolder, Outcome } from './types.js';
import { mediaWire, settingsOf } from './wire.js';

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
  const world = createWorld(options, settingsOf(options));
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
      algorithm: settings.rateLimitWindow,
      headers: settings.rateLimitHeaders,
      clockAheadMs: clockAheadMs[settings.serviceClock],
      ...changes,
    }),
    wire: mediaWire(world),
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
