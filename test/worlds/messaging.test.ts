import { messagingBehaviors } from 'postreel/testing';
import { describe, it } from 'vitest';
import { errorLaws } from '../support/worlds/error-laws.js';
import { listLaws } from '../support/worlds/list-laws.js';
import { resourceLaws } from '../support/worlds/resource-laws.js';
import { roundTripLaws } from '../support/worlds/round-trip-laws.js';
import { named } from '../support/worlds/law.js';
import { manyLaws } from '../support/worlds/many-laws.js';
import { peopleLaws } from '../support/worlds/people-laws.js';
import { messagingScene } from '../support/worlds/scenes.js';
import { waitLaws } from '../support/worlds/wait-laws.js';
import { alternatives, nameOf } from '../support/worlds/worlds.js';

const laws = [
  ...resourceLaws,
  ...peopleLaws,
  ...manyLaws,
  ...roundTripLaws,
  ...listLaws,
  ...errorLaws,
  ...waitLaws,
];
const worlds = [{}, ...alternatives(messagingBehaviors)];

describe.each(worlds.map((world) => [nameOf(world), world] as const))(
  'in the world of %s',
  (_, world) => {
    it.concurrent.each(named(laws))('%s', async (_, law) => {
      await law.holds(messagingScene(world));
    });
  },
);
