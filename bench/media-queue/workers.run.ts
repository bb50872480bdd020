import { beforeAll, it } from 'vitest';
import { onFastClock } from './clock.js';
import { loadParts } from './parts.js';
import { simulateWorkers, type Scene } from './workers.js';

const scenes: Omit<Scene, 'seed'>[] = [
  { way: 'queue', workers: 2, jobs: 200, kills: 0, inHand: 0 },
  { way: 'queue', workers: 2, jobs: 200, kills: 4, inHand: 0 },
  { way: 'engine', workers: 1, jobs: 200, kills: 0, inHand: 20 },
  { way: 'engine', workers: 1, jobs: 200, kills: 0, inHand: 40 },
  { way: 'engine', workers: 2, jobs: 200, kills: 0, inHand: 40 },
  { way: 'engine', workers: 3, jobs: 200, kills: 4, inHand: 40 },
];

beforeAll(loadParts, 120_000);

it.each(scenes)('$way $workers workers $kills kills $inHand', async (scene) => {
  const runs = [];
  for (let seed = 1; seed <= Number(process.env['SEEDS'] ?? 5); seed++) {
    runs.push(await onFastClock(() => simulateWorkers({ ...scene, seed })));
  }
  const sorted = runs.map(({ ratio }) => ratio).sort((a, b) => a - b);
  const sum = (name: 'twice' | 'missing' | 'refused' | 'calls' | 'checks') =>
    runs.reduce((all, run) => all + run[name], 0);
  console.log(
    JSON.stringify(scene),
    `median ${sorted[Math.floor(sorted.length / 2)]?.toFixed(3)} max ${sorted.map((r) => r.toFixed(2))} twice ${sum('twice')} missing ${sum('missing')} refused ${sum('refused')} calls ${sum('calls') / runs.length} checks ${sum('checks') / runs.length}`,
  );
});
