import { afterAll, beforeAll, describe, it } from 'vitest';
import { firefoxProblem } from '../../support/tracker/browser.js';
import {
  type Figures,
  type World,
  createWorld,
  expectExactly,
} from '../../support/tracker/world.js';
import * as scenarios from './scenarios.js';

/** How often each case is run: what goes wrong by chance shows only then. */
const REPETITIONS = Number(process.env['TRACKER_REPETITIONS'] ?? 20);
/** How many browsers run at a time: a repetition waits more than it works. */
const LANES = 2;

const CASES: [string, (world: World) => Promise<Figures>][] = [
  ['a navigation', scenarios.navigate],
  ['5 tabs', scenarios.tabs],
  ['offline', scenarios.offline],
  ['a kill', scenarios.killBoth],
];

export function describeFirefox(): void {
  const problem = firefoxProblem();
  if (problem) {
    console.log(`[firefox] skipped: ${problem}`);
  }
  describe.skipIf(problem)('in Firefox', { timeout: 900_000 }, () => {
    let worlds: World[] = [];
    beforeAll(async () => {
      worlds = await Promise.all(Array.from({ length: LANES }, () => createWorld('firefox')));
    }, 180_000);
    afterAll(() => Promise.all(worlds.map((world) => world.close())), 60_000);

    it.each(CASES)(`delivers everything once: %s, ${REPETITIONS} times`, async (_, run) => {
      let left = REPETITIONS;
      const repeat = async (world: World) => {
        while (left-- > 0) {
          world.service.reset();
          expectExactly(await run(world));
        }
      };
      await Promise.all(worlds.map(repeat));
    });
  });
}
