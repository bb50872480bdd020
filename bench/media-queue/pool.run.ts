import { beforeAll, it } from 'vitest';
import { onFastClock } from './clock.js';
import { loadParts } from './parts.js';
import { simulatePool } from './pool.js';

const jobs = Number(process.env['JOBS'] ?? 4_000);

beforeAll(loadParts, 120_000);

it.each([0, 3])(`ten keys, ${jobs} videos, killed %i times`, async (kills) => {
  const { ratio, twice, lost, refused } = await onFastClock(() =>
    simulatePool({ keys: 10, jobs, kills, seed: 1 + kills }),
  );
  const figures = `${ratio.toFixed(3)} of the bound  twice ${twice}  lost ${lost}  refused ${refused}`;
  console.log(`10 keys, ${jobs} videos, ${kills} kills: ${figures}`);
});
