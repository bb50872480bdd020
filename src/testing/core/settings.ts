import { anything, group, type OptionKinds } from '../../core/options.js';
import type { RateLimitOptions } from './rate-limit.js';

/** A point on which a document is silent, and the ways in which services fill the gap. */
export interface Setting {
  /** The first value is the default: the document's own reading. */
  readonly values: readonly [Value, Value, ...Value[]];
  /** The difference, in a few words. */
  readonly what: string;
  /** The place where the document leaves the point open. */
  readonly silent: string;
}

/** A value of a setting. */
export type Value = string | number | boolean;

/** Settings by name. */
export type Table = Readonly<Record<string, Setting>>;

/** One value for each setting of a table: a world. */
export type BehaviorOf<Settings extends Table> = {
  -readonly [Name in keyof Settings]: Settings[Name]['values'][number];
};

/** The points in which both documents are silent in the same way. */
export const sharedBehaviors = {
  ids: {
    values: ['text', 'uuid'],
    what: 'how ids look',
    silent: 'Resources: an id is a string; what it looks like is not shown',
  },
  envelopes: {
    values: ['documented', 'always', 'never'],
    what: 'which answers are wrapped in `{ success: true, data }`',
    silent: 'General conventions, contradicted by the create response of campaigns',
  },
  extraFields: {
    values: ['none', 'flat', 'nested'],
    what: 'fields that no document names',
    silent: 'Versioning: whether answers may grow is not shown',
  },
  refusals: {
    values: ['status', 'ok'],
    what: 'whether a refusal has its HTTP status, or 200 with `success: false`',
    silent: 'Errors: the envelope repeats the status in `error.statusCode`',
  },
  rateLimitWindow: {
    values: ['sliding', 'fixed', 'bucket'],
    what: 'how the requests of a window are counted',
    silent: 'Limits: "per minute" and "per 10 minutes"',
  },
  rateLimitHeaders: {
    values: ['retry-after', 'retry-after-date', 'ratelimit', 'x-ratelimit', 'none'],
    what: 'which headers of a 429 tell when to retry',
    silent: 'Limits: no header is shown',
  },
  serviceClock: {
    values: ['right', 'hour-behind', 'hour-ahead'],
    what: 'the clock behind the dates in headers',
    silent: 'not shown; no two clocks agree',
  },
} as const satisfies Table;

/** The behavior that both services share. */
export type SharedBehavior = BehaviorOf<typeof sharedBehaviors>;

/** How far ahead each of the clocks is, in milliseconds. */
const clockAheadMs = {
  right: 0,
  'hour-behind': -3_600_000,
  'hour-ahead': 3_600_000,
} as const satisfies Record<SharedBehavior['serviceClock'], number>;

/** The part of the rate limit that the settings decide. */
export function limitOf(settings: SharedBehavior): Partial<RateLimitOptions> {
  return {
    algorithm: settings.rateLimitWindow,
    headers: settings.rateLimitHeaders,
    clockAheadMs: clockAheadMs[settings.serviceClock],
  };
}

/** Options with the settings of a world: in `behavior`, or next to it. */
export type SettingOptions<Behavior> = Partial<Behavior> & { behavior?: Partial<Behavior> };

/** The kinds of these options. The check of the world is stricter. */
export function kindsOf<Settings extends Table>(
  table: Settings,
): OptionKinds<SettingOptions<BehaviorOf<Settings>>> {
  const names = Object.keys(table).map((name) => [name, anything()]);
  // as: entries lose their names
  const kinds = Object.fromEntries(names) as OptionKinds<Partial<BehaviorOf<Settings>>>;
  return { ...kinds, behavior: group(kinds, 'an object of settings') } as OptionKinds<
    SettingOptions<BehaviorOf<Settings>>
  >;
}

/** The world of these options: as the document reads, with some settings changed. */
export function behaviorOf<Settings extends Table>(
  table: Settings,
  given: SettingOptions<BehaviorOf<Settings>>,
): BehaviorOf<Settings> {
  const chosen = Object.entries(table).map(([name, { values }]) => {
    const value: unknown = given[name] ?? given.behavior?.[name];
    return [name, value === undefined ? values[0] : check(name, values, value)];
  });
  // Entries lose the names of the settings.
  return Object.fromEntries(chosen) as BehaviorOf<Settings>;
}

function check(name: string, values: readonly Value[], value: unknown): Value {
  const found = values.find((one) => one === value);
  if (found !== undefined) {
    return found;
  }
  const hasNoText = ['object', 'function', 'symbol'].includes(typeof value);
  const got = hasNoText ? typeof value : String(value);
  throw new TypeError(`\`behavior.${name}\` must be one of ${values.join(', ')}; got ${got}.`);
}
