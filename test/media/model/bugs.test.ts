import { expect, it } from 'vitest';
import { bugs } from '../../support/media/model/bugs.js';
import { liveWorld } from '../../support/media/model/world.js';

const mostWorlds = 400;

it.each(Object.keys(bugs))('the model finds within a few worlds that %s', async (name) => {
  for (let seed = 1; seed <= mostWorlds; seed++) {
    const { violations } = await liveWorld(seed, bugs[name]);
    if (violations.length > 0 && (await liveWorld(seed)).violations.length === 0) {
      console.log(`${name}: found in world ${seed}: ${violations[0]}`);
      return;
    }
  }
  expect.fail(`${mostWorlds} worlds do not show it`);
});
