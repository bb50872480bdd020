import { describe, expect, it } from 'vitest';
import { type Bug, liveWorld } from '../support/tracker/model.js';

/** Worlds that are lived; `npm run model` lives many more. */
const WORLDS = Number(process.env['MODEL_RUNS'] ?? 3000);

/** Each with a world that shows it. */
const BUGS: Readonly<Record<Bug, number>> = {
  'no mark before a request': 1,
  'what has ended stays stored': 2,
  'the own key is not read before a request': 9,
  'takes over without a lock and a wait': 39,
  'takes over from tabs that answer': 5103,
  'hears of no decision': 3,
  'writes no decision back': 34,
  'gives open requests up with its tracker': 318,
  'counts bytes for itself alone': 7,
};

describe('the queue of up to three tabs over one store', () => {
  it(`keeps its promises in ${WORLDS} random worlds`, { timeout: 1_800_000 }, () => {
    const broken: unknown[] = [];
    for (let seed = 1; seed <= WORLDS && broken.length < 3; seed++) {
      const problems = liveWorld(seed);
      if (problems.length) {
        broken.push({ seed, problems });
      }
    }
    expect(broken).toEqual([]);
  });

  it.each(Object.entries(BUGS) as [Bug, number][])('would show: %s', (bug, known) => {
    const world = isFoundIn(known, bug) ? known : search(bug);
    expect(world, `change its world to ${world}`).toBe(known);
  });
});

function isFoundIn(world: number, bug: Bug): boolean {
  return liveWorld(world).length === 0 && liveWorld(world, bug).length > 0;
}

function search(bug: Bug): number | undefined {
  return Array.from({ length: 20_000 }, (_, index) => index + 1).find((world) =>
    isFoundIn(world, bug),
  );
}
