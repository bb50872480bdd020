import type { Call, RequestOptions } from '../contract/call.js';
import type { ClientOptions } from '../contract/client-options.js';
import type { Method } from '../contract/route.js';
import { schemaMap } from '../contract/schema-map.js';
import { createSpacing } from '../polling/spacing.js';
import type { ApiKey } from '../transport/auth/api-key.js';
import { Connection } from '../transport/connection.js';
import type { FreeInput } from '../transport/request/custom-request.js';
import type { RateLimit } from '../transport/rate-limit/rate-limit.js';
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
  /** Mails to fill in. */
  readonly templates: Templates;
  /** Mail to many. */
  readonly campaigns: Campaigns;
  /** Groups of contacts. */
  readonly segments: Segments;
  /** Steps that contacts walk through. */
  readonly workflows: Workflows;
  /** Tracked events. */
  readonly events: Events;
  /** Domains that mail is sent from. */
  readonly domains: Domains;
  /** The feed of what happened. */
  readonly activity: Activity;
  /** Figures over time. */
  readonly analytics: Analytics;
  /** Images for mails. */
  readonly uploads: Uploads;
  /** What the service has switched on. */
  readonly config: Config;
  /** Sign-up, sign-in and passwords. */
  readonly auth: Auth;
  /** The signed-in user. */
  readonly users: Users;
  /** Own projects, their members and billing. */
  readonly projects: Projects;
  /** How much of the rate limit is left. */
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
    this.templates = new Templates(transport);
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
   * Sends an email at once, of at most 40 MB. Recipients are created or updated as contacts. Never
   * sent twice by itself. Several recipients are handled one after another: after an error with
   * the outcome `'unknown'` some of them may have been mailed.
   */
  send(body: SendRequest, options?: RequestOptions): Call<SendResult> {
    return this.#emails.send(body, options);
  }

  /**
   * Tracks an event of a contact, who is made or updated, and starts the workflows that listen to
   * it. A public key will do. Never sent twice by itself.
   */
  track(body: TrackRequest, options?: RequestOptions): Call<TrackResult> {
    return this.#tracking.track(body, options);
  }

  /** Checks an address: its form, its domain, typing errors, disposable and personal providers. */
  verify(body: VerifyRequest, options?: RequestOptions): Call<AddressVerification> {
    return this.#emails.verify(body, options);
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
  on<Name extends keyof MessagingEvents>(
    name: Name,
    listener: (event: MessagingEvents[Name]) => void,
  ): this {
    this.#connection.events.on(name, listener);
    return this;
  }

  /** Listens to the next event of that name only. */
  once<Name extends keyof MessagingEvents>(
    name: Name,
    listener: (event: MessagingEvents[Name]) => void,
  ): this {
    this.#connection.events.once(name, listener);
    return this;
  }

  /** Stops listening. */
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
