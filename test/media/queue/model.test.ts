import { expect, it } from 'vitest';
import { violationsIn } from '../../support/media/model/world.js';

const worlds = Number(process.env['MODEL_WORLDS'] ?? 150);
const first = Number(process.env['SEED'] ?? 1);

it(`keeps every promise in ${worlds} hostile worlds`, async () => {
  const broken: string[] = [];
  for (let seed = first; seed < first + worlds; seed++) {
    const violations = await violationsIn(seed);
    broken.push(...violations.map((violation) => `seed ${seed}: ${violation}`));
  }
  expect(broken).toEqual([]);
}, 3_600_000);
