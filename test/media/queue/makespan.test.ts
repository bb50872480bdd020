import { expect, it } from 'vitest';
import { onFastClock } from '../../../bench/media-queue/clock.js';
import { queue, simulate, type Run } from '../../../bench/media-queue/simulate.js';

// `npm run bench:media-queue` makes 31 runs of each, beside two other ways; here as many as fit
// into a few seconds.
it.each([
  { count: 20, runs: 5, median: 1.03, p95: 1.05 },
  { count: 100, runs: 2, median: 1.15, p95: 1.2 },
  { count: 400, runs: 1, median: 1.15, p95: 1.16 },
])(
  'makes $count videos within every limit, in $median times the minimum time ($runs runs)',
  async ({ count, runs, median, p95 }) => {
    const seen: Run[] = [];
    for (let seed = 1; seed <= runs; seed++) {
      seen.push(await onFastClock(() => simulate(queue, count, seed)));
    }
    const ratios = seen.map(({ ratio }) => ratio).sort((a, b) => a - b);
    const at = (share: number) => ratios[Math.ceil(share * runs) - 1];
    expect(at(0.5)).toBeLessThanOrEqual(median);
    expect(at(0.95)).toBeLessThanOrEqual(p95);
    expect(Math.max(...seen.map(({ maxPending }) => maxPending))).toBe(20);
    expect(seen.map(({ maxCalls }) => maxCalls).filter((calls) => calls > 10)).toEqual([]);
    expect(seen.map(({ refused }) => refused)).toEqual(seen.map(() => 0));
  },
  120_000, // seconds, unless the machine is busy
);
