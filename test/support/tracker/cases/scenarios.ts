import { type Tab, until } from '../browser.js';
import type { World } from '../world.js';

/** Runs code that ends its page, and waits until another page is loaded. */
export async function leave(page: Tab, work: () => void): Promise<void> {
  await page.evaluate(work).catch(() => undefined); // the page may already be gone
  await waitForAway(page);
}

/** Waits for the page without a tracker, of this site or of another one. */
export const waitForAway = (page: Tab): Promise<void> =>
  waitInPage(page, () => location.pathname === '/away');

/** Waits until a condition holds in a page, which another page may replace during the wait. */
export const waitInPage = (page: Tab, condition: () => boolean): Promise<void> =>
  until(() => page.evaluate(condition).catch(() => false));

/** Opens a next visit, which sends the events that the last one left. */
export async function visitAgain(world: World): Promise<void> {
  const page = await world.open();
  await world.settled(page);
  await page.close();
}

/** Makes a page record whether it is restored from the back/forward cache. */
export const noteRestores = (page: Tab): Promise<void> =>
  page.evaluate(() => {
    window.wasRestored = false;
    addEventListener('pageshow', ({ persisted }) => {
      window.wasRestored = persisted;
    });
  });

/** Goes back to the last page; returns true if it was in the cache. */
export async function goBack(page: Tab): Promise<boolean> {
  await page.evaluate(() => void setTimeout(() => history.back()));
  // A reloaded page has no record of the last visit.
  await waitInPage(page, () => 'tracker' in window && window.wasRestored !== false);
  return page.evaluate(() => window.wasRestored === true);
}
