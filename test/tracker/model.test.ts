import { describe, expect, it } from 'vitest';
import { BUGS } from '../support/tracker/model/bugs.js';
import { liveWorld } from '../support/tracker/model/run.js';

/** Worlds that are lived; `npm run model` lives many more. */
const WORLDS = Number(process.env['MODEL_RUNS'] ?? 5000);

describe('the protocol, in random worlds', () => {
  it(`keeps its promises in ${WORLDS} of them`, { timeout: 1_800_000 }, () => {
    const broken: unknown[] = [];
    for (let seed = 1; seed <= WORLDS && broken.length < 3; seed++) {
      const { problems } = liveWorld(seed);
      if (problems.length) {
        broken.push({ seed, problems });
      }
    }
    expect(broken).toEqual([]);
  });

  it.each(BUGS)('would find: %s', { timeout: 300_000 }, (bug) => {
    let seed = 1;
    while (seed <= 20_000 && !liveWorld(seed, bug).problems.length) {
      seed++;
    }
    console.log(`${bug}: found in world ${seed}`);
    expect(seed).toBeLessThanOrEqual(20_000);
  });
});
