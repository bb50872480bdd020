import { anything, type OptionKinds } from '../../core/options.js';

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

/** The kinds of these settings as options; the check of the world is stricter. */
export function kindsOf<Settings extends Table>(
  table: Settings,
): OptionKinds<Partial<BehaviorOf<Settings>>> {
  const kinds = Object.keys(table).map((name) => [name, anything()]);
  return Object.fromEntries(kinds) as OptionKinds<Partial<BehaviorOf<Settings>>>; // its own names
}

/** The world that follows the document, with some settings changed. */
export function behaviorOf<Settings extends Table>(
  table: Settings,
  changes: Partial<BehaviorOf<Settings>> = {},
): BehaviorOf<Settings> {
  const chosen = Object.entries(table).map(([name, { values }]) => [
    name,
    check(name, values, changes[name]) ?? values[0],
  ]);
  // Entries lose the names of the settings.
  return Object.fromEntries(chosen) as BehaviorOf<Settings>;
}

function check(
  name: string,
  values: readonly Value[],
  value: Value | undefined,
): Value | undefined {
  if (value === undefined || values.includes(value)) {
    return value;
  }
  const got = ['object', 'function', 'symbol'].includes(typeof value)
    ? typeof value
    : String(value);
  throw new TypeError(`\`behavior.${name}\` must be one of ${values.join(', ')}; got ${got}.`);
}
