import type { Clock, ClockOptions } from '../core/time/clock.js';
import type { Duration } from '../core/time/duration.js';
import type { RateLimitOptions } from '../core/rate-limit.js';
import type { MediaBehavior } from '../behavior/media.js';
import type { BrandKit, MediaFile } from './types.js';

/** How a fake media service behaves; what the document leaves open can be chosen. */
export interface FakeMediaOptions {
  /** A world: what the service does where its document is silent. */
  behavior?: Partial<MediaBehavior>;
  /** @default 'https://media.fake' */
  baseUrl?: string;
  /** Where finished files are downloaded. @default 'https://cdn.media.fake' */
  cdnUrl?: string;
  /** @default 'media_key_000001' */
  apiKey?: string;
  /** A clock, e.g. one shared with another fake, or how to make one. @default virtual time */
  clock?: Clock | ClockOptions;
  /** Changes to 10 calls in 10 minutes per key; `false` for no limit. */
  rateLimit?: Partial<RateLimitOptions> | false;
  /** Whether status calls count towards the rate limit, too. @default false */
  statusCounts?: boolean;
  /** How many jobs may be queued or processing. @default 20 */
  pendingLimit?: number;
  /** The time from acceptance to the end. @default minutes for videos, seconds for audio */
  durations?: (file: MediaFile) => Duration;
  /** How much of that time a job is queued, at most. @default '3s' */
  queueTime?: Duration;
  /** The size of finished files. @default 65536 */
  fileBytes?: number | ((file: MediaFile) => number);
  /** Whether downloads can be resumed by Range. @default true */
  ranges?: boolean;
  /** Delivers the audio webhook. @default the global fetch */
  callback?: typeof fetch;
  /** @default one kit, `brand_000001`, with every part */
  brandKits?: readonly BrandKit[];
  /** Whether the account's plan is paid; `aiVideoModel` needs it. @default true */
  paidPlan?: boolean;
  /** The plan's longest export. @default 15 */
  maxExportMinutes?: number;
  /** The body of a rejection: the document shows none. @default 'message' */
  errorShape?: MediaBehavior['errorShape'];
  /** Which answers are wrapped in `{ success, data }`. @default 'documented' (video only) */
  envelopes?: 'documented' | 'always' | 'never';
  /** The name of the status in a status record. @default 'status' */
  statusField?: 'status' | 'state';
  /** The unit of `progress`: the document shows none. @default 'percent' */
  progress?: 'percent' | 'fraction' | 'none';
  /** How long a finished file can be asked for; then its status is 404. @default Infinity */
  keepFor?: Duration;
  /** Chance, for faults with a `probability`. @default Math.random */
  random?: () => number;
}
