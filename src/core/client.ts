import { BudgetSource } from './limit/budgets.js';
import type { ProjectState } from './limit/projects.js';
import { Events, loggerOf } from './events.js';
import { createHttp } from './call/http.js';
import { queueScopeOf, scopeOf } from './once/journal.js';
import { Keyring } from './keys.js';
import { Ledger } from './once/ledger.js';
import { ClaimLoop } from './once/claim-loop.js';
import type { KeyScope } from './once/key-scope.js';
import { readOptions } from './options.js';
import type { Method } from './call/route.js';
import { Transport } from './call/send.js';
import { Session } from './session.js';
import {
  keyOf,
  resolveSettings,
  type ConnectionOptions,
  type ServiceFacts,
  type Settings,
} from './settings.js';
import type {
  Call,
  ClientEvents,
  FreeInput,
  RateLimit,
  RateLimitState,
  RequestOptions,
} from './types.js';
import type { SchemaMap } from './call/validate.js';
import { isRecord } from './values.js';

/** The part of a connection that a client needs. It is small, because users' declarations include it. */
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

/** The methods that the clients of both services share. */
export class ServiceClient<Events extends ClientEvents> {
  /** The current state of the rate limit. */
  readonly rateLimit: RateLimit;
  readonly #connection: Connected;

  constructor(connection: Connected) {
    this.#connection = connection;
    this.rateLimit = { state: () => connection.transport.rateLimit() };
  }

  /**
   * Calls an endpoint that has no method in this package yet. The path is used as given: encode the values
   * that you insert. Calls are retried when needed, except POST.
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
 * Binds the methods of a client and of its resources, so that they work through a proxy, such as Vue's
 * `reactive()` or that of a DI container, and as separate functions.
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
  return Object.getPrototypeOf(value) as object | null; // as: a prototype is an object or null
}

/** The connection that options were derived from. Users cannot see it. */
const parents = new WeakMap<object, unknown>();

/** The internals of a client: settings, key, events, and the transport that uses them. */
export class Connection<
  Map extends ClientEvents = ClientEvents,
  Options extends ConnectionOptions = ConnectionOptions,
> {
  readonly transport: Transport;
  readonly events: Events<Map>;
  readonly keyring: Keyring;
  readonly settings: Settings;
  /** The scope of calls that are made once; `undefined` if the client has no journal. */
  readonly keys: KeyScope | undefined;
  /** The client's options as given, without those that are `undefined`. */
  readonly options: Options;
  readonly #service: ServiceFacts<Options>;
  readonly #session: Session;
  readonly #budgets: BudgetSource;

  /** Opens a connection to a service, or derives one if the options come from {@link derive}. */
  constructor(
    service: ServiceFacts<Options>,
    given: Options,
    loadSchemas: () => Promise<SchemaMap>,
  ) {
    const parent = parents.get(given) as Connection<Map, Options> | undefined; // as: written by `derive`
    const options = parent ? given : readClientOptions(given, service);
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
    const keepsJournal = parent && parent.#keepsJournal(options);
    this.keys = keepsJournal ? parent.keys : this.#newKeys();
    this.transport = new Transport({
      settings: this.settings,
      keyring: this.keyring,
      session: this.#session,
      budgets: this.#budgets,
      events: this.events,
      http: createHttp(this.settings.fetch),
      keys: this.keys,
      loadSchemas,
    });
  }

  /** The project, which holds everything that its clients share. */
  async project(): Promise<ProjectState> {
    return this.#budgets.project(await this.keyring.key());
  }

  /** The options of a client that shares as much of this connection as the changes allow. */
  derive(changes: Options): Options {
    const options = { ...this.options, ...readClientOptions(changes, this.#service) };
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

  #newKeys(): KeyScope | undefined {
    const { journal: store, keep: keepMs = this.#service.keepMs } = this.options;
    if (!store) {
      return undefined;
    }
    const { clock, group: owner } = this.settings;
    const scope = scopeOf(store, this.settings);
    const queueScope = queueScopeOf(this.settings);
    const warn = (message: string) =>
      this.events.emit('warning', { method: '', path: '', message });
    const scopes = [scope, queueScope];
    const { name, hasCall } = this.#service;
    const service = { name, hasCall };
    const ledger = new Ledger({ store, clock, keepMs, scopes, owner, service, warn });
    return { ledger, loop: new ClaimLoop(), scope, queueScope, owner, hasCall, warn };
  }

  #keepsJournal({ journal, keep, baseUrl, rateLimit }: ConnectionOptions): boolean {
    const { options } = this;
    const isSamePlace = baseUrl === options.baseUrl && rateLimit === options.rateLimit;
    return journal === options.journal && keep === options.keep && isSamePlace;
  }

  // With the same key and the same address, the key, the session and the budget are shared.
  #keepsKey(options: ConnectionOptions): boolean {
    const { apiKey, baseUrl } = this.options;
    return options.apiKey === apiKey && options.baseUrl === baseUrl;
  }
}

function readClientOptions<Options extends object>(
  given: Options,
  service: ServiceFacts<Options>,
): Options {
  return readOptions(given, service.options, {
    name: `the ${service.name} client`,
    isStrict: true,
    example: '{ apiKey, baseUrl }',
  });
}
