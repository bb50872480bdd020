import {
  amount,
  anything,
  callback,
  flag,
  group,
  orFalse,
  plainObject,
  text,
  wholeNumber,
  type OptionKind,
  type OptionKinds,
} from '../../core/options.js';
import { address } from '../core/ids.js';
import { type Clock, type ClockOptions, parseDuration, type Duration } from '../core/clock.js';
import { rateLimitKinds, type RateLimitOptions } from '../core/rate-limit.js';
import { mediaBehaviors, type MediaBehavior } from '../behavior/media.js';
import { kindsOf } from '../behavior/setting.js';
import type { BrandKit, MediaFile } from './types.js';

/** How a fake media service behaves; what the document leaves open can be chosen. */
export interface FakeMediaOptions {
  /** A world: what the service does where its document is silent. */
  behavior?: Partial<MediaBehavior>;
  /** @default an address of its own, `https://media-….fake` */
  baseUrl?: string;
  /** Where finished files are downloaded. @default an address of its own, `https://cdn-….media.fake` */
  cdnUrl?: string;
  /** @default a key of its own, `media_key_…` */
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
  /** The size of finished files. A very small one ends in the middle. @default what their length takes */
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

const duration: OptionKind<Duration> = {
  form: "a duration, such as '3s' or a number of milliseconds",
  allows: (value) => {
    parseDuration(value as Duration); // throws for anything else
    return true;
  },
};

const orFunction = (kind: OptionKind): OptionKind<never> => ({
  form: `${kind.form}, or a function`,
  allows: (value) => typeof value === 'function' || kind.allows(value),
});

/** The kinds of these options. What is a setting of a world is checked there. */
export const fakeMediaKinds: OptionKinds<FakeMediaOptions> = {
  behavior: group(kindsOf(mediaBehaviors), 'an object of settings'),
  baseUrl: address,
  cdnUrl: address,
  apiKey: text,
  clock: plainObject('a clock, or how to make one'),
  rateLimit: orFalse(group(rateLimitKinds)),
  statusCounts: anything(),
  pendingLimit: amount,
  durations: callback(),
  queueTime: duration,
  fileBytes: orFunction(wholeNumber(0)),
  ranges: flag,
  callback: callback(),
  brandKits: { form: 'a list of brand kits', allows: Array.isArray },
  paidPlan: flag,
  maxExportMinutes: amount,
  errorShape: anything(),
  envelopes: anything(),
  statusField: anything(),
  progress: anything(),
  keepFor: duration,
  random: callback(),
};
