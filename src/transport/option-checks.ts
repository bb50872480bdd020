import type { ListOptions } from '../contract/call.js';
import type { ClientOptions, ValidationOptions } from '../contract/client-options.js';
import { ConfigurationError } from '../errors/index.js';
import { nearest } from './validation/nearest.js';

/** A name for each option, so that the compiler finds one that is missing. */
type Names<Options> = Readonly<Record<keyof Options, true>>;

/** The options that only one of the two clients has. */
export type OwnOptions<Options> = Names<Omit<Options, keyof ClientOptions | 'apiKey'>>;

const clientOptions: Names<ClientOptions & { apiKey: unknown }> = {
  apiKey: true,
  baseUrl: true,
  fetch: true,
  timeout: true,
  retries: true,
  rateLimit: true,
  validation: true,
  headers: true,
  logger: true,
  dangerouslyAllowSecretKeyInBrowser: true,
  dangerouslyAllowPlainHttp: true,
};

const callOptions: Names<ListOptions> = {
  signal: true,
  timeout: true,
  deadline: true,
  headers: true,
  retries: true,
  retry: true,
  reconcile: true,
  priority: true,
  prefetch: true,
};

/** What other clients call these options. */
const aliases: Readonly<Record<string, string>> = {
  key: 'apiKey',
  token: 'apiKey',
  url: 'baseUrl',
  endpoint: 'baseUrl',
  maxRetries: 'retries',
  timeoutMs: 'timeout',
};

/** Refuses client options that would be ignored, or fail much later. */
export function checkClientOptions(
  options: ClientOptions,
  client: { readonly name: string; readonly options?: Readonly<Record<string, true>> },
): void {
  if (!isObject(options)) {
    throw invalid(`The ${client.name} client takes its options as an object: { apiKey, baseUrl }`);
  }
  const known = { ...clientOptions, ...client.options };
  for (const name of unknown(options, known)) {
    const meant = aliases[name] ?? nearest(name, Object.keys(known));
    const advice = meant === undefined ? 'Leave it out' : `Did you mean \`${meant}\`?`;
    throw invalid(`\`${name}\` is not an option of the ${client.name} client. ${advice}`);
  }
  const { rateLimit, validation, fetch, headers, logger } = options;
  requireThat(isObject(rateLimit) || rateLimit === false, 'rateLimit', rateLimit, limitForm);
  requireThat(isObject(validation), 'validation', validation, "an object: { requests: 'off' }");
  requireThat(typeof fetch === 'function', 'fetch', fetch, 'a function');
  requireThat(isObject(headers), 'headers', headers, 'an object of names and values');
  requireThat(isObject(logger), 'logger', logger, 'an object with methods, such as `console`');
  checkValidation(validation);
}

const limitForm = 'an object such as { limit: 1000, windowMs: 60_000 }, or false';

/** Refuses options of a call that would be ignored, or fail much later. */
export function checkCallOptions(options: ListOptions): void {
  if (!isObject(options)) {
    throw invalid('The options of a call must be an object, such as { timeout: 10_000 }');
  }
  for (const name of unknown(options, callOptions)) {
    const meant = aliases[name] ?? nearest(name, Object.keys(callOptions));
    if (meant !== undefined) {
      throw invalid(`\`${name}\` is not an option of a call. Did you mean \`${meant}\`?`);
    }
  }
  const { signal, retry } = options;
  requireThat(isObject(retry), 'retry', retry, 'an object; for a number use `retries`');
  const isSignal = typeof signal?.throwIfAborted === 'function';
  requireThat(isSignal, 'signal', signal, 'the `signal` of an AbortController');
}

function checkValidation(validation: ValidationOptions | undefined): void {
  const { requests = 'throw', responses = 'event' } = validation ?? {};
  oneOf('validation.requests', requests, ['throw', 'off']);
  oneOf('validation.responses', responses, ['event', 'throw', 'off']);
}

/** A time that makes sense: more than nothing; Infinity is allowed. */
export function positive(name: string, value: number): number {
  return number(name, value, 'must be a number of milliseconds above 0');
}

/** A number that makes sense: more than nothing; Infinity is allowed. */
export function number(name: string, value: number, rule = 'must be a number above 0'): number {
  if (typeof value === 'number' && value > 0) {
    return value;
  }
  throw invalid(`\`${name}\` ${rule}`);
}

/** One of the words that an option knows. */
export function oneOf<T extends string>(name: string, value: T, known: readonly T[]): T {
  if (known.includes(value)) {
    return value;
  }
  throw invalid(`\`${name}\` must be one of ${known.map((word) => `'${word}'`).join(', ')}`);
}

/** A whole number from 0 up. */
export function count(name: string, value: number): number {
  if (Number.isInteger(value) && value >= 0) {
    return value;
  }
  throw invalid(`\`${name}\` must be a whole number from 0 up`);
}

/** Refuses an option that is set to something of another kind. */
export function requireThat(isMet: boolean, name: string, value: unknown, form: string): void {
  if (value !== undefined && !isMet) {
    throw invalid(`\`${name}\` must be ${form}`);
  }
}

/** Is this an object that may have fields? */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unknown(options: object, known: object): string[] {
  const names: string[] = [];
  for (const name in options) {
    if (!Object.hasOwn(known, name) && Reflect.get(options, name) !== undefined) {
      names.push(name);
    }
  }
  return names;
}

function invalid(message: string): ConfigurationError {
  const end = message.endsWith('?') ? '' : '.';
  return new ConfigurationError(message + end, { code: 'INVALID_OPTION' });
}
