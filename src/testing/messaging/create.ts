import { group, plainObject, readOptions, text, type OptionKinds } from '../../core/options.js';
import { clockAheadMs } from '../behavior/shared.js';
import { clockOf, type Clock, type ClockOptions } from '../core/clock.js';
import { address, fakeId } from '../core/ids.js';
import { rateLimitKinds, type RateLimitOptions } from '../core/rate-limit.js';
import { createService, type FakeClientOptions, type Service } from '../core/service.js';
import { enter, rateLimitBucket } from './access.js';
import { handlers } from './handlers.js';
import { addProject } from './projects.js';
import { seed, type Seeded, type SeedPlan } from './seed.js';
import {
  settingsKinds,
  settingsOf,
  type MessagingSettings,
  type SettingsOptions,
} from './settings.js';
import type { MessagingWorld, Project, SentEmail } from './state.js';
import { addUser } from './users.js';
import { messagingWire } from './wire.js';
import { createWorld, ownerLogin } from './world.js';

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
      ...limiterOf(world().settings),
      ...rateLimit,
    }),
    wire: messagingWire(world),
  });
}

function limiterOf(settings: MessagingSettings): Partial<RateLimitOptions> {
  return {
    algorithm: settings.rateLimitWindow,
    headers: settings.rateLimitHeaders,
    clockAheadMs: clockAheadMs[settings.serviceClock],
  };
}

/** A project without members of the first one. */
function addForeignProject(world: MessagingWorld, name: string): Project {
  const email = `${world.id('owner')}@example.com`;
  return addProject(world, name, addUser(world, { email, password: ownerLogin.password }));
}
