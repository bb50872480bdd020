import { expect, it } from 'vitest';
import { bugs } from '../../support/media/model/bugs.js';
import { liveWorld } from '../../support/media/model/world.js';

const mostWorlds = 400;

it.each(Object.keys(bugs))('the model finds within a few worlds that %s', async (name) => {
  let violations: readonly string[] = [];
  let seed = 0;
  while (violations.length === 0 && seed < mostWorlds) {
    ({ violations } = await liveWorld(++seed, bugs[name]));
  }
  console.log(`${name}: found in world ${seed}: ${violations[0]}`);
  expect(violations).not.toEqual([]);
});
