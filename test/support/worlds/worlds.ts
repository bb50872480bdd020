import type { Table, Value } from 'postreel/testing';

/** Some settings of a fake, by their names; the rest is as documented. */
export type World = Readonly<Record<string, Value>>;

/** The document's own world, and then each world that differs from it in one setting. */
export function alternatives(table: Table): World[] {
  return Object.entries(table).flatMap(([name, { values }]) =>
    values.slice(1).map((value) => ({ [name]: value })),
  );
}

/** A world as one line, for the names of tests. */
export function nameOf(world: World): string {
  const parts = Object.entries(world).map(([name, value]) => `${name}: ${value}`);
  return parts.length === 0 ? 'the document' : parts.join(', ');
}
