import type { ClientOptions } from '../contract/client-options.js';
import type { ClientEvents } from '../contract/events.js';
import type { ApiKey } from './auth/api-key.js';
import { readOptions } from '../contract/options.js';
import { loggerOf } from './console-logger.js';
import { BudgetSource } from './rate-limit/budget-source.js';
import { Events } from './events.js';
import { Keyring } from './auth/keyring.js';
import { Session } from './auth/session.js';
import { keyOf, resolveSettings, type ServiceFacts, type Settings } from './settings.js';
import { createHttp } from './send/http.js';
import { Transport } from './transport.js';
import type { SchemaMap } from './validation/issues.js';

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
    const keepsKey = parent?.keepsKey(options) ?? false;
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
  private keepsKey(options: ConnectionOptions): boolean {
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
