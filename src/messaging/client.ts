import type { Call, RequestOptions } from '../contract/call.js';
import type { ClientOptions } from '../contract/client-options.js';
import type { ClientEvents } from '../contract/events.js';
import type { Method } from '../contract/route.js';
import { createSpacing } from '../polling/spacing.js';
import type { ApiKey } from '../transport/auth.js';
import { Connection } from '../transport/connection.js';
import type { FreeInput } from '../transport/free-request.js';
import type { RateLimit } from '../transport/rate-limit.js';
import type { ServiceFacts } from '../transport/settings.js';
import { Contacts } from './contacts/resource.js';

/** Options of a {@link MessagingClient}. */
export interface MessagingOptions extends ClientOptions {
  /**
   * A secret key (`sk_`) on servers, a public key (`pk_`) for tracking alone, a function that
   * fetches one, or `null` for sign-in and `config.get()`.
   * @default the environment's MESSAGING_API_KEY
   */
  apiKey?: ApiKey | undefined;
}

const service: ServiceFacts = {
  name: 'messaging',
  environment: { apiKey: 'MESSAGING_API_KEY', baseUrl: 'MESSAGING_BASE_URL' },
  keyPrefixes: ['sk_', 'pk_'],
  // "1000 per minute per project" (Limits)
  limit: 1000,
  windowMs: 60_000,
  alwaysJson: false,
};

/**
 * The client of the messaging service.
 * @example
 * const messaging = new MessagingClient({ apiKey: 'sk_…', baseUrl: 'https://api.example.com' });
 * await messaging.send({ from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: '<p>Hi</p>' });
 */
export class MessagingClient {
  /** People and their custom fields. */
  readonly contacts: Contacts;
  /** How much of the rate limit is left. */
  readonly rateLimit: RateLimit;
  readonly #connection: Connection;

  constructor(options: MessagingOptions = {}) {
    this.#connection = new Connection(service, options, loadSchemas);
    const { transport } = this.#connection;
    this.contacts = new Contacts(transport, createSpacing());
    this.rateLimit = { state: () => transport.rateLimit() };
  }

  /**
   * Calls an endpoint that has no method here yet. The path is used as it is: encode what you put
   * into it. GET, PUT and DELETE are repeated where that is needed, POST and PATCH are not.
   */
  request<Result = unknown>(
    method: Method,
    path: string,
    input?: FreeInput,
    options?: RequestOptions,
  ): Call<Result> {
    return this.#connection.transport.request(method, path, input, options) as Call<Result>; // the caller's word
  }

  /** A client with other options that shares this one's events, session and rate budget. */
  with(options: MessagingOptions): MessagingClient {
    return new MessagingClient(this.#connection.derive(options));
  }

  /** Listens to what the client does. */
  on<Name extends keyof ClientEvents>(
    name: Name,
    listener: (event: ClientEvents[Name]) => void,
  ): this {
    this.#connection.events.on(name, listener);
    return this;
  }

  /** Listens to the next event of that name only. */
  once<Name extends keyof ClientEvents>(
    name: Name,
    listener: (event: ClientEvents[Name]) => void,
  ): this {
    this.#connection.events.once(name, listener);
    return this;
  }

  /** Stops listening. */
  off<Name extends keyof ClientEvents>(
    name: Name,
    listener: (event: ClientEvents[Name]) => void,
  ): this {
    this.#connection.events.off(name, listener);
    return this;
  }
}

async function loadSchemas() {
  const { schemas } = await import('./schemas.js');
  return schemas;
}
