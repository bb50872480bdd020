import type { Table, Value } from 'postreel/testing';

/** A world that differs from the document's in one setting. */
export interface World<Settings extends Table> {
  /** The setting and its value, for the names of tests. */
  readonly name: string;
  readonly setting: keyof Settings & string;
  readonly world: Readonly<Record<string, Value>>;
}

/** Every world that differs from the document's in one setting. */
export function worldsOf<Settings extends Table>(table: Settings): World<Settings>[] {
  return Object.entries(table).flatMap(([setting, { values }]) =>
    values.slice(1).map((value) => ({
      name: `${setting}: ${value}`,
      setting,
      world: { [setting]: value },
    })),
  );
}
