import { expect, it } from 'vitest';
import { forecastShares } from '../../../support/media/model/forecasts.js';

// `npm run bench:media-queue` plays 1 000 mixes through.
const mixes = 60;

it(`of ${mixes} mixes about nine in ten end before the P90, and about half before the P50`, async () => {
  const { before50, before90 } = await forecastShares(mixes);
  expect(before90).toBeGreaterThanOrEqual(0.8);
  expect(before90).toBeLessThanOrEqual(0.98);
  expect(before50).toBeGreaterThan(0.35);
  expect(before50).toBeLessThan(0.7);
}, 120_000);
