import { expect, it } from 'vitest';
import { onFastClock } from '../../bench/media-queue/clock.js';
import { queue, simulate, type Run } from '../../bench/media-queue/simulate.js';

// `npm run bench:media-queue` does the same over 31 seeds, beside two other ways.
it.each([
  [20, 5, 1.02],
  [100, 7, 1.15],
  [400, 1, 1.12],
])(
  'makes %i videos within every limit, %i seeds, near the least time possible (%f)',
  async (count, seeds, target) => {
    const runs: Run[] = [];
    for (let seed = 1; seed <= seeds; seed++) {
      runs.push(await onFastClock(() => simulate(queue, count, seed)));
    }
    const ratios = runs.map(({ ratio }) => ratio).sort((a, b) => a - b);
    expect(ratios[Math.floor(ratios.length / 2)]).toBeLessThanOrEqual(target);
    expect(Math.max(...runs.map(({ mostPending }) => mostPending))).toBeLessThanOrEqual(20);
    expect(runs.map(({ refused }) => refused)).toEqual(runs.map(() => 0));
  },
  240_000,
);
