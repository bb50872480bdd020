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

/** Options of a fake media service, including the choices that the document leaves open. */
export interface FakeMediaOptions {
  /** The behavior of the service where its document is silent. */
  behavior?: Partial<MediaBehavior>;
  /** @default a separate address, `https://media-….fake` */
  baseUrl?: string;
  /** The address of finished files. @default a separate address, `https://cdn-….media.fake` */
  cdnUrl?: string;
  /** @default a separate key, `media_key_…` */
  apiKey?: string;
  /** A clock, e.g. one shared with another fake, or how to make one. @default virtual time */
  clock?: Clock | ClockOptions;
  /** Changes to 10 calls in 10 minutes per key; `false` for no limit. */
  rateLimit?: Partial<RateLimitOptions> | false;
  /** Whether status calls count towards the rate limit, too. @default false */
  statusCounts?: boolean;
  /** Maximum number of jobs that are queued or processing. @default 20 */
  pendingLimit?: number;
  /** The time from acceptance to the end. @default minutes for videos, seconds for audio */
  durations?: (file: MediaFile) => Duration;
  /** Maximum part of `durations` during which a job is queued. @default '3s' */
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
  /** The form of the error body, which the document does not show. @default 'message' */
  errorShape?: MediaBehavior['errorShape'];
  /** The responses that are wrapped in `{ success, data }`. @default 'documented' (video only) */
  envelopes?: 'documented' | 'always' | 'never';
  /** The name of the status in a status record. @default 'status' */
  statusField?: 'status' | 'state';
  /** The unit of `progress`, which the document does not show. @default 'percent' */
  progress?: 'percent' | 'fraction' | 'none';
  /** How long the status of a finished file is available; then it is 404. @default Infinity */
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

/** The kinds of these options. The settings of a world are checked separately. */
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
