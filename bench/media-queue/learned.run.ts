import { expect, it } from 'vitest';
import { makespanOf, type Mix } from '../../test/support/media/model/mixes.js';

const seeds = Number(process.env['SEEDS'] ?? 31);

// Five kinds whose pace is unknown until the first thirty videos are finished.
const paces = [80, 90, 100, 110, 120];
const mixes: readonly (Mix & { readonly most: number })[] = [
  { count: 400, paces, luck: 0, most: 1.08 },
  { count: 400, paces, luck: 0.05, most: 1.08 },
  { count: 400, paces: [100], luck: 0.2, most: 1.12 },
  { count: 100, paces, luck: 0.05, most: 1.14 },
  { count: 100, paces: [100], luck: 0.2, most: 1.14 },
];

it.each(mixes)('$count videos, paces $paces, luck $luck', async ({ most, ...mix }) => {
  const ratios: number[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    ratios.push(await makespanOf(mix, seed));
  }
  ratios.sort((a, b) => a - b);
  const median = ratios[Math.ceil(seeds / 2) - 1] ?? 0;
  const { count, luck } = mix;
  console.log(
    `${count} videos, ${mix.paces.length} paces, luck ${luck}: median ${median.toFixed(3)}`,
  );
  expect(median).toBeLessThanOrEqual(most);
});
