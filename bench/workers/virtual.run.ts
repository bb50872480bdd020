import { beforeAll, it } from 'vitest';
import { onFastClock } from '../media-queue/clock.js';
import { loadParts } from '../media-queue/parts.js';
import { virtualCrew } from './virtual.js';

const jobs = Number(process.env['JOBS'] ?? 400);

beforeAll(loadParts, 120_000);

it.each([
  { workers: 1, inHand: 20, kills: 0 },
  { workers: 1, inHand: 40, kills: 0 },
  { workers: 2, inHand: 40, kills: 0 },
  { workers: 3, inHand: 40, kills: 0 },
  { workers: 3, inHand: 40, kills: 4 },
])(`$workers workers with $inHand jobs each, ${jobs} videos, $kills kills`, async (scene) => {
  const { ratio, ...counts } = await onFastClock(() =>
    virtualCrew({ ...scene, jobs, leaseMinutes: 1, seed: 1 }),
  );
  const { workers, inHand, kills } = scene;
  const crew = `${workers} workers, ${inHand} in hand, ${kills} kills`;
  console.log(`${crew}: ${ratio.toFixed(3)} of the bound`, counts);
});
