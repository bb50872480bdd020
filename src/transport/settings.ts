import type {
  ClientOptions,
  RateLimitOptions,
  ValidationOptions,
} from '../contract/client-options.js';
import type { OptionKinds } from '../contract/options.js';
import type { BudgetLimits, RateBudgetStore } from '../contract/rate-budget-store.js';
import { ConfigurationError } from '../errors/index.js';
import { isPlainHttp, type ApiKey, type KeyPrefixes } from './auth/api-key.js';
import type { SessionPaths } from './auth/session.js';
import { readHeaders, type HeaderRecord } from './request/headers.js';
import { normalizeBaseUrl } from './request/url.js';

/** What is particular to one of the two services. */
export interface ServiceFacts<Options = object> {
  readonly name: string;
  readonly environment: { readonly apiKey: string; readonly baseUrl: string };
  /** How its keys begin; `undefined` where they have no form. */
  readonly keyPrefixes: KeyPrefixes | undefined;
  /** Where it keeps the session of a signed-in user, if it has sessions. */
  readonly session?: SessionPaths;
  readonly limit: number;
  readonly windowMs: number;
  /** Does every request carry `Content-Type: application/json`, a GET included? */
  readonly alwaysJson: boolean;
  /** The options of its client. */
  readonly options: OptionKinds<Options>;
}

/** A client's options, checked and complete. */
export interface Settings {
  readonly service: ServiceFacts;
  readonly baseUrl: string;
  readonly fetch: typeof globalThis.fetch | undefined;
  readonly timeoutMs: number;
  readonly retries: number;
  readonly limits: BudgetLimits | undefined;
  /** The service's window, also where limiting is off. */
  readonly windowMs: number;
  readonly group: string | undefined;
  readonly maxQueueMs: number;
  readonly hasOwnLimits: boolean;
  readonly store: RateBudgetStore | undefined;
  readonly validation: Required<{
    [Name in keyof ValidationOptions]: NonNullable<ValidationOptions[Name]>;
  }>;
  readonly headers: Readonly<HeaderRecord>;
  /** Would a key or a password travel over plain http for others to read? */
  readonly usesPlainHttp: boolean;
}

/** Fills in defaults and the environment's values; the options have been read. */
export function resolveSettings(service: ServiceFacts, options: ClientOptions): Settings {
  const limits = options.rateLimit === false ? undefined : options.rateLimit;
  const { limit = service.limit, windowMs = service.windowMs, headroom = 0 } = limits ?? {};
  const baseUrl = normalizeBaseUrl(addressOf(service, options));
  return {
    service,
    baseUrl,
    fetch: options.fetch,
    timeoutMs: options.timeout ?? 30_000,
    retries: options.retries ?? 2,
    limits: options.rateLimit === false ? undefined : { limit, windowMs, headroom },
    windowMs,
    group: limits?.group,
    maxQueueMs: limits?.maxQueueMs ?? Number.POSITIVE_INFINITY,
    hasOwnLimits: options.rateLimit !== false && hasLimits(limits),
    store: limits?.store,
    validation: {
      requests: options.validation?.requests ?? 'throw',
      responses: options.validation?.responses ?? 'event',
    },
    headers: readHeaders(options.headers),
    usesPlainHttp: isPlainHttp(baseUrl) && options.dangerouslyAllowPlainHttp !== true,
  };
}

/** The key that was given, or the environment's; `null` only when it was given. */
export function keyOf(service: ServiceFacts, given: ApiKey | undefined): ApiKey {
  if (given !== undefined) {
    return given;
  }
  const fromEnvironment = environment(service.environment.apiKey);
  if (fromEnvironment !== undefined) {
    return fromEnvironment;
  }
  throw new ConfigurationError(
    `The ${service.name} client needs an API key. Give it as \`apiKey\` or in ${service.environment.apiKey}.`,
    { code: 'API_KEY_MISSING' },
  );
}

function addressOf(service: ServiceFacts, options: ClientOptions): string {
  const address = options.baseUrl ?? environment(service.environment.baseUrl);
  if (address !== undefined) {
    return address;
  }
  throw new ConfigurationError(
    `The ${service.name} client needs the service's address. Give it as \`baseUrl\` or in ${service.environment.baseUrl}.`,
    { code: 'BASE_URL_MISSING' },
  );
}

function hasLimits({ limit, windowMs, headroom }: RateLimitOptions = {}): boolean {
  return (limit ?? windowMs ?? headroom) !== undefined;
}

/** A variable of the environment, where there is one; an empty one is none. */
export function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const value = process?.env?.[name];
  return value === '' ? undefined : value;
}
