import { expect } from 'vitest';
import { until } from '../browser.js';
import { type World, PREFIX, UNSENT, expectExactly } from '../world.js';
import type { Case } from './case.js';
import { leave, visitAgain } from './scenarios.js';

/** Nothing of what was tracked arrived, not on the next visit either. */
async function expectNothing(world: World, name: string, sent: number): Promise<void> {
  await visitAgain(world);
  expect(world.figures(name, sent)).toEqual({ sent, delivered: 0, duplicates: 0 });
}

/**
 * The same after a denial, which holds on the next visit too: only a grant undoes it, and it brings
 * nothing back.
 */
async function expectDenied(world: World, name: string, sent: number): Promise<void> {
  const page = await world.open({ consent: 'granted' });
  const { status, reason } = await page.evaluate(() => tracker.track('denied').outcome);
  expect({ status, reason }).toEqual({ status: 'dropped', reason: 'denied' });
  await page.evaluate(() => tracker.consent.grant());
  await world.settled(page);
  await page.close();
  expect(world.service.arrivals.filter(({ event }) => event !== 'marker')).toEqual([]);
  expect(world.figures(name, sent)).toEqual({ sent, delivered: 0, duplicates: 0 });
}

const erasedBeforeRedirect = (
  name: string,
  erase: () => void,
  expectErased = expectNothing,
): Case => ({
  name: `sends nothing after ${name} that is followed by a redirect at once`,
  run: async (world) => {
    const page = await world.open(UNSENT);
    await page.evaluate(() => trackMany(0, 10));
    await until(async () => (await world.stored(page)) === 10);
    await leave(page, erase);
    await page.close();
    await expectErased(world, `${name}, then a redirect`, 10);
  },
});

const erasedElsewhere = (name: string, erase: () => void, expectErased = expectNothing): Case => ({
  name: `hands over nothing at its end that ${name} has erased in another tab`,
  run: async (world) => {
    const [holds, erases] = [await world.open(UNSENT), await world.open()];
    await holds.evaluate(() => trackMany(0, 10));
    await until(async () => (await world.stored(holds)) === 10);
    await erases.evaluate(erase);
    // Browsers show a tab what another has written a few milliseconds later.
    await until(() => holds.evaluate((key) => !!localStorage[key], `${PREFIX}consent`));
    // To another page of its own site nothing would be handed over anyway.
    await leave(holds, () => {
      location.href = otherSite;
    });
    await Promise.all([holds.close(), erases.close()]);
    await expectErased(world, `${name} in one tab, another leaves`, 10);
  },
});

/** Consent, logout and whose event it is. */
export const ERASURES: readonly Case[] = [
  {
    name: 'sends nothing without consent when it is disposed of',
    run: async (world) => {
      const page = await world.open({ consent: 'pending' });
      await leave(page, () => {
        trackMany(0, 5);
        tracker.dispose();
        location.href = '/away';
      });
      await page.close();
      await expectNothing(world, 'consent pending, then dispose()', 5);
    },
  },
  erasedBeforeRedirect('reset()', () => {
    void tracker.reset();
    location.href = otherSite;
  }),
  erasedBeforeRedirect(
    'deny()',
    () => {
      void tracker.consent.deny();
      location.href = otherSite;
    },
    expectDenied,
  ),
  erasedElsewhere('reset()', () => void tracker.reset()),
  erasedElsewhere('deny()', () => void tracker.consent.deny(), expectDenied),
  {
    name: 'keeps the denial of a page in memory when localStorage is cleared later',
    run: async (world) => {
      const page = await world.open({ storage: 'memory' });
      await page.evaluate(() => tracker.consent.deny());
      await page.close();
      const next = await world.visit('/away');
      await next.evaluate(() => localStorage.clear());
      await next.close();
      await expectDenied(world, 'deny() in memory, then clear()', 0);
    },
  },
  {
    name: 'keeps the contact that an event was bound to when another one logs in',
    run: async (world) => {
      const { service } = world;
      const page = await world.open({ email: '', ...UNSENT });
      await leave(page, () => {
        trackMany(0, 5);
        tracker.identify('ann@example.com');
        tracker.identify('bob@example.com');
        trackMany(5, 10);
        location.href = '/away';
      });
      await page.close();
      await visitAgain(world);
      const emails = (from: number, to: number) =>
        service.accepted.flatMap(({ data, email }) =>
          Number(data?.n) >= from && Number(data?.n) < to ? email : [],
        );
      expect(emails(0, 5)).toEqual(Array(5).fill('ann@example.com'));
      expect(emails(5, 10)).toEqual(Array(5).fill('bob@example.com'));
      expectExactly(world.figures('events before identify()', 10));
    },
  },
  {
    name: 'drops events without a contact once they are too old',
    run: async (world) => {
      const page = await world.open({ email: '', maxAge: 300 });
      await page.evaluate(() => trackMany(0, 5));
      await until(() => page.evaluate(() => notices.length === 5));
      expect(await page.evaluate(() => tracker.stats())).toEqual({ taken: 5, expired: 5 });
      await page.evaluate(() => tracker.identify('ann@example.com'));
      await page.close();
      await expectNothing(world, 'no contact, too old', 5);
    },
  },
];
