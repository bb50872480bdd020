import { messagingBehaviors, type MessagingBehavior } from 'postreel/testing';
import { describe, it } from 'vitest';
import { errorLaws as errors } from '../support/worlds/error-laws.js';
import { listLaws as lists } from '../support/worlds/list-laws.js';
import { resourceLaws as resources } from '../support/worlds/resource-laws.js';
import { roundTripLaws as roundTrips } from '../support/worlds/round-trip-laws.js';
import { named, type Law, type MessagingScene } from '../support/worlds/law.js';
import { manyLaws as many } from '../support/worlds/many-laws.js';
import { peopleLaws as people } from '../support/worlds/people-laws.js';
import { messagingScene } from '../support/worlds/scenes.js';
import { waitLaws as waits } from '../support/worlds/wait-laws.js';
import { worldsOf } from '../support/worlds/worlds.js';

const all = [resources, people, many, roundTrips, lists, errors, waits];

/**
 * The laws whose traffic a setting changes. In the other laws, every byte of every request and response is the
 * same as in the document's world, so these laws cannot end differently: they are left out. Of 2090 pairs of a
 * law and a world, about 640 differ in their traffic.
 */
const laws: Record<keyof MessagingBehavior, readonly (readonly Law<MessagingScene>[])[]> = {
  ids: all,
  envelopes: all,
  extraFields: all,
  created: all,
  refusals: [errors],
  errorShape: [many, errors],
  rateLimitWindow: [], // no law meets a 429: see `test/core/rate-limit.test.ts`
  rateLimitHeaders: [errors],
  serviceClock: [many, errors, waits],
  unset: [resources, many, roundTrips, lists, errors],
  emptyData: [resources, people, roundTrips, errors, waits],
  openFields: [resources, many, roundTrips, lists, waits],
  acknowledgements: [resources, many, roundTrips],
  listStyle: [resources, people, roundTrips, lists],
  lastPage: [people, roundTrips, lists],
  totals: [people, roundTrips, lists],
  templatePaging: [people, roundTrips, lists],
  jobStatusField: [many, waits],
  jobWords: [many, waits],
  jobProgress: [many, waits],
  accountAccess: [resources, roundTrips],
  workflowStart: [resources, roundTrips, lists],
  enabledOnCreate: [roundTrips],
  stepConnection: [roundTrips],
  transitionsIn: [resources, roundTrips, lists],
  branchIn: [roundTrips],
};

describe('in the world of the document', () => {
  it.concurrent.each(named(all.flat()))('%s', async (_, law) => {
    await law.holds(messagingScene({}));
  });
});

const worlds = worldsOf(messagingBehaviors).filter(({ setting }) => laws[setting].length > 0);

describe.each(worlds)('in the world of $name', ({ setting, world }) => {
  it.concurrent.each(named(laws[setting].flat()))('%s', async (_, law) => {
    await law.holds(messagingScene(world));
  });
});
