import { expect, it } from 'vitest';
import { bugs } from '../../support/media/model/bugs.js';
import { liveWorld } from '../../support/media/model/world.js';

const mostWorlds = 400;

it.each(Object.keys(bugs))('the model finds within a few worlds that %s', async (name) => {
  const { from = 1, ...bug } = bugs[name]!;
  for (let seed = from; seed < from + mostWorlds; seed++) {
    const { violations } = await liveWorld(seed, bug);
    if (violations.length > 0 && (await liveWorld(seed)).violations.length === 0) {
      return;
    }
  }
  expect.fail(`${mostWorlds} worlds do not show it`);
});
