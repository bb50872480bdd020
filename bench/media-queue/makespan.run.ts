import { it } from 'vitest';
import { onFastClock } from './clock.js';
import {
  batchesOfTwenty,
  oneJobACall,
  plainCalls,
  queue,
  simulate,
  type Policy,
  type Run,
} from './simulate.js';

const policies: readonly [string, Policy, number][] = [
  ['media.queue()', queue, Number(process.env['SEEDS'] ?? 31)],
  ['plain calls', plainCalls, 5],
  ['batches of twenty', batchesOfTwenty, 3],
  ['one job a call', oneJobACall, 3],
];

// To run one case: `npm run bench:media-queue -- -t '400 videos.*media.queue'`.
const cases = [20, 100, 400].flatMap((count) =>
  policies.map(([name, policy, seeds]) => ({ count, name, policy, seeds })),
);

it.each(cases)('$count videos, $name', async ({ count, name, policy, seeds }) => {
  const runs: Run[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    runs.push(await onFastClock(() => simulate(policy, count, seed)));
  }
  console.log(`${String(count).padStart(4)} videos  ${name.padEnd(18)} ${figures(runs)}`);
});

function figures(runs: readonly Run[]): string {
  const ratios = runs.map(({ ratio }) => ratio).sort((a, b) => a - b);
  const at = (share: number) => (ratios[Math.ceil(share * ratios.length) - 1] ?? 0).toFixed(3);
  const refused = runs.reduce((sum, run) => sum + run.refused, 0);
  const most = Math.max(...runs.map(({ maxPending }) => maxPending));
  const inWindow = Math.max(...runs.map(({ maxCalls }) => maxCalls));
  return `median ${at(0.5)}  p95 ${at(0.95)}  refused ${refused}  most pending ${most}, calls in 10 min ${inWindow}  (${runs.length} seeds)`;
}
