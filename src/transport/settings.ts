import type {
  ClientOptions,
  RateLimitOptions,
  ValidationOptions,
} from '../contract/client-options.js';
import type { BudgetLimits, RateBudgetStore } from '../contract/rate-budget-store.js';
import { ConfigurationError } from '../errors/index.js';
import { checkClientOptions, count, number, positive } from './option-checks.js';
import { isInTheClear, type ApiKey, type KeyPrefixes } from './auth/api-key.js';
import type { SessionPaths } from './auth/session.js';
import { normalizeBaseUrl } from './request/url.js';

/** What is particular to one of the two services. */
export interface ServiceFacts {
  readonly name: string;
  readonly environment: { readonly apiKey: string; readonly baseUrl: string };
  /** How its keys begin; `undefined` where they have no form. */
  readonly keyPrefixes: KeyPrefixes | undefined;
  /** Where it keeps the session of a signed-in user, if it knows any. */
  readonly session?: SessionPaths;
  readonly limit: number;
  readonly windowMs: number;
  /** Does every request carry `Content-Type: application/json`, a GET included? */
  readonly alwaysJson: boolean;
  /** The options that only its client has. */
  readonly options?: Readonly<Record<string, true>>;
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
  readonly headers: Readonly<Record<string, string>>;
  /** Would a key or a password travel over plain http for others to read? */
  readonly travelsInTheClear: boolean;
}

/** Fills in defaults and the environment's values, and refuses what cannot work. */
export function settle(service: ServiceFacts, options: ClientOptions): Settings {
  checkClientOptions(options, service);
  const limits = options.rateLimit;
  const baseUrl = normalizeBaseUrl(addressOf(service, options));
  return {
    service,
    baseUrl,
    fetch: options.fetch,
    timeoutMs: positive('timeout', options.timeout ?? 30_000),
    retries: count('retries', options.retries ?? 2),
    limits: limits === false ? undefined : limitsOf(service, limits),
    windowMs: (limits === false ? undefined : limits?.windowMs) ?? service.windowMs,
    group: limits === false ? undefined : limits?.group,
    maxQueueMs: (limits === false ? undefined : limits?.maxQueueMs) ?? Number.POSITIVE_INFINITY,
    hasOwnLimits: limits !== false && hasLimits(limits),
    store: limits === false ? undefined : limits?.store,
    validation: {
      requests: options.validation?.requests ?? 'throw',
      responses: options.validation?.responses ?? 'event',
    },
    headers: options.headers ?? {},
    travelsInTheClear: isInTheClear(baseUrl) && !options.dangerouslyAllowPlainHttp,
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

function limitsOf(service: ServiceFacts, given: ClientOptions['rateLimit']): BudgetLimits {
  const own = given === false ? undefined : given;
  const headroom = own?.headroom ?? 0;
  if (!(headroom >= 0 && headroom < 1)) {
    throw new ConfigurationError('`rateLimit.headroom` must be a share from 0 up to 1.', {
      code: 'INVALID_OPTION',
    });
  }
  return {
    limit: number('rateLimit.limit', own?.limit ?? service.limit),
    windowMs: positive('rateLimit.windowMs', own?.windowMs ?? service.windowMs),
    headroom,
  };
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
