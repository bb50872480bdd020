import { ConfigurationError, invalidRequest } from './errors.js';
import type { JournalStore } from './once/journal.js';
import type { RateBudgetStore } from './limit/rate-store.js';
import type {
  ApiKey,
  ClientOptions,
  HeadersInput,
  ListOptions,
  Logger,
  RateLimitOptions,
  RequestOptions,
} from './types.js';
import { findSimilar } from './typos.js';
import { tagOf } from './values.js';

/** The kind of values that an option takes. */
export interface OptionKind<T = unknown> {
  /** The end of the sentence "`timeout` must be …". */
  readonly form: string;
  readonly allows: (value: unknown) => boolean;
  /** The options inside an option that is an object. */
  readonly within?: Readonly<Record<string, OptionKind>>;
  /** Used by the compiler only: never set. */
  readonly type?: T;
}

/** The kind of each option. The compiler finds an option without a kind. */
export type OptionKinds<Options> = {
  readonly [Name in keyof Options]-?: OptionKind<NonNullable<Options[Name]>>;
};

/** The owner of the options, for messages. */
interface OptionOwner {
  /** The owner's name in messages, such as `the messaging client` or `a call`. */
  readonly name: string;
  /** Is an unknown name rejected even if it resembles no option? */
  readonly isStrict?: boolean;
  /** An example of valid options. */
  readonly example?: string;
  /** The hint for a caller who passes something other than an object. */
  readonly hint?: string;
}

/**
 * Copies options, without those that are `undefined`, which would overwrite defaults. Rejects a value of the
 * wrong kind by the name of its option, including `null`.
 */
export function readOptions<Options extends object>(
  given: Options | undefined,
  kinds: OptionKinds<Options>,
  owner: OptionOwner,
): Options {
  if (given === undefined) {
    return {} as Options; // as: no option is required
  }
  if (!isOptionsObject(given)) {
    throw invalidOption(
      `The options of ${owner.name} must be an object, such as ${owner.example ?? '{ timeout: 10_000 }'}${owner.hint ?? ''}`,
    );
  }
  return readLevel(given, kinds, owner, '') as Options; // as: each value was checked by its kind
}

/** The error of an invalid option. */
export function invalidOption(message: string, cause?: unknown): ConfigurationError {
  const end = message.endsWith('?') ? '' : '.';
  return new ConfigurationError(message + end, { code: 'INVALID_OPTION', cause });
}

/** A switch: only `true` turns it on. */
export const flag: OptionKind<boolean> = {
  form: 'true or false',
  allows: (value) => typeof value === 'boolean',
};

/** A duration in milliseconds, above 0; Infinity is allowed. */
export const milliseconds: OptionKind<number> = {
  form: 'a number of milliseconds above 0',
  allows: (value) => typeof value === 'number' && value > 0,
};

/** A number above 0; Infinity is allowed. */
export const amount: OptionKind<number> = {
  form: 'a number above 0',
  allows: (value) => typeof value === 'number' && value > 0,
};

/** A number of at least `least`; Infinity is allowed. */
export function atLeast(least: number): OptionKind<number> {
  return {
    form: `a number of ${least} or more`,
    allows: (value) => typeof value === 'number' && value >= least,
  };
}

export const text: OptionKind<string> = {
  form: 'a text that is not empty',
  allows: (value) => typeof value === 'string' && value !== '',
};

export const abortSignal: OptionKind<AbortSignal> = {
  form: 'the `signal` of an AbortController',
  allows: (value) => hasMethods(value, ['throwIfAborted', 'addEventListener']),
};

export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): OptionKind<number> {
  const range = most === Number.MAX_SAFE_INTEGER ? `from ${least} up` : `from ${least} to ${most}`;
  return {
    form: `a whole number ${range}`,
    allows: (value) =>
      Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
  };
}

export function oneOf<const Word extends string>(...words: readonly Word[]): OptionKind<Word> {
  const known: readonly unknown[] = words;
  return {
    form: `one of ${words.map((word) => `'${word}'`).join(', ')}`,
    allows: (value) => known.includes(value),
  };
}

export function callback<T>(): OptionKind<T> {
  return { form: 'a function', allows: (value) => typeof value === 'function' };
}

/** An object from another library, recognized by its methods. */
export function withMethods<T>(
  form: string,
  ...names: readonly (keyof T & string)[]
): OptionKind<T> {
  return { form, allows: (value) => hasMethods(value, names) };
}

/** An object of fields or functions whose names are not checked. */
export function plainObject<T>(form: string): OptionKind<T> {
  return { form, allows: isOptionsObject };
}

/** Any value: it is checked elsewhere, with a better message. */
export function anything<T>(): OptionKind<T> {
  return { form: 'something else', allows: () => true };
}

/** An object of options, each with its kind. */
export function group<T extends object>(
  within: OptionKinds<T>,
  form = 'an object of options',
): OptionKind<T> {
  return { form, allows: isOptionsObject, within };
}

/** The given kind, or `false`. */
export function orFalse<T>(kind: OptionKind<T>): OptionKind<T | false> {
  const { form, allows, within } = kind;
  return {
    form: `${form}, or false`,
    allows: (value) => value === false || allows(value),
    ...(within && { within }),
  };
}

function readLevel(
  given: object,
  kinds: Readonly<Record<string, OptionKind>>,
  owner: OptionOwner,
  path: string,
): object {
  refuseUnknown(given, kinds, owner, path);
  const read: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries(kinds)) {
    const place = path + name;
    const value = valueOf(given, name, place);
    if (value === undefined) {
      continue;
    }
    if (!isAllowed(kind, value)) {
      throw invalidOption(`\`${place}\` must be ${kind.form}`);
    }
    const isGroup = kind.within !== undefined && typeof value === 'object' && value !== null;
    read[name] = isGroup ? readLevel(value, kind.within, owner, `${place}.`) : value;
  }
  return read;
}

/** Names that other clients use for these options. */
const aliases: Readonly<Record<string, string>> = {
  key: 'apiKey',
  token: 'apiKey',
  url: 'baseUrl',
  endpoint: 'baseUrl',
  maxRetries: 'retries',
  timeoutMs: 'timeout',
};

function refuseUnknown(
  given: object,
  kinds: Readonly<Record<string, OptionKind>>,
  owner: OptionOwner,
  path: string,
): void {
  for (const name of namesOf(given, owner)) {
    if (name === 'once' && !Object.hasOwn(kinds, name)) {
      throw misplacedOnceError(owner);
    }
    if (Object.hasOwn(kinds, name) || valueOf(given, name, path + name) === undefined) {
      continue;
    }
    const alias = aliases[name] ?? '';
    const meant = alias in kinds ? alias : findSimilar(name, Object.keys(kinds));
    if (meant === undefined && !owner.isStrict) {
      continue;
    }
    const advice = meant === undefined ? 'Leave it out' : `Did you mean \`${path}${meant}\`?`;
    throw invalidOption(`\`${path}${name}\` is not an option of ${owner.name}. ${advice}`);
  }
}

// If `once` were silently ignored, nothing would prevent a duplicate.
function misplacedOnceError({ name }: OptionOwner): Error {
  const message = `is not an option of ${name}: it is the key of one call. To prevent duplicates, pass \`once\` to \`sendEach()\`, or \`name\` to a queue`;
  return invalidRequest([{ field: 'once', message }]);
}

function namesOf(given: object, owner: OptionOwner): string[] {
  const names: string[] = [];
  try {
    for (const name in given) {
      names.push(name);
    }
  } catch (cause) {
    throw invalidOption(`The options of ${owner.name} cannot be read`, cause);
  }
  return names;
}

function valueOf(given: object, name: string, place: string): unknown {
  try {
    return Reflect.get(given, name);
  } catch (cause) {
    throw invalidOption(`\`${place}\` cannot be read`, cause);
  }
}

// A proxy may throw at every access.
function isAllowed(kind: OptionKind, value: unknown): boolean {
  try {
    return kind.allows(value);
  } catch {
    return false;
  }
}

// Lists, dates, promises and signals do not count: none of them has options.
function isOptionsObject(value: unknown): boolean {
  try {
    return ['Object', 'Module'].includes(tagOf(value));
  } catch {
    return false;
  }
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  const isObject = typeof value === 'object' && value !== null;
  return isObject && names.every((name) => typeof Reflect.get(value, name) === 'function');
}

/** A journal, recognized by its methods. */
const journalKind = withMethods<JournalStore>(
  'a journal, such as `fileJournal(path)` of postreel/node',
  ...(['swap', 'get', 'list'] as const),
);

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

/** A rate limit of one service, or `false`. */
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

// Each name and value is checked where the headers are read.
export const headersForm = 'an object of names and values, a `Headers`, a `Map` or a list of pairs';

const headers: OptionKind<HeadersInput> = {
  form: headersForm,
  allows: (value) => typeof value === 'object' && value !== null,
};

/** The options that both clients take. */
export const clientOptions: OptionKinds<ClientOptions & { apiKey?: ApiKey | undefined }> = {
  apiKey: anything(), // the key's own check never repeats the key
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
  journal: journalKind,
  keep: milliseconds,
  dangerouslyAllowSecretKeyInBrowser: flag,
  dangerouslyAllowPlainHttp: flag,
};

/** The options of a call, and of methods that make many calls, which have no common key. */
export const requestOptions: OptionKinds<Omit<RequestOptions, 'once'>> = {
  signal: abortSignal,
  timeout: milliseconds,
  deadline: milliseconds,
  headers,
  retries: wholeNumber(0),
  retry: group({ unknownOutcome: flag }, 'an object; for a number use `retries`'),
  priority: oneOf('interactive', 'bulk'),
};

// Each prefetched page is held in memory.
const maxPrefetch = 100;

/** The options of a list. */
const listOptions: OptionKinds<ListOptions> = {
  ...requestOptions,
  once: anything(), // its own check has a better message
  prefetch: wholeNumber(0, maxPrefetch),
};

/** Checks and copies the options of a call. `own` are the options of one method only. */
export function readCallOptions(
  options: ListOptions | undefined,
  own: Readonly<Record<string, OptionKind>> = {},
): ListOptions {
  return readOptions(options, { ...listOptions, ...own }, callOwner);
}

// For a call like `send('ann@example.com', 'Hi')`.
const callOwner = {
  name: 'a call',
  hint: ', after its fields, which are one object too, such as { from, to, subject, body }',
};
