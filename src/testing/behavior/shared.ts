import type { Table } from './setting.js';

/** The points in which both documents are silent in the same way. */
export const sharedBehaviors = {
  ids: {
    values: ['text', 'uuid'],
    what: 'how ids look',
    silent: 'Resources: an id is a string; what it looks like is not shown',
  },
  envelopes: {
    values: ['documented', 'always', 'never'],
    what: 'which answers are wrapped in `{ success: true, data }`',
    silent: 'General conventions, contradicted by the create response of campaigns',
  },
  extraFields: {
    values: ['none', 'flat', 'nested'],
    what: 'fields that no document names',
    silent: 'Versioning: whether answers may grow is not shown',
  },
  refusals: {
    values: ['status', 'ok'],
    what: 'whether a refusal has its HTTP status, or 200 with `success: false`',
    silent: 'Errors: the envelope repeats the status in `error.statusCode`',
  },
  rateLimitWindow: {
    values: ['sliding', 'fixed', 'bucket'],
    what: 'how the requests of a window are counted',
    silent: 'Limits: "per minute" and "per 10 minutes"',
  },
  rateLimitHeaders: {
    values: ['retry-after', 'retry-after-date', 'ratelimit', 'x-ratelimit', 'none'],
    what: 'how a 429 says when to come back',
    silent: 'Limits: no header is shown',
  },
  serviceClock: {
    values: ['right', 'hour-behind', 'hour-ahead'],
    what: 'the clock that the dates of headers go by',
    silent: 'not shown; no two clocks agree',
  },
} as const satisfies Table;

/** How far ahead each of the clocks is, in milliseconds. */
export const clockAheadMs = {
  right: 0,
  'hour-behind': -3_600_000,
  'hour-ahead': 3_600_000,
} as const satisfies Record<(typeof sharedBehaviors.serviceClock.values)[number], number>;
