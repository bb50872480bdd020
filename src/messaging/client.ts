import type {
  Call,
  RequestOptions,
  ClientOptions,
  DataOptions,
  ClientEvents,
  ApiKey,
} from '../core/types.js';
import {
  group,
  oneOf,
  type OptionKinds,
  clientOptions,
  readOptions,
  requestOptions,
} from '../core/options.js';
import { hasRow, mapSchemas, type RouteSchemas } from '../core/call/route.js';
import { type JobUpdate, type JobWatch, createStatusChecks } from '../core/wait.js';
import { createCallJournal, type CallJournal } from '../core/once/call-journal.js';
import { bindMethods, Connection, ServiceClient } from '../core/client.js';
import type { ServiceFacts } from '../core/settings.js';
import { Activity } from './activity.js';
import { Analytics } from './analytics.js';
import { Auth } from './auth.js';
import { setBulkPriority, verifyAll } from './bulk.js';
import { Campaigns } from './campaigns.js';
import { Config } from './config.js';
import { Contacts } from './contacts.js';
import type { BulkJob, ImportJob } from './contacts.types.js';
import { Domains } from './domains.js';
import {
  Emails,
  type AddressVerification,
  type SendRequest,
  type SendResult,
  type VerifiedAddress,
  type VerifyRequest,
} from './emails.js';
import type {
  EachMessage,
  EachRecipient,
  SendEachOptions,
  SendEachReport,
} from './emails/send-each.js';
import { Events, Tracking, type TrackRequest, type TrackResult } from './events.js';
import { limits } from './limits.js';
import { Projects } from './projects.js';
import { routes } from './routes.js';
import { Segments } from './segments.js';
import { filters, type FilterBuilder } from './shared/filters.js';
import { withRows, yieldWithRows, type RowSource } from './shared/row-source.js';
import { createTextCheck } from './shared/template-text.js';
import type { DataRules } from './shared/data.schemas.js';
import { Templates } from './templates.js';
import { Uploads } from './uploads.js';
import { Users } from './users.js';
import { Workflows } from './workflows.js';

/** The events that a messaging client emits. */
export interface MessagingEvents extends ClientEvents {
  /** Emitted after each status check of an import or bulk job. */
  'job:update': JobUpdate<ImportJob | BulkJob>;
}

/** Options of a {@link MessagingClient}. */
export interface MessagingOptions extends ClientOptions {
  /**
   * A secret key (`sk_`) on servers, a public key (`pk_`) for tracking only, a function that
   * returns one, or `null` for sign-in and `config.get()`.
   * @default the environment variable `MESSAGING_API_KEY`
   */
  apiKey?: ApiKey | undefined;
  /** How to treat custom fields that the service would silently ignore. */
  data?: DataOptions | undefined;
}

const messagingOptions: OptionKinds<MessagingOptions> = {
  ...clientOptions,
  data: group({
    reserved: oneOf('warn', 'throw', 'send'),
    emptyString: oneOf('warn', 'throw', 'delete', 'send'),
  }),
};

// The paths that begin and end the session of a signed-in user. They apply to calls without a route, too.
const session = {
  prefix: '/auth/',
  starts: [routes.auth.login.path, routes.auth.signup.path],
  end: routes.auth.logout.path,
};

const service: ServiceFacts<MessagingOptions> = {
  name: 'messaging',
  environment: { apiKey: 'MESSAGING_API_KEY', baseUrl: 'MESSAGING_BASE_URL' },
  keyPrefixes: { secret: 'sk_', public: 'pk_' },
  session,
  ...limits.requests,
  alwaysJson: false,
  keepMs: 30 * 24 * 3_600_000,
  hasCall: (call) => call === 'sendEach' || hasRow(routes, call),
  options: messagingOptions,
};

/**
 * The client of the messaging service. Give it the types of your custom fields, as an interface or a
 * type: `new MessagingClient<{ plan: 'free' | 'pro'; seats: number; trialEnds: Date }>()`.
 * @example
 * const messaging = new MessagingClient({ apiKey: 'sk_…', baseUrl: 'https://api.example.com' });
 * await messaging.send({ from: 'shop@example.com', to: 'ann@example.com', subject: 'Hi', body: '<p>Hi</p>' });
 */
export class MessagingClient<
  Fields extends object = object,
> extends ServiceClient<MessagingEvents> {
  /** Contacts and their custom fields. */
  readonly contacts: Contacts<Fields>;
  /** Email templates. */
  readonly templates: Templates;
  /** Bulk email. */
  readonly campaigns: Campaigns<Fields>;
  /** Groups of contacts. */
  readonly segments: Segments<Fields>;
  /** Automated steps that contacts go through. */
  readonly workflows: Workflows;
  /** Tracked events. */
  readonly events: Events<Fields>;
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
  /** Builds filters of your custom fields. */
  readonly filters: keyof Fields extends never ? FilterBuilder : FilterBuilder<Fields>;
  /** The keys of calls with `once`. */
  readonly journal: CallJournal;
  readonly #connection: Connection<MessagingEvents, MessagingOptions>;
  readonly #emails: Emails<Fields>;
  readonly #tracking: Tracking<Fields>;

  constructor(options: MessagingOptions = {}) {
    const load = () => loadSchemas(connection.options.data ?? {});
    const connection: Connection<MessagingEvents, MessagingOptions> = new Connection(
      service,
      options,
      load,
    );
    super(connection);
    const { data: rules = {} } = connection.options;
    this.#connection = connection;
    const { transport, events, settings } = connection;
    const { clock } = settings;
    const watch: JobWatch = {
      checks: createStatusChecks(clock),
      report: (update) => events.emit('job:update', update),
    };
    const warn = (message: string) => events.emit('warning', { method: '', path: '', message });
    this.contacts = new Contacts<Fields>(transport, { watch, rules, warn, clock });
    const checkTexts = createTextCheck(warn);
    this.templates = new Templates(transport, { warn, checkTexts });
    const { checks } = watch;
    this.campaigns = new Campaigns(transport, { checks, checkTexts });
    this.segments = new Segments(transport);
    this.workflows = new Workflows(transport, { checks, templates: this.templates, checkTexts });
    this.filters = filters();
    this.events = new Events(transport, rules);
    this.domains = new Domains(transport, checks);
    this.activity = new Activity(transport);
    this.analytics = new Analytics(transport);
    this.uploads = new Uploads(transport);
    this.config = new Config(transport);
    this.auth = new Auth(transport);
    this.users = new Users(transport);
    this.projects = new Projects(transport, warn);
    this.#emails = new Emails(transport, { rules, warn, checkTexts });
    this.#tracking = new Tracking(transport, rules);
    this.journal = createCallJournal(connection.keys);
    bindMethods(this);
  }

  /**
   * Sends an email immediately; the whole message may be at most 40 MB. Each recipient is created
   * or updated as a contact. The SDK itself never sends an email twice. The service handles several
   * recipients one after another: after an error with the outcome `'unknown'`, some of them may
   * have received it.
   */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- it makes the compiler name the property that is wrong
  send<Template extends string | undefined = undefined>(
    // The compiler compares an email without a `template` with `ContentSend` only, and names the field that is missing.
    body: SendRequest<Fields> & { template?: Template },
    options?: RequestOptions,
  ): Call<SendResult> {
    return this.#emails.send(body, options);
  }

  /**
   * Sends an email to each of any number of recipients, a few at a time within the rate limit, and
   * reports the result of each. With a journal and `once`, a run after a crash sends the remaining emails, and
   * nobody gets the email twice. Recipients who may have it are listed in `unknown`, and are mailed again only with
   * `unknown: 'send'`. Rows that cannot be sent are listed in `failed`. Rows are records: `subscribed` of a row is
   * never sent, and recipients with `false` are listed in `skipped`, unless `includeUnsubscribed` is set.
   * @throws a `PartialError` with the report so far when the run ends early: after an abort, if the service rejects the
   *   API key (401, 403), if the journal cannot be written, or if the source of recipients throws
   * @example
   * const { sent, failed, unknown } = await messaging.sendEach(
   *   ['ann@example.com', { email: 'bea@example.com', data: { plan: 'pro' } }],
   *   { from: 'shop@example.com', subject: 'News', body: '<p>Hi</p>' },
   *   { once: 'news-2027-03' }, // of a client with a journal
   * );
   */
  async sendEach(
    recipients: RowSource<EachRecipient<Fields>>,
    message: EachMessage<Fields>,
    options?: SendEachOptions,
  ): Promise<SendEachReport<EachRecipient<Fields>>> {
    return withRows(recipients, 'sendEach()', async (rows) => {
      // Loaded on demand: few programs mail a list.
      const { readEachOptions, sendEach } = await import('./emails/send-each.js');
      const own = readEachOptions(options, this.#connection.keys !== undefined);
      return sendEach<Fields>(rows, message, own, this.#emails);
    });
  }

  /**
   * Tracks an event for a contact, who is created or updated, and starts the workflows that listen
   * for it. A public key is enough. The SDK itself never sends an event twice. The service does not
   * document whether a contact that it creates is subscribed: services of this kind subscribe it.
   */
  track(body: TrackRequest<Fields>, options?: RequestOptions): Call<TrackResult> {
    return this.#tracking.track(body, options);
  }

  /** Checks an email address: format, domain, typos, disposable and personal providers. */
  verify(body: VerifyRequest, options?: RequestOptions): Call<AddressVerification> {
    return this.#emails.verify(body, options);
  }

  /**
   * Checks any number of email addresses, several at a time, and yields the results in order. A failed check
   * is yielded as a result with an `error`. An abort, a rejected key (401, 403) and a source that throws
   * end the iteration, after it has yielded the results of the checks in flight.
   */
  verifyAll(
    emails: RowSource<string>,
    options?: Omit<RequestOptions, 'once'>,
  ): AsyncIterableIterator<VerifiedAddress> {
    return yieldWithRows(emails, 'verifyAll()', (rows) => {
      const own = readOptions(options, requestOptions, { name: '`verifyAll()`' });
      return verifyAll(rows, (body) => this.verify(body, setBulkPriority(own)), own.signal);
    });
  }

  /** Creates a client with other options that shares this one's events, session and rate budget. */
  with(options: MessagingOptions): MessagingClient<Fields> {
    return derived<Fields>(this.#connection.derive(options));
  }
}

// Outside of the class, because bundlers rename a class that refers to itself, and consoles show that name.
function derived<Fields extends object>(options: MessagingOptions) {
  return new MessagingClient<Fields>(options);
}

async function loadSchemas(rules: DataOptions) {
  const { schemas } = await import('./schemas.js');
  const ownRules: DataRules = { ...rules, reportedDates: new Set() };
  const entries = [...mapSchemas(routes, schemas)].map(
    ([row, entry]) => [row, withRules(entry, ownRules)] as const,
  );
  return new Map(entries);
}

function withRules(entry: RouteSchemas, rules: DataRules): RouteSchemas {
  const { warnings } = entry;
  return warnings ? { ...entry, warnings: (body) => warnings(body, rules) } : entry;
}
