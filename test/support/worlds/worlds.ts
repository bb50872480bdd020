import type { Table, Value } from 'postreel/testing';
import fc from '../property.js';

/** Some settings of a fake, by their names; the rest is as documented. */
export type World = Readonly<Record<string, Value>>;

/** The document's own world, and then each world that differs from it in one setting. */
export function alternatives(table: Table): World[] {
  return Object.entries(table).flatMap(([name, { values }]) =>
    values.slice(1).map((value) => ({ [name]: value })),
  );
}

/** Few worlds in which any two values of any two settings meet. */
export function pairwise(table: Table): World[] {
  const names = Object.keys(table);
  const open = new Set<string>();
  for (const [at, one] of names.entries()) {
    for (const other of names.slice(at + 1)) {
      for (const left of table[one]!.values) {
        for (const right of table[other]!.values) {
          open.add(pair(one, left, other, right));
        }
      }
    }
  }
  const worlds: World[] = [];
  while (open.size > 0) {
    const world = cover(table, open);
    for (const [at, one] of names.entries()) {
      for (const other of names.slice(at + 1)) {
        open.delete(pair(one, world[one]!, other, world[other]!));
      }
    }
    worlds.push(world);
  }
  return worlds;
}

const pair = (one: string, left: Value, other: string, right: Value) =>
  `${one}=${left}&${other}=${right}`;

/** A world that starts with an open pair and chooses each further value by how many pairs it closes. */
function cover(table: Table, open: ReadonlySet<string>): World {
  const [first = ''] = open;
  const world: Record<string, Value> = {};
  for (const part of first.split('&')) {
    const [name = '', text] = part.split('=');
    world[name] = table[name]!.values.find((value) => String(value) === text)!;
  }
  const order = Object.keys(table);
  for (const name of order) {
    if (name in world) {
      continue;
    }
    const chosen = Object.entries(world);
    const gain = (value: Value) =>
      chosen.filter(([other, known]) =>
        open.has(
          order.indexOf(other) < order.indexOf(name)
            ? pair(other, known, name, value)
            : pair(name, value, other, known),
        ),
      ).length;
    world[name] = table[name]!.values.reduce((best, value) =>
      gain(value) > gain(best) ? value : best,
    );
  }
  return world;
}

/** So many worlds by chance; the same ones for the same seed. */
export function randomWorlds(table: Table, count: number, seed: number): World[] {
  const world = fc.record(
    Object.fromEntries(
      Object.entries(table).map(([name, { values }]) => [name, fc.constantFrom(...values)]),
    ),
  );
  return fc.sample(world, { numRuns: count, seed }); // a record loses its types
}

/** A world as one line, for the names of tests. */
export function nameOf(world: World): string {
  const parts = Object.entries(world).map(([name, value]) => `${name}: ${value}`);
  return parts.length === 0 ? 'the document' : parts.join(', ');
}

/** Are all worlds wanted, not a share of them? */
export const isWhole = process.env['WORLDS'] === 'all';

/**
 * Everything, or a tenth of it: the same one each time, unless `WORLDS_SHARE` asks for another.
 * `npm run test:worlds` takes all.
 */
export function inTurn<T>(all: readonly T[], name: string, shares = 10): readonly T[] {
  if (isWhole || process.env['WORLDS'] === 'alternatives') {
    return all;
  }
  const share = Number(process.env['WORLDS_SHARE'] ?? 0) % shares;
  console.log(`${name}: share ${share} of ${shares}; WORLDS_SHARE asks for another one`);
  return all.filter((_, index) => index % shares === share);
}

/** The seed of this run: the same one each time, unless `WORLDS_SEED` asks for another. */
export function newSeed(): number {
  return Number(process.env['WORLDS_SEED'] ?? 1);
}
