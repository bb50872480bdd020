import { expect, it } from 'vitest';
import { liveWorld, type Facts } from '../../support/media/model/world.js';

/** `MODEL_WORLDS=20000` lives more of them, `MODEL_FROM=10001` begins later, `SEED=17` lives one. */
const worlds = Number(process.env['MODEL_WORLDS'] ?? 60);
const from = Number(process.env['MODEL_FROM'] ?? 1);
const seed = process.env['SEED'];

it(`bills nothing twice, loses no id and ends every job in ${seed === undefined ? worlds : 1} random worlds`, async () => {
  const seeds =
    seed === undefined
      ? Array.from({ length: worlds }, (_, index) => from + index)
      : [Number(seed)];
  const broken: unknown[] = [];
  const sums: Partial<Facts> = {};
  for (const [index, one] of seeds.entries()) {
    if (index > 0 && index % 500 === 0) {
      console.log(`${index} worlds, ${broken.length} broken`);
    }
    const { violations, facts } = await liveWorld(one);
    if (violations.length > 0) {
      broken.push({ seed: one, violations });
      console.log(`SEED=${one}`, violations);
    }
    for (const [name, count] of Object.entries(facts) as [keyof Facts, number][]) {
      sums[name] = (sums[name] ?? 0) + count;
    }
  }
  expect(broken).toEqual([]);
  if (seed === undefined) {
    expect(Object.entries(sums).filter(([, count]) => count === 0)).toEqual([]); // kinds of trouble
  }
}, 7_200_000);
