import * as client from 'postreel';
import { describe, expect, it } from 'vitest';
import { errorLaws } from '../support/worlds/error-laws.js';
import { listLaws } from '../support/worlds/list-laws.js';
import { misread, type Misreading } from '../support/worlds/misread.js';
import { resourceLaws } from '../support/worlds/resource-laws.js';
import { roundTripLaws } from '../support/worlds/round-trip-laws.js';
import { messagingScene } from '../support/worlds/scenes.js';
import { waitLaws } from '../support/worlds/wait-laws.js';
import { inTurn, nameOf, type World } from '../support/worlds/worlds.js';

const laws = [...resourceLaws, ...roundTripLaws, ...listLaws, ...errorLaws, ...waitLaws];

interface Case extends Misreading {
  readonly what: string;
  /** Where it does harm. */
  readonly world: World;
}

const misreadings: readonly Case[] = [
  {
    what: 'items stand under the names that the document shows',
    file: 'core/list/list.ts',
    line: 'if (arrays.length === 1) {',
    instead: 'if (arrays.length > 1) {',
    world: { listStyle: 'results' },
  },
  {
    what: 'success: false with HTTP 200 is taken for a yes',
    file: 'core/call/answer.ts',
    line: "if (isRecord(body) && body['success'] === false) {",
    instead: 'if (false) {',
    world: { refusals: 'ok' },
  },
  {
    what: 'a list without `hasMore` is at its end',
    file: 'core/list/list.ts',
    line: 'if (page.hasMore === false) {',
    instead: 'if (page.hasMore !== true && page.page === undefined) {',
    world: { lastPage: 'cursor-null' },
  },
  {
    what: 'jobs end with one word',
    file: 'core/wait.ts',
    line: "['completed', 'complete', 'done', 'finished', 'success', 'succeeded']",
    instead: "['completed']",
    world: { jobWords: 'done' },
  },
  {
    what: 'the state of a job has one name',
    file: 'core/wait.ts',
    line: "job['status'] ?? job['state']",
    instead: "job['state']",
    world: { jobStatusField: 'status' },
  },
  {
    what: 'what is unset is never null',
    file: 'messaging/shared/request-body.ts',
    line: "return dropNull === 'all' || dropNull.includes(name);",
    instead: 'return false;',
    world: { unset: 'null' },
  },
];

// Each takes a build of the client and three rounds of all laws.
const chosen = inTurn(misreadings, 'misreadings', misreadings.length);
console.log(`${chosen.length} of ${misreadings.length} misreadings`);

/** The laws that do not hold. */
async function brokenIn(world: World, clients: Pick<typeof client, 'MessagingClient'>) {
  const broken: string[] = [];
  const tries = laws.map((law) =>
    law.holds(messagingScene(world, 'memory', clients)).catch(() => broken.push(law.name)),
  );
  await Promise.all(tries);
  return broken;
}

describe('a client that misreads the service', () => {
  it.each(chosen.map((one) => [one.what, nameOf(one.world), one] as const))(
    'because %s keeps every law of the documents, and breaks one in the world of %s',
    async (_, _world, misreading) => {
      const wrong = await misread(misreading, `misread-${misreadings.indexOf(misreading)}`);
      expect(await brokenIn({}, wrong)).toEqual([]);
      expect(await brokenIn(misreading.world, wrong)).not.toEqual([]);
      expect(await brokenIn(misreading.world, client)).toEqual([]);
    },
  );
});
