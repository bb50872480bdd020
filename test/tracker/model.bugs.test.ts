import { describe, expect, it } from 'vitest';
import { BUGS } from '../support/tracker/model/bugs.js';
import { liveWorld } from '../support/tracker/model/run.js';

// Apart from the model itself, since changed code is asked for by the model alone.
describe('the model of the protocol', () => {
  it.each(BUGS)('would find: %s', { timeout: 300_000 }, (bug) => {
    let seed = 1;
    while (seed <= 20_000 && !liveWorld(seed, bug).problems.length) {
      seed++;
    }
    console.log(`${bug}: found in world ${seed}`);
    expect(seed).toBeLessThanOrEqual(20_000);
  });
});
