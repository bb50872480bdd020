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
import { alternatives, inTurn, nameOf } from '../support/worlds/worlds.js';

const laws = [
  ...resourceLaws,
  ...peopleLaws,
  ...manyLaws,
  ...roundTripLaws,
  ...listLaws,
  ...errorLaws,
  ...waitLaws,
];
const others = alternatives(messagingBehaviors);
const worlds = [{}, ...inTurn(others, 'messaging')];
console.log(`messaging: ${worlds.length} of ${others.length + 1} worlds`);

describe.each(worlds.map((world) => [nameOf(world), world] as const))(
  'in the world of %s',
  (_, world) => {
    it.each(named(laws))('%s', async (_, law) => {
      await law.holds(messagingScene(world, 'msw'));
    });
  },
);
