import { afterAll, beforeAll, beforeEach, describe, it } from 'vitest';
import { firefoxProblem } from '../support/browser.js';
import { type Figures, type World, createWorld, expectExactly } from '../support/world.js';
import * as scenarios from './scenarios.js';

// Twenty in a full run (`TRACKER_REPETITIONS=20`): they take ten minutes.
const REPETITIONS = Number(process.env['TRACKER_REPETITIONS'] ?? 2);

/** The cases that fail by chance are run twenty times each. */
const CASES: [string, (world: World) => Promise<Figures>][] = [
  ['a navigation', (world) => scenarios.navigate(world, 'no-duplicates')],
  ['5 tabs', scenarios.tabs],
  ['offline', scenarios.offline],
  ['a kill', scenarios.killBoth],
];

export function describeFirefox(): void {
  const problem = firefoxProblem();
  if (problem) console.log(`[firefox] skipped: ${problem}`);
  describe.skipIf(problem)('in Firefox', { timeout: 900_000 }, () => {
    let world: World;
    beforeAll(async () => {
      world = await createWorld('firefox');
    }, 180_000);
    beforeEach(() => world.service.reset());
    afterAll(() => world.close(), 60_000);

    it.each(CASES)(`delivers everything once: %s, ${REPETITIONS} times`, async (_, run) => {
      for (let round = 0; round < REPETITIONS; round++) {
        world.service.reset();
        expectExactly(await run(world));
      }
    });
  });
}
