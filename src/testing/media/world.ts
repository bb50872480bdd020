import { fakeId, Ids } from '../core/ids.js';
import { clockOf, parseDuration } from '../core/clock.js';
import type { World, FakeRequest } from '../core/types.js';
import type { MediaBehavior } from '../behavior/media.js';
import { Refusal } from '../core/http.js';
import { createOutcomes, type Outcomes } from './jobs.js';
import type { FakeMediaOptions } from './options.js';
import type { BrandKit, CallbackAttempt, MediaFile, MediaFolder } from './types.js';
import { refuse } from './rules.js';

/** The state of a fake media service with one account. */
export interface MediaWorld extends World {
  readonly options: FakeMediaOptions;
  readonly settings: MediaBehavior;
  readonly baseUrl: string;
  readonly cdnUrl: string;
  readonly apiKey: string;
  readonly apiKeys: Set<string>;
  readonly files: MediaFile[];
  readonly folders: MediaFolder[];
  readonly brandKits: BrandKit[];
  readonly callbacks: CallbackAttempt[];
  readonly outcomes: Outcomes;
  /** Finds a file that is still kept by its id. */
  find(fileId: string): MediaFile | undefined;
  reset(): void;
}

/** Creates a world without files. */
export function createWorld(options: FakeMediaOptions, settings: MediaBehavior): MediaWorld {
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
export function enter(world: MediaWorld, request: FakeRequest): MediaWorld {
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
export function keyOf({ headers }: FakeRequest): string | undefined {
  return /^Bearer (\S+)$/.exec(headers.get('authorization') ?? '')?.[1];
}
