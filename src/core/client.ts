import { clockFor, type Clock } from './async.js';
import { BudgetSource } from './budgets.js';
import { ConfigurationError } from './errors.js';
import { Events, loggerOf } from './events.js';
import { createHttp } from './http.js';
import { isPlainHttp, Keyring, type KeyPrefixes } from './keys.js';
import { readOptions, type OptionKinds } from './options.js';
import type { BudgetLimits, RateBudgetStore } from './rate-store.js';
import { normalizeBaseUrl, readHeaders, type HeaderRecord } from './request.js';
import type { Method } from './route.js';
import { Transport } from './send.js';
import { Session, type SessionPaths } from './session.js';
import type {
  ApiKey,
  Call,
  ClientEvents,
  ClientOptions,
  FreeInput,
  RateLimit,
  RateLimitOptions,
  RateLimitState,
  RequestOptions,
  ValidationOptions,
} from './types.js';
import { environment, isRecord } from './values.js';
import type { SchemaMap } from './validate.js';

/** What a client needs of its connection; narrow, since the types of users include it. */
interface Connected {
  readonly events: {
    on(name: string, listener: (event: never) => void): void;
    once(name: string, listener: (event: never) => void): void;
    off(name: string, listener: (event: never) => void): void;
  };
  readonly transport: {
    request(method: Method, path: string, input?: FreeInput, options?: RequestOptions): unknown;
    rateLimit(): RateLimitState | undefined;
  };
}

/** What the clients of both services can do. */
export class ServiceClient<Events extends ClientEvents> {
  /** How much of the rate limit is left. */
  readonly rateLimit: RateLimit;
  readonly #connection: Connected;

  constructor(connection: Connected) {
    this.#connection = connection;
    this.rateLimit = { state: () => connection.transport.rateLimit() };
  }

  /**
   * Calls an endpoint that has no method here yet. The path is used as is: encode what you put into
   * it. Every method but POST is retried when needed.
   */
  request<Result = unknown>(
    method: Method,
    path: string,
    input?: FreeInput,
    options?: RequestOptions,
  ): Call<Result> {
    return this.#connection.transport.request(method, path, input, options) as Call<Result>; // the caller's word
  }

  /** Adds a listener for an event. */
  on<Name extends keyof Events & string>(
    name: Name,
    listener: (event: Events[Name]) => void,
  ): this {
    this.#connection.events.on(name, listener);
    return this;
  }

  /** Adds a listener for the next event of that name only. */
  once<Name extends keyof Events & string>(
    name: Name,
    listener: (event: Events[Name]) => void,
  ): this {
    this.#connection.events.once(name, listener);
    return this;
  }

  /** Removes a listener. */
  off<Name extends keyof Events & string>(
    name: Name,
    listener: (event: Events[Name]) => void,
  ): this {
    this.#connection.events.off(name, listener);
    return this;
  }
}

/**
 * Binds the methods of a client and of the resources that it holds, so that they work through a proxy,
 * such as Vue's `reactive()` or a DI container's, and as functions of their own.
 */
export function bindMethods(owner: object): void {
  let prototype = prototypeOf(owner);
  for (; prototype && prototype !== Object.prototype; prototype = prototypeOf(prototype)) {
    for (const name of Object.getOwnPropertyNames(prototype)) {
      const method: unknown = Object.getOwnPropertyDescriptor(prototype, name)?.value;
      if (typeof method === 'function' && name !== 'constructor' && !Object.hasOwn(owner, name)) {
        const bound: unknown = method.bind(owner);
        Object.defineProperty(owner, name, { value: bound, configurable: true, writable: true });
      }
    }
  }
  const held = Object.values(owner).filter(isRecord);
  held.filter((one) => prototypeOf(one) !== Object.prototype).forEach(bindMethods);
}

function prototypeOf(value: object): object | null {
  return Object.getPrototypeOf(value) as object | null; // by its definition
}

/** The options that every client takes, its key included. */
export type ConnectionOptions = ClientOptions & { apiKey?: ApiKey | undefined };

/** The connection that options were derived from, unseen by users. */
const parents = new WeakMap<object, unknown>();

/** A client's own half: settings, key, events, and the transport made of them. */
export class Connection<
  Map extends ClientEvents = ClientEvents,
  Options extends ConnectionOptions = ConnectionOptions,
> {
  readonly transport: Transport;
  readonly events: Events<Map>;
  readonly keyring: Keyring;
  readonly settings: Settings;
  /** The client's options as they were given: what was `undefined` is left out. */
  readonly options: Options;
  readonly #service: ServiceFacts<Options>;
  readonly #session: Session;
  readonly #budgets: BudgetSource;

  /** Opens a connection to a service, or derives one when the options come from {@link derive}. */
  constructor(
    service: ServiceFacts<Options>,
    given: Options,
    loadSchemas: () => Promise<SchemaMap>,
  ) {
    const parent = parents.get(given) as Connection<Map, Options> | undefined; // as `derive` wrote it
    const options = parent ? given : read(given, service);
    const keepsKey = parent !== undefined && parent.#keepsKey(options);
    this.#service = service;
    this.options = options;
    this.settings = resolveSettings(service, options);
    this.keyring = parent && keepsKey ? parent.keyring : this.#newKeyring();
    this.#session = parent && keepsKey ? parent.#session : new Session(service.session);
    const parentBudgets = parent && keepsKey ? parent.#budgets : undefined;
    const keepsBudget = parent && options.rateLimit === parent.options.rateLimit;
    this.#budgets =
      parentBudgets && keepsBudget ? parentBudgets : new BudgetSource(this.settings, parentBudgets);
    this.events =
      parent && options.logger === parent.options.logger
        ? parent.events
        : new Events(loggerOf(options.logger));
    this.transport = new Transport({
      settings: this.settings,
      keyring: this.keyring,
      session: this.#session,
      budgets: this.#budgets,
      events: this.events,
      http: createHttp(this.settings.fetch),
      loadSchemas,
    });
  }

  /** The name of the project, for what all its clients share; it holds the key. */
  async projectName(): Promise<string> {
    return this.#budgets.projectName(await this.keyring.key());
  }

  /** The options of a client that shares this connection as far as the changes allow. */
  derive(changes: Options): Options {
    const options = { ...this.options, ...read(changes, this.#service) };
    parents.set(options, this);
    return options;
  }

  #newKeyring(): Keyring {
    const { apiKey, dangerouslyAllowSecretKeyInBrowser: allowedInBrowser = false } = this.options;
    const { key, origin } = keyOf(this.#service, apiKey);
    const prefixes = this.#service.keyPrefixes;
    const { usesPlainHttp } = this.settings;
    return new Keyring(key, { prefixes, allowedInBrowser, usesPlainHttp, origin });
  }

  // The same key at the same address: then key, session and budget are shared.
  #keepsKey(options: ConnectionOptions): boolean {
    const { apiKey, baseUrl } = this.options;
    return options.apiKey === apiKey && options.baseUrl === baseUrl;
  }
}

function read<Options extends object>(given: Options, service: ServiceFacts<Options>): Options {
  return readOptions(given, service.options, {
    name: `the ${service.name} client`,
    isStrict: true,
    example: '{ apiKey, baseUrl }',
  });
}

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
  /** Where the address comes from, as an error names it. */
  readonly baseUrlOrigin: string;
  readonly fetch: typeof globalThis.fetch | undefined;
  readonly clock: Clock;
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
export function resolveSettings(service: ServiceFacts, options: ConnectionOptions): Settings {
  const limits = options.rateLimit === false ? undefined : options.rateLimit;
  const { limit = service.limit, windowMs = service.windowMs, headroom = 0 } = limits ?? {};
  const { baseUrl: given, baseUrlOrigin } = addressOf(service, options);
  const baseUrl = normalizeBaseUrl(given);
  return {
    service,
    baseUrl,
    baseUrlOrigin,
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

/** A key and where it comes from, as an error names it. */
export interface KeySource {
  readonly key: ApiKey;
  readonly origin: string;
}

/** The key that was given, or the environment's; `null` only when it was given. */
export function keyOf(service: ServiceFacts, given: ApiKey | undefined): KeySource {
  if (given !== undefined) {
    const kind = typeof given === 'function' ? 'function' : 'option';
    return { key: given, origin: `the ${kind} \`apiKey\`` };
  }
  const variable = service.environment.apiKey;
  const key = environment(variable);
  if (key === undefined) {
    throw missing(service, ['an API key', 'apiKey', variable], 'API_KEY_MISSING');
  }
  return { key, origin: variable };
}

function addressOf(
  service: ServiceFacts,
  { baseUrl, apiKey }: ConnectionOptions,
): { baseUrl: string; baseUrlOrigin: string } {
  const names = service.environment;
  if (baseUrl !== undefined) {
    return { baseUrl, baseUrlOrigin: 'the option `baseUrl`' };
  }
  const address = environment(names.baseUrl);
  if (address !== undefined) {
    return { baseUrl: address, baseUrlOrigin: names.baseUrl };
  }
  const hasKey = apiKey !== undefined || environment(names.apiKey) !== undefined;
  const what = hasKey ? 'an address' : 'an address and an API key';
  const options = hasKey ? 'baseUrl' : 'baseUrl` and `apiKey';
  const variables = hasKey ? names.baseUrl : `${names.baseUrl} and ${names.apiKey}`;
  throw missing(service, [what, options, variables], 'BASE_URL_MISSING');
}

function missing(
  { name }: ServiceFacts,
  [what, options, variables]: readonly [string, string, string],
  code: string,
): ConfigurationError {
  return new ConfigurationError(
    `The ${name} client needs ${what}: pass \`${options}\`, or set ${variables} (Node reads a file with \`node --env-file=.env\`, dotenv does elsewhere). To try it without an account, run \`npx postreel fake\`; in a test, pass \`createFake${capitalised(name)}().options\` of postreel/testing.`,
    { code },
  );
}

function hasLimits({ limit, windowMs, headroom }: RateLimitOptions = {}): boolean {
  return (limit ?? windowMs ?? headroom) !== undefined;
}

function capitalised(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
