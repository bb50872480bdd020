import {
  amount,
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
import { kindsOf, sharedBehaviors, type BehaviorOf, type Table } from '../core/settings.js';
import type { BrandKit, MediaFile } from './types.js';

/** Every open point of the media document; the first value of each is the default. */
export const mediaBehaviors = {
  ...sharedBehaviors,
  errorShape: {
    values: ['message', 'error', 'envelope', 'html', 'empty', 'cut'],
    what: 'the body of a rejection',
    silent: 'Errors 4: "body shape of rejections … not shown"',
  },
  batch: {
    values: ['whole', 'loop'],
    what: 'whether a video request with a job that is refused makes none, or those before it',
    silent: 'POST /v1/generate/video: one file for each object; Errors 4: "rejections … not shown"',
  },
  capStatus: {
    values: [429, 400, 402, 403, 409, 503],
    what: 'the status when the pending cap refuses',
    silent: 'Errors 5: "Behaviour when … the pending job cap is exceeded: not shown"',
  },
  capRetryAfter: {
    values: [false, true],
    what: 'whether the refusal of the cap has a `Retry-After`',
    silent: 'Errors 5',
  },
  unknownFileStatus: {
    values: [404, 410, 400],
    what: 'the status of an unknown file id',
    silent: 'Errors 4',
  },
  statusField: {
    values: ['status', 'state'],
    what: 'the field with the status of a file',
    silent: 'Status record; services of this kind use both',
  },
  statusWords: {
    values: ['documented', 'upper', 'other'],
    what: 'the spelling of the states of a file',
    silent: 'States and transitions; services of this kind differ',
  },
  progress: {
    values: ['percent', 'fraction', 'none'],
    what: 'the unit of `progress`',
    silent: 'Status record, `progress`: "unit and range: not shown"',
  },
  transitions: {
    values: ['through-processing', 'straight'],
    what: 'whether a file is `processing` before it ends',
    silent: 'States and transitions: "Transitions: not shown"',
  },
  statusCounts: {
    values: [false, true],
    what: 'whether status checks count towards the rate limit',
    silent: 'Limits: "10 requests per 10 minutes", and a poll every 10 seconds',
  },
  callbacks: {
    values: ['once', 'twice'],
    what: 'how often an audio webhook is delivered',
    silent: 'Events: "Retries of failed webhook deliveries: not shown"',
  },
  keepsFinished: {
    values: [true, false],
    what: 'whether a finished file can still be asked for after an hour',
    silent: 'Status: not shown',
  },
} as const satisfies Table;

/** One world of the media service. */
export type MediaBehavior = BehaviorOf<typeof mediaBehaviors>;

/** Options of a fake media service, including the settings where the document leaves a choice. */
export interface FakeMediaOptions extends Partial<MediaBehavior> {
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
  /** Maximum number of jobs that are queued or processing. @default 20 */
  pendingLimit?: number;
  /** The time from acceptance to the end. @default minutes for videos, seconds for audio */
  durations?: (file: MediaFile) => Duration;
  /** Maximum part of `durations` during which a job is queued. @default '3s' */
  queueTime?: Duration;
  /** The size of finished files. A very small size cuts the file off. @default the size for its playing time */
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
  ...kindsOf(mediaBehaviors),
  baseUrl: address,
  cdnUrl: address,
  apiKey: text,
  clock: plainObject('a clock, or how to make one'),
  rateLimit: orFalse(group(rateLimitKinds)),
  pendingLimit: amount,
  durations: callback(),
  queueTime: duration,
  fileBytes: orFunction(wholeNumber(0)),
  ranges: flag,
  callback: callback(),
  brandKits: { form: 'a list of brand kits', allows: Array.isArray },
  paidPlan: flag,
  maxExportMinutes: amount,
  keepFor: duration,
  random: callback(),
};
