import { mediaBehaviors, type MediaBehavior } from 'postreel/testing';
import { describe, it } from 'vitest';
import { named, type Law, type MediaScene } from '../support/worlds/law.js';
import {
  fileLaws as files,
  placeLaws as places,
  queueLaws as queues,
  refusalLaws as refusals,
} from '../support/worlds/media-laws.js';
import { mediaScene } from '../support/worlds/scenes.js';
import { worldsOf } from '../support/worlds/worlds.js';

const all = [files, refusals, places, queues];

/** The laws whose traffic a setting changes, as in `messaging.test.ts`. */
const laws: Record<keyof MediaBehavior, readonly (readonly Law<MediaScene>[])[]> = {
  ids: all,
  envelopes: all,
  extraFields: all,
  refusals: [refusals],
  errorShape: [refusals, places],
  rateLimitWindow: [], // a client sends less than any of these windows allows
  rateLimitHeaders: [places],
  serviceClock: all,
  batch: [], // a client keeps to the cap, so that no call is refused half-way
  capStatus: [],
  capRetryAfter: [places],
  unknownFileStatus: [],
  statusField: [files, queues],
  statusWords: [files, queues],
  progress: [files],
  transitions: [files, queues],
  statusCounts: [files, queues],
  callbacks: [],
  keepsFinished: [],
};

describe('in the world of the document', () => {
  it.concurrent.each(named(all.flat()))('%s', async (_, law) => {
    await law.holds(mediaScene({}));
  });
});

const worlds = worldsOf(mediaBehaviors).filter(({ setting }) => laws[setting].length > 0);

describe.each(worlds)('in the world of $name', ({ setting, world }) => {
  it.concurrent.each(named(laws[setting].flat()))('%s', async (_, law) => {
    await law.holds(mediaScene(world));
  });
});
