import { group, plainObject, readOptions, text, type OptionKinds } from '../../core/options.js';
import { clockOf, type Clock, type ClockOptions } from '../core/clock.js';
import { address, fakeId, Ids } from '../core/ids.js';
import { rateLimitKinds, type RateLimitOptions } from '../core/rate-limit.js';
import { createService, type FakeClientOptions, type Service } from '../core/service.js';
import { limitOf } from '../core/settings.js';
import type { Handlers } from '../core/types.js';
import { createWire } from '../core/wire.js';
import { enter, rateLimitBucket } from './access.js';
import { handlers as activity } from './activity.js';
import { handlers as analytics } from './analytics.js';
import { decodeRequest, encodeAnswer } from './answers.js';
import { addUser, handlers as auth } from './auth.js';
import { handlers as campaigns } from './campaigns.js';
import { handlers as contacts } from './contacts.js';
import { handlers as domains } from './domains.js';
import { handlers as emails } from './emails.js';
import { handlers as events } from './events.js';
import { addProject, handlers as projects } from './projects.js';
import { seed, type Seeded, type SeedPlan } from './seed.js';
import {
  settingsKinds,
  settingsOf,
  type MessagingSettings,
  type SettingsOptions,
} from './settings.js';
import { handlers as segments } from './segments.js';
import type { MessagingWorld, Project, Scope, SentEmail, User } from './state.js';
import { handlers as templates } from './templates.js';
import { handlers as uploads } from './uploads.js';
import { onEvent } from './workflow-engine.js';
import { handlers as workflows } from './workflows.js';

/** Options of a fake messaging service; its settings may be changed later. */
export interface FakeMessagingOptions extends SettingsOptions {
  /** @default a separate address, `https://messaging-….fake` */
  baseUrl?: string;
  /** The keys of `project`. @default separate keys, `sk_…` and `pk_…` */
  secretKey?: string;
  publicKey?: string;
  /** A clock, e.g. one shared with another fake, or how to make one. @default virtual time */
  clock?: Clock | ClockOptions;
  /** @default 1000 requests per minute and project, sliding */
  rateLimit?: Partial<RateLimitOptions>;
}

/** A fake messaging service: all of its behaviour, in memory. */
export interface FakeMessaging extends Service {
  /** For `new MessagingClient(fake.options)`: the secret key, the address and the `fetch`. */
  readonly options: FakeClientOptions;
  /** The current keys of `project`. */
  readonly secretKey: string;
  readonly publicKey: string;
  /** The project of these keys, readable and changeable; `example.com` is verified in it. */
  readonly project: Project;
  /** The login of the project's owner. */
  readonly owner: { readonly email: string; readonly password: string };
  /** Every email that was sent, oldest first. */
  readonly outbox: readonly SentEmail[];
  readonly settings: MessagingSettings;
  /** The whole state: users, sessions, mailed tokens, other projects. */
  readonly world: MessagingWorld;
  /** Adds a project with a separate owner. */
  readonly addProject: (name?: string) => Project;
  /** Fills `project` with made-up data, e.g. `seed({ contacts: 10_000 })`. */
  readonly seed: (plan: SeedPlan) => Seeded;
}

/** Every endpoint of the messaging service. */
const handlers: Handlers<Scope> = {
  ...emails,
  ...contacts,
  ...templates,
  ...campaigns,
  ...segments,
  ...workflows,
  ...events,
  ...domains,
  ...activity,
  ...analytics,
  ...uploads,
  ...auth,
  ...projects,

  // messaging, /config: feature flags of enabled integrations; their names are not shown.
  'GET /config': (_request, { world }) => ({
    body: {
      signups: !world.settings.disableSignups,
      billing: true,
      emailVerification: true,
      oauth: { github: false, google: false },
    },
  }),
};

const fakeOwner = {
  name: '`createFakeMessaging()`',
  isStrict: true,
  example: "{ clock: { mode: 'real' } }",
};
const fakeKinds: OptionKinds<FakeMessagingOptions> = {
  ...settingsKinds,
  baseUrl: address,
  secretKey: text,
  publicKey: text,
  clock: plainObject('a clock, or how to make one'),
  rateLimit: group(rateLimitKinds),
};

/** Creates a fake messaging service, reached by `fetch`, MSW or a local server. */
export function createFakeMessaging(given?: FakeMessagingOptions): FakeMessaging {
  const options = readOptions(given, fakeKinds, fakeOwner);
  const { secretKey, publicKey } = options;
  const clock = clockOf(options.clock);
  const id = fakeId();
  const begin = () => createWorld(clock, settingsOf(options), { id, secretKey, publicKey });
  let start = begin();
  const baseUrl = options.baseUrl ?? `https://messaging-${id}.fake`;
  const service = createMessagingService(baseUrl, () => start.world, options.rateLimit);

  return {
    ...service,
    owner: ownerLogin,
    addProject: (name = 'Another project') => addForeignProject(start.world, name),
    seed: (plan) => seed(start, plan),
    reset(): void {
      service.reset();
      start = begin();
    },
    // Getters, since `reset()` starts a new world.
    get options() {
      return { apiKey: start.project.secretKey, baseUrl: service.baseUrl, fetch: service.fetch };
    },
    get secretKey() {
      return start.project.secretKey;
    },
    get publicKey() {
      return start.project.publicKey;
    },
    get project() {
      return start.project;
    },
    get outbox() {
      return start.world.outbox;
    },
    get settings() {
      return start.world.settings;
    },
    get world() {
      return start.world;
    },
  };
}

function createMessagingService(
  baseUrl: string,
  world: () => MessagingWorld,
  rateLimit: FakeMessagingOptions['rateLimit'],
): Service {
  return createService({
    service: 'messaging',
    baseUrl,
    clock: world().clock,
    handlers,
    enter: (request, endpoint) => enter(world(), request, endpoint),
    bucket: (request) => rateLimitBucket(world(), request),
    // messaging, Limits: 1000 per minute per project.
    limit: () => ({
      limit: 1000,
      windowMs: 60_000,
      ...limitOf(world().settings),
      ...rateLimit,
    }),
    wire: createWire(world, {
      request: (request, endpoint) => decodeRequest(request, endpoint, world().settings),
      answer: (answer, endpoint) => encodeAnswer(answer, endpoint, world().settings),
    }),
  });
}

/** A project without members of the first one. */
function addForeignProject(world: MessagingWorld, name: string): Project {
  const email = `${world.id('owner')}@example.com`;
  return addProject(world, name, addUser(world, { email, password: ownerLogin.password }));
}

/** The login of the owner of every world's first project. */
const ownerLogin = { email: 'owner@example.com', password: 'password' } as const;

/** A world at its start, and the project that its keys belong to. */
interface Start {
  readonly world: MessagingWorld;
  readonly project: Project;
  readonly owner: User;
}

/** The keys of a world. */
interface Keys {
  /** Part of every key that the world makes. */
  readonly id: string;
  /** The keys of the first project. */
  readonly secretKey?: string | undefined;
  readonly publicKey?: string | undefined;
}

/** Creates a world with one user and one project, always with the same ids and keys. */
function createWorld(clock: Clock, settings: MessagingSettings, keys: Keys): Start {
  const ids = new Ids();
  let count = 0;
  const nextNumber = () => {
    count += 1;
    return String(count).padStart(6, '0');
  };
  const world: MessagingWorld = {
    clock,
    settings,
    ids,
    id: (prefix) => ids.issue(`${prefix}_${nextNumber()}`),
    key: (prefix) => `${prefix}_${keys.id}_${nextNumber()}`,
    projects: new Map(),
    users: new Map(),
    sessions: new Map(),
    outbox: [],
    mailedTokens: [],
    listeners: [onEvent],
  };
  const owner = addUser(world, ownerLogin);
  owner.isVerified = true;
  const project = addProject(world, 'Fake project', owner);
  project.secretKey = keys.secretKey ?? project.secretKey;
  project.publicKey = keys.publicKey ?? project.publicKey;
  return { world, owner, project };
}
