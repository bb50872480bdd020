import { describe, expect, it } from 'vitest';
import { liveWorld } from '../support/tracker/model/run.js';

/** Worlds that are lived; `npm run model` lives many more. */
const WORLDS = Number(process.env['MODEL_RUNS'] ?? 1500);

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
});
