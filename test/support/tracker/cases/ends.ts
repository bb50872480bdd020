import { expect } from 'vitest';
import { hasSystemChromium } from '../browser.js';
import { type World, expectAsPromised, expectExactly } from '../world.js';
import { BOTH, type Case } from './case.js';
import * as scenarios from './scenarios.js';

const numbersOf = ({ service }: World) => service.accepted.flatMap(({ data }) => data?.n ?? []);

/** How a page or a browser may end, and several lives of one. */
export const ENDS: readonly Case[] = [
  {
    name: 'delivers 15 events that are followed by a navigation',
    deliveries: BOTH,
    run: async (world) => expectAsPromised(world.delivery, await scenarios.navigate(world)),
  },
  {
    name: 'delivers 15 events that are followed by a navigation to another site',
    deliveries: BOTH,
    run: async (world) => expectAsPromised(world.delivery, await scenarios.navigateAway(world)),
  },
  {
    name: 'delivers 15 events that are followed by window.close()',
    // The driver of WebKit blocks popups.
    engines: ['chromium', 'firefox'],
    deliveries: BOTH,
    run: async (world) => expectAsPromised(world.delivery, await scenarios.closeTab(world)),
  },
  {
    name: 'delivers 10 events of 10 KB that are followed by a navigation',
    deliveries: BOTH,
    run: async (world) => expectAsPromised(world.delivery, await scenarios.largeExit(world)),
  },
  {
    name: 'keeps its place in the back/forward cache',
    run: async (world) => {
      const page = await world.open();
      await scenarios.ready(world, page);
      await scenarios.noteRestores(page);
      await scenarios.leave(page, () => {
        location.href = otherSite;
      });
      const wasRestored = await scenarios.goBack(page);
      await page.close();
      // The Chromium from npm has no such cache.
      expect(wasRestored).toBe(world.browser.engine !== 'chromium' || hasSystemChromium);
    },
  },
  {
    name: 'goes on after the back/forward cache',
    deliveries: BOTH,
    run: async (world) => {
      const { wasRestored, ...figures } = await scenarios.restore(world);
      expectAsPromised(world.delivery, figures);
      // The Chromium from npm has no such cache: there the page is loaded anew, with the same figures.
      const { engine } = world.browser;
      console.log(`[${engine}] came back from the cache: ${String(wasRestored)}`);
      expect(wasRestored).toBe(engine !== 'chromium' || hasSystemChromium);
    },
  },
  {
    name: 'delivers 20 events after the browser was killed',
    isAlone: true,
    run: async (world) => expectExactly(await scenarios.killUndelivered(world)),
  },
  {
    name: 'sends nothing again after the browser was killed',
    isAlone: true,
    run: async (world) => expectExactly(await scenarios.killDelivered(world)),
  },
  {
    name: 'delivers what was left, and nothing again, after the browser was killed',
    isAlone: true,
    isVariant: true,
    run: async (world) => expectExactly(await scenarios.killBoth(world)),
  },
  {
    name: 'repeats an event without an answer over a kill with no-loss only',
    deliveries: BOTH,
    isAlone: true,
    run: async (world) => {
      const arrived = await scenarios.killInFlight(world);
      console.log(
        `[${world.browser.engine}, ${world.delivery}] killed in flight: arrived ${arrived} times`,
      );
      expect(arrived).toBe(world.delivery === 'no-loss' ? 2 : 1);
    },
  },
  {
    name: 'repeats an event whose request failed just before a kill with no-loss only',
    deliveries: BOTH,
    isAlone: true,
    run: async (world) => {
      const arrived = await scenarios.killAfterFailure(world);
      expect(arrived).toBe(world.delivery === 'no-loss' ? 2 : 1);
    },
  },
  {
    name: 'delivers offline events in order',
    isAlone: true,
    run: async (world) => {
      expectExactly(await scenarios.offline(world));
      expect(numbersOf(world)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    },
  },
];

/** Timings that are milliseconds apart; the first and one in the middle say nearly all. */
const LEAVING = [0, 30, 60, 120, 200, 300, 450, 650];
const ALWAYS = [0, 200];

/** Several tabs of one origin. */
export const TABS: readonly Case[] = [
  {
    name: 'delivers the events of 5 tabs',
    run: async (world) => expectExactly(await scenarios.tabs(world)),
  },
  ...LEAVING.map((afterMs): Case => ({
    name: `keeps its promise when a tab leaves after ${afterMs} ms while another drains`,
    deliveries: BOTH,
    run: async (world) => {
      const figures = await scenarios.leaveWhileDraining(world, afterMs);
      if (world.delivery === 'no-loss') {
        expectAsPromised(world.delivery, figures);
      } else {
        // What the browser drops is reported, and is part of what one exit hands over.
        expect(figures).toMatchObject({ duplicates: 0, unnamed: 0 });
        expect(figures.delivered).toBeGreaterThanOrEqual(60);
      }
    },
    ...(!ALWAYS.includes(afterMs) && { isVariant: true }),
  })),
  {
    name: 'lets one of 4 tabs take over what a closed tab left',
    run: async (world) => expectExactly(await scenarios.orphans(world)),
  },
  {
    name: 'takes over in the order of tracking',
    run: async (world) => {
      expectExactly(await scenarios.orphansInOrder(world));
      expect(numbersOf(world)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    },
  },
];
