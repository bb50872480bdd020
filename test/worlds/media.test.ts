import { mediaBehaviors } from 'postreel/testing';
import { describe, it } from 'vitest';
import { mediaLaws } from '../support/worlds/media-laws.js';
import { named } from '../support/worlds/law.js';
import { mediaScene } from '../support/worlds/scenes.js';
import { alternatives, inTurn, nameOf } from '../support/worlds/worlds.js';

const others = alternatives(mediaBehaviors);
const worlds = [{}, ...inTurn(others, 'media')];
console.log(`media: ${worlds.length} of ${others.length + 1} worlds`);

describe.each(worlds.map((world) => [nameOf(world), world] as const))(
  'in the world of %s',
  (_, world) => {
    it.each(named(mediaLaws))('%s', async (_, law) => {
      await law.holds(mediaScene(world));
    });
  },
);
