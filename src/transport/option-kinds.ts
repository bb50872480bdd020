import type { HeadersInput, ListOptions, RequestOptions } from '../contract/call.js';
import type { ClientOptions, RateLimitOptions } from '../contract/client-options.js';
import type { Logger } from '../contract/events.js';
import {
  abortSignal,
  amount,
  anything,
  atLeast,
  callback,
  flag,
  group,
  milliseconds,
  oneOf,
  orFalse,
  readOptions,
  text,
  wholeNumber,
  withMethods,
  type OptionKind,
  type OptionKinds,
} from '../contract/options.js';
import type { RateBudgetStore } from '../contract/rate-budget-store.js';
import type { ApiKey } from './auth/api-key.js';
import { headersForm } from './request/headers.js';

const limitForm = 'an object such as { limit: 1000, windowMs: 60_000 }';
const store = withMethods<RateBudgetStore>(
  'a store, such as `redisRateBudget(redis)` of postreel/redis',
  ...(['take', 'release', 'cancel', 'close'] as const),
);

/** The options of a rate limit. */
export const rateLimitOptions: OptionKinds<RateLimitOptions> = {
  limit: amount,
  windowMs: milliseconds,
  headroom: {
    form: 'at least 0 and less than 1',
    allows: (value) => typeof value === 'number' && value >= 0 && value < 1,
  },
  group: text,
  maxQueueMs: atLeast(0),
  store,
};

/** A rate limit of one service, or none. */
export function rateLimitOf<Options extends RateLimitOptions>(
  kinds: OptionKinds<Options>,
): OptionKind<Options | false> {
  return orFalse(group(kinds, limitForm));
}

const loggerMethods = ['debug', 'info', 'warn', 'error'] as const;

const logger: OptionKind<Logger> = {
  form: 'an object with methods, such as `console`',
  allows: (value) =>
    typeof value === 'object' &&
    loggerMethods.some((name) => withMethods<Logger>('', name).allows(value)),
};

// Each name and value is checked where they are read.
const headers: OptionKind<HeadersInput> = {
  form: headersForm,
  allows: (value) => typeof value === 'object' && value !== null,
};

/** The options that both clients take. */
export const clientOptions: OptionKinds<ClientOptions & { apiKey?: ApiKey | undefined }> = {
  apiKey: anything(), // the key's own check never repeats it
  baseUrl: anything(),
  fetch: callback(),
  timeout: milliseconds,
  retries: wholeNumber(0),
  rateLimit: rateLimitOf(rateLimitOptions),
  validation: group(
    { requests: oneOf('throw', 'off'), responses: oneOf('event', 'throw', 'off') },
    "an object: { requests: 'off' }",
  ),
  headers,
  logger,
  dangerouslyAllowSecretKeyInBrowser: flag,
  dangerouslyAllowPlainHttp: flag,
};

/** The options of one call. */
export const requestOptions: OptionKinds<RequestOptions> = {
  signal: abortSignal,
  timeout: milliseconds,
  deadline: milliseconds,
  headers,
  retries: wholeNumber(0),
  retry: group({ unknownOutcome: flag }, 'an object; for a number use `retries`'),
  reconcile: flag,
  priority: oneOf('interactive', 'bulk'),
};

// Each page ahead is held in memory.
const maxAhead = 100;

/** The options of a list. */
export const listOptions: OptionKinds<ListOptions> = {
  ...requestOptions,
  prefetch: wholeNumber(0, maxAhead),
  incomplete: oneOf('allow'),
};

/** The options of a call as they were given, checked. `own` are those of one method alone. */
export function readCallOptions(
  options: ListOptions | undefined,
  own: Readonly<Record<string, OptionKind>> = {},
): ListOptions {
  return readOptions(options, { ...listOptions, ...own }, callOwner);
}

// `send('ann@example.com', 'Hi')`
const callOwner = {
  name: 'a call',
  hint: ', after its fields, which are one object too, such as { from, to, subject, body }',
};
