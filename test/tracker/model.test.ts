import { describe, expect, it } from 'vitest';
import { type Bug, runWorld } from '../support/tracker/model.js';

/** The number of random worlds; `npm run model` runs many more. */
const WORLDS = Number(process.env['MODEL_RUNS'] ?? 3000);

/** Each fault with the seed of a world that shows it. */
const BUGS: Readonly<Record<Bug, number>> = {
  'no mark before a request': 1,
  'finished events stay stored': 2,
  'a tab does not read its own key before a request': 9,
  'takes over without a lock and a wait': 39,
  'takes over from tabs that answer': 5103,
  'ignores the decisions of other tabs': 3,
  'does not write a decision back': 34,
  'drops open requests when the tracker is disposed of': 318,
  'does not count the bytes of the other trackers': 7,
};

describe('the queue of up to three tabs over one store', () => {
  it(`keeps its promises in ${WORLDS} random worlds`, { timeout: 1_800_000 }, () => {
    const broken: unknown[] = [];
    for (let seed = 1; seed <= WORLDS && broken.length < 3; seed++) {
      const problems = runWorld(seed);
      if (problems.length) {
        broken.push({ seed, problems });
      }
    }
    expect(broken).toEqual([]);
  });

  it.each(Object.entries(BUGS) as [Bug, number][])('would find this fault: %s', (bug, known) => {
    const world = isFoundIn(known, bug) ? known : search(bug);
    expect(world, `change its world to ${world}`).toBe(known);
  });
});

function isFoundIn(world: number, bug: Bug): boolean {
  return runWorld(world).length === 0 && runWorld(world, bug).length > 0;
}

function search(bug: Bug): number | undefined {
  return Array.from({ length: 20_000 }, (_, index) => index + 1).find((world) =>
    isFoundIn(world, bug),
  );
}
