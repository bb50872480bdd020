import { expect, it } from 'vitest';
import { forecastShares } from '../../test/support/media/model/forecasts.js';

const mixes = Number(process.env['FORECASTS'] ?? 1_000);

it(`of ${mixes} mixes 85 to 95 % end before the P90`, async () => {
  const { before50, before90 } = await forecastShares(mixes);
  console.log(`${mixes} mixes: ${before50} before P50, ${before90} before P90`);
  expect(before90).toBeGreaterThanOrEqual(0.85);
  expect(before90).toBeLessThanOrEqual(0.95);
});
