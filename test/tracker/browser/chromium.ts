import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasSystemChromium } from '../../support/tracker/browser.js';
import {
  type Delivery,
  type World,
  createWorld,
  expectAsPromised,
  expectExactly,
  withDelivery,
} from '../../support/tracker/world.js';
import { describeEnvironments } from './environments.js';
import { describeRefusals } from './refusals.js';
import * as scenarios from './scenarios.js';

const DELIVERIES: Delivery[] = ['no-duplicates', 'no-loss'];

export function describeChromium(): void {
  describe('in Chromium', { timeout: 240_000 }, () => {
    let world: World;
    beforeAll(async () => {
      world = await createWorld('chromium');
    }, 120_000);
    beforeEach(() => world.service.reset());
    afterAll(() => world.close(), 60_000);

    describe.each(DELIVERIES)('with %s', (delivery) => {
      const here = () => withDelivery(world, delivery);
      describeEnds(here);
      describeTabs(here);
      describeRefusals(here);
      describeEnvironments(here);
    });
  });
}

/** How a page or a browser may end. */
function describeEnds(world: () => World): void {
  it.each([
    ['15 events that are followed by a navigation', scenarios.navigate],
    ['15 events that are followed by window.close()', scenarios.closeTab],
    ['10 events of 10 KB that are followed by a navigation', scenarios.largeExit],
    ['20 events after the browser was killed', scenarios.killUndelivered],
  ])('delivers %s', async (_, run) => {
    expectAsPromised(world().delivery, await run(world()));
  });
  it('sends nothing again after the browser was killed', async () => {
    expectExactly(await scenarios.killDelivered(world()));
  });
  it('repeats an event without an answer over a kill with no-loss only', async () => {
    const { delivery } = world();
    const arrived = await scenarios.killInFlight(world());
    console.log(`[chromium, ${delivery}] SIGKILL in flight: arrived ${arrived} times`);
    expect(arrived).toBe(delivery === 'no-loss' ? 2 : 1);
  });
  it('goes on after the back/forward cache', async () => {
    const { wasRestored, ...figures } = await scenarios.restore(world());
    expectAsPromised(world().delivery, figures);
    // The one from npm has no such cache: there the page is loaded anew, with the same figures.
    console.log(`[chromium] came back from the cache: ${String(wasRestored)}`);
    expect(wasRestored).toBe(hasSystemChromium);
  });
}

/** Several tabs, or several lives of one. */
function describeTabs(world: () => World): void {
  it('delivers the events of 5 tabs', async () => {
    expectExactly(await scenarios.tabs(world()));
  });
  it('delivers offline events in order', async () => {
    expectExactly(await scenarios.offline(world()));
    const numbers = world().service.accepted.flatMap(({ data }) => data?.n ?? []);
    expect(numbers).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
  it.each([0, 30, 60, 120, 200, 300, 450, 650])(
    'keeps its promise when a tab leaves after %i ms while another drains',
    async (afterMs) => {
      expectAsPromised(world().delivery, await scenarios.leaveWhileDraining(world(), afterMs));
    },
  );
  it('lets one of 4 tabs take over what a closed tab left', async () => {
    expectExactly(await scenarios.orphans(world()));
  });
  it('takes over in the order of tracking', async () => {
    expectExactly(await scenarios.orphansInOrder(world()));
    const numbers = world().service.accepted.flatMap(({ data }) => data?.n ?? []);
    expect(numbers).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
}
