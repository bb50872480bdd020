import type { Call, RequestOptions } from '../contract/call.js';
import type { ClientOptions } from '../contract/client-options.js';
import type { Method } from '../contract/route.js';
import { schemaMap } from '../contract/schemas.js';
import { createSpacing } from '../polling/spacing.js';
import type { ApiKey } from '../transport/auth/api-key.js';
import { Connection } from '../transport/connection.js';
import type { FreeInput } from '../transport/request/custom-request.js';
import type { RateLimit } from '../transport/rate-limit/budget.js';
import type { ServiceFacts } from '../transport/settings.js';
import { Activity } from './activity/resource.js';
import { Analytics } from './analytics/resource.js';
import { Auth } from './auth/resource.js';
import type { MessagingEvents } from './client-events.js';
import { Campaigns } from './campaigns/resource.js';
import { Config } from './config/resource.js';
import { Contacts } from './contacts/resource.js';
import { Domains } from './domains/resource.js';
import { Emails } from './emails/resource.js';
import type {
  AddressVerification,
  SendRequest,
  SendResult,
  VerifyRequest,
} from './emails/types.js';
import { Events } from './events/resource.js';
import { Tracking } from './events/tracking.js';
import type { TrackRequest, TrackResult } from './events/types.js';
import { Projects } from './projects/resource.js';
import { routes } from './routes.js';
import { Segments } from './segments/resource.js';
import { Templates } from './templates/resource.js';
import { Uploads } from './uploads/resource.js';
import { Users } from './users/resource.js';
import { Workflows } from './workflows/resource.js';

/** Options of a {@link MessagingClient}. */
export interface MessagingOptions extends ClientOptions {
  /**
   * A secret key (`sk_`) on servers, a public key (`pk_`) for tracking only, a function that
   * returns one, or `null` for sign-in and `config.get()`.
   * @default the environment variable `MESSAGING_API_KEY`
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
  /** Contacts and their custom fields. */
  readonly contacts: Contacts;
  /** Email templates. */
  readonly templates: Templates;
  /** Bulk email. */
  readonly campaigns: Campaigns;
  /** Groups of contacts. */
  readonly segments: Segments;
  /** Automated steps that contacts go through. */
  readonly workflows: Workflows;
  /** Tracked events. */
  readonly events: Events;
  /** Sender domains. */
  readonly domains: Domains;
  /** The activity feed. */
  readonly activity: Activity;
  /** Metrics over time. */
  readonly analytics: Analytics;
  /** Images for email bodies. */
  readonly uploads: Uploads;
  /** Feature flags of the service. */
  readonly config: Config;
  /** Sign-up, sign-in and passwords. */
  readonly auth: Auth;
  /** The signed-in user. */
  readonly users: Users;
  /** Your projects, their members and billing. */
  readonly projects: Projects;
  /** The state of the rate limit. */
  readonly rateLimit: RateLimit;
  readonly #connection: Connection<MessagingEvents>;
  readonly #emails: Emails;
  readonly #tracking: Tracking;

  constructor(options: MessagingOptions = {}) {
    this.#connection = new Connection(service, options, loadSchemas);
    const { transport, events } = this.#connection;
    this.contacts = new Contacts(transport, {
      spacing: createSpacing(),
      tell: (update) => events.emit('job:update', update),
    });
    this.templates = new Templates(transport, (message) => {
      events.emit('warning', { method: '', path: '', message });
    });
    this.campaigns = new Campaigns(transport);
    this.segments = new Segments(transport);
    this.workflows = new Workflows(transport);
    this.events = new Events(transport);
    this.domains = new Domains(transport);
    this.activity = new Activity(transport);
    this.analytics = new Analytics(transport);
    this.uploads = new Uploads(transport);
    this.config = new Config(transport);
    this.auth = new Auth(transport);
    this.users = new Users(transport);
    this.projects = new Projects(transport);
    this.#emails = new Emails(transport);
    this.#tracking = new Tracking(transport);
    this.rateLimit = { state: () => transport.rateLimit() };
  }

  /**
   * Sends an email immediately; the whole message may be at most 40 MB. Each recipient is created
   * or updated as a contact. The SDK never sends it twice on its own. The service handles several
   * recipients one after another: after an error with the outcome `'unknown'`, some of them may
   * have received it.
   */
  send(body: SendRequest, options?: RequestOptions): Call<SendResult> {
    return this.#emails.send(body, options);
  }

  /**
   * Tracks an event for a contact, who is created or updated, and starts the workflows that listen
   * for it. A public key is enough. The SDK never sends it twice on its own.
   */
  track(body: TrackRequest, options?: RequestOptions): Call<TrackResult> {
    return this.#tracking.track(body, options);
  }

  /** Checks an email address: format, domain, typos, disposable and personal providers. */
  verify(body: VerifyRequest, options?: RequestOptions): Call<AddressVerification> {
    return this.#emails.verify(body, options);
  }

  /**
   * Calls an endpoint that has no method here yet. The path is used as is: encode what you put into
   * it. GET, PUT and DELETE are retried when needed, POST and PATCH are not.
   */
  request<Result = unknown>(
    method: Method,
    path: string,
    input?: FreeInput,
    options?: RequestOptions,
  ): Call<Result> {
    return this.#connection.transport.request(method, path, input, options) as Call<Result>; // the caller's word
  }

  /** Creates a client with other options that shares this one's events, session and rate budget. */
  with(options: MessagingOptions): MessagingClient {
    return new MessagingClient(this.#connection.derive(options));
  }

  /** Adds a listener for an event. */
  on<Name extends keyof MessagingEvents>(
    name: Name,
    listener: (event: MessagingEvents[Name]) => void,
  ): this {
    this.#connection.events.on(name, listener);
    return this;
  }

  /** Adds a listener for the next event of that name only. */
  once<Name extends keyof MessagingEvents>(
    name: Name,
    listener: (event: MessagingEvents[Name]) => void,
  ): this {
    this.#connection.events.once(name, listener);
    return this;
  }

  /** Removes a listener. */
  off<Name extends keyof MessagingEvents>(
    name: Name,
    listener: (event: MessagingEvents[Name]) => void,
  ): this {
    this.#connection.events.off(name, listener);
    return this;
  }
}

async function loadSchemas() {
  const { schemas } = await import('./schemas.js');
  return schemaMap(routes, schemas);
}
