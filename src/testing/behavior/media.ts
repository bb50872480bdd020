import type { BehaviorOf, Table } from './setting.js';
import { sharedBehaviors } from './shared.js';

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
