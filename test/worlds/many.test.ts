import { mediaBehaviors, messagingBehaviors } from 'postreel/testing';
import { describe, it } from 'vitest';
import { errorLaws } from '../support/worlds/error-laws.js';
import { listLaws } from '../support/worlds/list-laws.js';
import { mediaLaws } from '../support/worlds/media-laws.js';
import { resourceLaws } from '../support/worlds/resource-laws.js';
import { roundTripLaws } from '../support/worlds/round-trip-laws.js';
import { named } from '../support/worlds/law.js';
import { mediaScene, messagingScene } from '../support/worlds/scenes.js';
import { isWhole, newSeed, pairwise, randomWorlds } from '../support/worlds/worlds.js';

const seed = newSeed();
const count = isWhole ? 200 : 20;
const messagingWorlds = worldsOf(messagingBehaviors);
const mediaWorlds = worldsOf(mediaBehaviors);
console.log(
  `${messagingWorlds.length} messaging and ${mediaWorlds.length} media worlds; repeat them with WORLDS_SEED=${seed}`,
);

describe(`messaging in worlds of many settings (seed ${seed})`, () => {
  const laws = [...resourceLaws, ...roundTripLaws, ...listLaws, ...errorLaws];

  describe.each(messagingWorlds)('%#: %j', (world) => {
    // What waits before it asks again waits together.
    it.concurrent.each(named(laws))('%s', async (_, law) => {
      await law.holds(messagingScene(world, 'memory'));
    });
  });
});

describe(`media in worlds of many settings (seed ${seed})`, () => {
  describe.each(mediaWorlds)('%#: %j', (world) => {
    it.each(named(mediaLaws))('%s', async (_, law) => {
      await law.holds(mediaScene(world));
    });
  });
});

/** Random worlds, and in a whole run a set in which any two values meet. */
function worldsOf(table: Parameters<typeof pairwise>[0]) {
  const random = randomWorlds(table, count, seed);
  return isWhole ? [...pairwise(table), ...random] : random;
}
