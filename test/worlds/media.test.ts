import { mediaBehaviors } from 'postreel/testing';
import { describe, it } from 'vitest';
import { mediaLaws } from '../support/worlds/media-laws.js';
import { named } from '../support/worlds/law.js';
import { mediaScene } from '../support/worlds/scenes.js';
import { alternatives, nameOf } from '../support/worlds/worlds.js';

const worlds = [{}, ...alternatives(mediaBehaviors)];

describe.each(worlds.map((world) => [nameOf(world), world] as const))(
  'in the world of %s',
  (_, world) => {
    it.concurrent.each(named(mediaLaws))('%s', async (_, law) => {
      await law.holds(mediaScene(world));
    });
  },
);
