import { expect } from 'vitest';
import { until } from '../browser.js';
import { UNSENT, type World, code } from '../world.js';
import type { Case } from './case.js';
import { leave, visitAgain } from './scenarios.js';

const keysIn = (): string[] => Object.keys(localStorage);

/** Expects that no tracked event arrived, also not on the next visit. */
async function expectNothing(world: World, name: string): Promise<void> {
  await visitAgain(world);
  expect(world.figures(name, 10)).toEqual({ sent: 10, delivered: 0, duplicates: 0 });
}

/** The same after a denial, which also applies to the next visit: only a grant undoes it. */
async function expectDenied(world: World, name: string): Promise<void> {
  const page = await world.open({ consent: 'granted' });
  const { status, reason } = await page.evaluate(() => tracker.track('denied').outcome);
  expect({ status, reason }).toEqual({ status: 'dropped', reason: 'denied' });
  await page.evaluate(() => tracker.consent.grant());
  await world.settled(page);
  await page.close();
  expect(world.service.arrivals.filter(({ event }) => event !== 'marker')).toEqual([]);
  expect(world.figures(name, 10)).toEqual({ sent: 10, delivered: 0, duplicates: 0 });
}

const erasedBeforeRedirect = (
  name: string,
  erase: () => void,
  expectErased: typeof expectNothing,
): Case => ({
  name: `sends nothing after ${name} and a redirect at once`,
  run: async (world) => {
    const page = await world.open(UNSENT);
    await page.evaluate(() => trackMany(0, 10));
    expect(await world.stored(page)).toBe(10);
    await leave(page, erase);
    await page.close();
    await expectErased(world, `${name}, then a redirect`);
  },
});

const erasedElsewhere = (
  name: string,
  erase: () => void,
  expectErased: typeof expectNothing,
): Case => ({
  name: `hands over no event at its end that ${name} has erased in another tab`,
  run: async (world) => {
    const [holds, erases] = [await world.open(UNSENT), await world.open()];
    await holds.evaluate(() => trackMany(0, 10));
    await until(async () => (await world.stored(erases)) === 10);
    await erases.evaluate(erase);
    await until(() => holds.evaluate(() => tracker.pending === 0));
    await leave(holds, () => {
      location.href = otherSite;
    });
    await Promise.all([holds.close(), erases.close()]);
    await expectErased(world, `${name} in one tab, another leaves`);
  },
});

/** No hook runs, no key is written, no event is kept. */
const takesNoEvents = (reason: 'gpc' | 'denied', before = ''): Case => ({
  name: `takes no events and calls no hook: ${reason}`,
  run: async (world) => {
    const page = await world.open({ before, email: '' });
    await page.evaluate(
      (consent) => {
        tracker.dispose();
        window.start({
          consent,
          beforeSend: (event) => {
            localStorage.setItem('hooked', '1');
            return event;
          },
        });
        trackMany(0, 10);
      },
      reason === 'denied' ? ('denied' as const) : ('granted' as const),
    );
    await until(() => page.evaluate(() => notices.length === 10));
    expect(await page.evaluate(() => notices.map((notice) => notice.reason))).toEqual(
      Array(10).fill(reason),
    );
    expect(await page.evaluate(keysIn)).toEqual([]);
    await page.close();
    await expectNothing(world, `not taken in: ${reason}`);
  },
});

/** Grants consent in one tab, while another tab waits and a third is opened later. */
async function grantInOneTab(world: World): Promise<void> {
  const pending = { consent: 'pending' } as const;
  const [one, other] = [await world.open(pending), await world.open(pending)];
  await one.evaluate(() => trackMany(0, 5));
  await other.evaluate(() => trackMany(5, 10));
  await one.evaluate(() => tracker.consent.grant());
  await until(() => world.service.accepted.length >= 10);
  const later = await world.open(pending);
  await later.evaluate(() => trackMany(10, 15));
  await world.settled(one);
  expect(await later.evaluate(() => tracker.pending)).toBe(5);
  await Promise.all([one, other, later].map((page) => page.close()));
  expect(world.figures('grant() in one of two tabs', 10)).toMatchObject({
    delivered: 10,
    duplicates: 0,
  });
}

/** Runs the recipe in a page that may not use any storage. */
async function recipeWithoutStorage(world: World): Promise<void> {
  const page = await world.visit('/consent');
  await until(() => page.evaluate(() => 'recipe' in window));
  await page.evaluate(() => {
    recipe.tracker.identify('ann@example.com');
    recipe.tracker.track('clicked', { n: 0 });
    recipe.decide('granted');
  });
  await until(() => world.service.accepted.length >= 1);
  await page.evaluate(() => recipe.decide('denied'));
  const { reason } = await page.evaluate(() => recipe.tracker.track('clicked', { n: 1 }).outcome);
  expect(reason).toBe('denied');
  await page.close();
  expect(world.figures('the recipe for consent', 1)).toMatchObject({ delivered: 1, duplicates: 0 });
}

/** Cases of consent, logout and the contact of an event. */
export const CONSENT: readonly Case[] = [
  { name: 'follows a grant in another open tab, but not in a later tab', run: grantInOneTab },
  { name: 'works without storage with the recipe for consent', run: recipeWithoutStorage },
  takesNoEvents('denied'),
  takesNoEvents(
    'gpc',
    code(() => {
      Object.defineProperty(navigator, 'globalPrivacyControl', { value: true });
    }),
  ),
  {
    name: 'writes nothing while consent is pending, and sends nothing when it is left',
    run: async (world) => {
      const page = await world.open({ consent: 'pending' });
      await page.evaluate(() => trackMany(0, 10));
      expect(await page.evaluate(keysIn)).toEqual([]);
      await leave(page, () => {
        location.href = '/away';
      });
      await page.close();
      await expectNothing(world, 'consent pending');
    },
  },
  {
    name: 'removes all its keys on reset() and deny(), those of extras included',
    run: async (world) => {
      const page = await world.open(UNSENT);
      await page.evaluate(() => {
        localStorage['postreel-sample'] = '0.5';
        localStorage['postreel-once-welcome'] = '1';
        localStorage['host'] = 'stays';
        trackMany(0, 10);
        void tracker.reset();
        void tracker.consent.deny();
      });
      const keys = (await page.evaluate(keysIn)).sort();
      expect(keys).toEqual(['host', 'postreel:app:consent']);
      await page.close();
      await expectDenied(world, 'reset() and deny()');
    },
  },
  erasedBeforeRedirect(
    'reset()',
    () => {
      void tracker.reset();
      location.href = otherSite;
    },
    expectNothing,
  ),
  erasedBeforeRedirect(
    'deny()',
    () => {
      void tracker.consent.deny();
      location.href = otherSite;
    },
    expectDenied,
  ),
  erasedElsewhere('reset()', () => void tracker.reset(), expectNothing),
  erasedElsewhere('deny()', () => void tracker.consent.deny(), expectDenied),
  {
    name: 'keeps a denial after localStorage.clear() as long as one tab is open',
    run: async (world) => {
      const stays = await world.open();
      await stays.evaluate(() => tracker.consent.deny());
      const clears = await world.visit('/away');
      await clears.evaluate(() => localStorage.clear());
      await until(() => clears.evaluate(() => 'postreel:app:consent' in localStorage));
      await expectDenied(world, 'deny(), then clear()');
      await Promise.all([stays.close(), clears.close()]);
    },
  },
];
