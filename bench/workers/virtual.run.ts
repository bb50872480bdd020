import { beforeAll, it } from 'vitest';
import { onFastClock } from '../media-queue/clock.js';
import { loadParts } from '../media-queue/parts.js';
import { virtualCrew } from './virtual.js';

const jobs = Number(process.env['JOBS'] ?? 400);

beforeAll(loadParts, 120_000);

it.each([
  { workers: 1, kills: 0 },
  { workers: 3, kills: 0 },
  { workers: 3, kills: 4 },
])(`$workers workers, ${jobs} videos, $kills kills`, async (scene) => {
  const { ratio, ...counts } = await onFastClock(() =>
    virtualCrew({ ...scene, jobs, leaseMinutes: 3, seed: 1 }),
  );
  const { workers, kills } = scene;
  console.log(`${workers} workers, ${kills} kills: ${ratio.toFixed(3)} of the bound`, counts);
});
