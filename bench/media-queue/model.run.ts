import { expect, it } from 'vitest';
import { violationsIn } from '../../test/support/media/model/world.js';

// `MODEL_WORLDS=100 SEED=7 npm run model` runs fewer, or repeats what a seed has shown.
const worlds = Number(process.env['MODEL_WORLDS'] ?? 20_000);
const first = Number(process.env['SEED'] ?? 1);

it(`the queue keeps every promise in ${worlds} hostile worlds`, async () => {
  let violations = 0;
  for (let seed = first; seed < first + worlds; seed++) {
    for (const violation of await violationsIn(seed)) {
      violations++;
      console.log(`seed ${seed}: ${violation}`);
    }
    if ((seed - first + 1) % 1_000 === 0) {
      console.log(`seeds ${first} to ${seed}: ${violations} violations`);
    }
  }
  expect(violations).toBe(0);
});
