import { expect, it } from 'vitest';
import { onFastClock } from '../../../bench/media-queue/clock.js';
import { queue, simulate } from '../../../bench/media-queue/simulate.js';

// `npm run bench:media-queue` also makes 400 videos, with 31 seeds, and compares other ways to make them.
it.each([
  { count: 20, seed: 1, ratio: 1.04 },
  { count: 20, seed: 2, ratio: 1.04 },
  { count: 100, seed: 1, ratio: 1.15 },
])(
  'makes $count videos within every limit, in $ratio times the least time possible (seed $seed)',
  async ({ count, seed, ratio }) => {
    const run = await onFastClock(() => simulate(queue, count, seed));
    expect(run.ratio).toBeLessThanOrEqual(ratio);
    expect(run.maxPending).toBe(20);
    expect(run.maxCalls).toBeLessThanOrEqual(10);
    expect(run.refused).toBe(0);
  },
);
