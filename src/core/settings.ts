import { clockFor, type Clock } from './async.js';
import { capitalize, ConfigurationError } from './errors.js';
import type { KeyPrefixes } from './keys.js';
import type { OptionKinds } from './options.js';
import type { BudgetLimits, RateBudgetStore } from './limit/rate-store.js';
import { readHeaders, type HeaderRecord } from './call/headers.js';
import type { SessionPaths } from './session.js';
import type { ApiKey, ClientOptions, RateLimitOptions, ValidationOptions } from './types.js';
import { readEnvironment } from './runtime.js';

/** The options that every client takes, including its key. */
export type ConnectionOptions = ClientOptions & { apiKey?: ApiKey | undefined };

/** The facts about one of the two services. */
export interface ServiceFacts<Options = object> {
  readonly name: string;
  readonly environment: { readonly apiKey: string; readonly baseUrl: string };
  /** The prefixes of its keys; `undefined` if its keys have no fixed form. */
  readonly keyPrefixes: KeyPrefixes | undefined;
  /** The paths of the session of a signed-in user, if the service has sessions. */
  readonly session?: SessionPaths;
  readonly limit: number;
  readonly windowMs: number;
  /** How long the key of an answered call is kept by default, in milliseconds. */
  readonly keepMs: number;
  /** Is this a call of the service? Calls are named as in entries of a journal. */
  readonly hasCall: (call: string) => boolean;
  /** Does every request carry `Content-Type: application/json`, including a GET? */
  readonly alwaysJson: boolean;
  /** The kinds of its client's options. */
  readonly options: OptionKinds<Options>;
}

/** A client's options, checked and complete. */
export interface Settings {
  readonly service: ServiceFacts;
  readonly baseUrl: string;
  /** The name under which errors mention the setting of the address, e.g. `MESSAGING_BASE_URL`. */
  readonly baseUrlName: string;
  readonly fetch: typeof globalThis.fetch | undefined;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly limits: BudgetLimits | undefined;
  /** The service's window in milliseconds, even if limiting is off. */
  readonly windowMs: number;
  readonly group: string | undefined;
  readonly maxQueueMs: number;
  readonly hasOwnLimits: boolean;
  readonly store: RateBudgetStore | undefined;
  readonly validation: Required<{
    [Name in keyof ValidationOptions]: NonNullable<ValidationOptions[Name]>;
  }>;
  readonly headers: Readonly<HeaderRecord>;
  /** Would a key or a password be sent over plain http, where others can read it? */
  readonly usesPlainHttp: boolean;
}

/** Completes checked options with defaults and the environment's values. */
export function resolveSettings(service: ServiceFacts, options: ConnectionOptions): Settings {
  const limits = options.rateLimit === false ? undefined : options.rateLimit;
  const { limit = service.limit, windowMs = service.windowMs, headroom = 0 } = limits ?? {};
  const { baseUrl: given, baseUrlName } = addressOf(service, options);
  const baseUrl = normalizeBaseUrl(given, baseUrlName);
  return {
    service,
    baseUrl,
    baseUrlName,
    fetch: options.fetch,
    clock: clockFor(options.fetch),
    timeoutMs: options.timeout ?? 30_000,
    retries: options.retries ?? 2,
    limits: options.rateLimit === false ? undefined : { limit, windowMs, headroom },
    windowMs,
    group: limits?.group,
    maxQueueMs: limits?.maxQueueMs ?? Number.POSITIVE_INFINITY,
    hasOwnLimits: hasLimits(limits),
    store: limits?.store,
    validation: {
      requests: options.validation?.requests ?? 'throw',
      responses: options.validation?.responses ?? 'event',
    },
    headers: readHeaders(options.headers),
    usesPlainHttp: isPlainHttp(baseUrl) && options.dangerouslyAllowPlainHttp !== true,
  };
}

/** A key, and the name of its source in errors. */
interface KeySource {
  readonly key: ApiKey;
  readonly origin: string;
}

/** The given key, or the environment's. `null` only if it was given. */
export function keyOf(service: ServiceFacts, given: ApiKey | undefined): KeySource {
  if (given !== undefined) {
    const kind = typeof given === 'function' ? 'function' : 'option';
    return { key: given, origin: `the ${kind} \`apiKey\`` };
  }
  const variable = service.environment.apiKey;
  const key = readEnvironment(variable);
  if (key === undefined) {
    throw missingSettingError(service, ['an API key', 'apiKey', variable], 'API_KEY_MISSING');
  }
  return { key, origin: variable };
}

function addressOf(
  service: ServiceFacts,
  { baseUrl, apiKey }: ConnectionOptions,
): { baseUrl: string; baseUrlName: string } {
  const names = service.environment;
  if (baseUrl !== undefined) {
    return { baseUrl, baseUrlName: '`baseUrl`' };
  }
  const address = readEnvironment(names.baseUrl);
  if (address !== undefined) {
    return { baseUrl: address, baseUrlName: names.baseUrl };
  }
  const hasKey = apiKey !== undefined || readEnvironment(names.apiKey) !== undefined;
  const what = hasKey ? 'an address' : 'an address and an API key';
  const options = hasKey ? 'baseUrl' : 'baseUrl` and `apiKey';
  const variables = hasKey ? names.baseUrl : `${names.baseUrl} and ${names.apiKey}`;
  throw missingSettingError(service, [what, options, variables], 'BASE_URL_MISSING');
}

/** Checks a base address and normalizes it: no query, no trailing slash. Errors use `name` for it. */
export function normalizeBaseUrl(text: string, name: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new ConfigurationError(
      `${name} is not an absolute address. Give it with its scheme, e.g. "https://api.example.com".`,
      { code: 'INVALID_BASE_URL' },
    );
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new ConfigurationError(`${name} must start with https:// or http://.`, {
      code: 'INVALID_BASE_URL',
    });
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new ConfigurationError(`${name} must not hold credentials, a query or a fragment.`, {
      code: 'INVALID_BASE_URL',
    });
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/** Is this an http address outside of this machine? */
export function isPlainHttp(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === 'http:' && !isLoopback(hostname);
}

/** Does this host name stay on this machine? */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

function missingSettingError(
  { name }: ServiceFacts,
  [what, options, variables]: readonly [string, string, string],
  code: string,
): ConfigurationError {
  return new ConfigurationError(
    `The ${name} client needs ${what}: pass \`${options}\`, or set ${variables} (Node reads a file with \`node --env-file=.env\`, dotenv does elsewhere). To try it without an account, run \`npx postreel fake\`; in a test, pass \`createFake${capitalize(name)}().options\` of postreel/testing.`,
    { code },
  );
}

function hasLimits({ limit, windowMs, headroom }: RateLimitOptions = {}): boolean {
  return (limit ?? windowMs ?? headroom) !== undefined;
}
