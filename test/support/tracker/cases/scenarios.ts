import { type Tab, until } from '../browser.js';
import type { World } from '../world.js';

/** Runs code that ends its page, and waits until another page is there. */
export async function leave(page: Tab, work: () => void): Promise<void> {
  await page.evaluate(work).catch(() => undefined); // the page may be gone by then
  await arrive(page);
}

/** A page without a tracker, of this site or of another one. */
export const arrive = (page: Tab): Promise<void> => once(page, () => location.pathname === '/away');

/** Waits until something holds in a page, which may be replaced by another meanwhile. */
export const once = (page: Tab, condition: () => boolean): Promise<void> =>
  until(() => page.evaluate(condition).catch(() => false));

/** Lets the next visit find what the last one left. */
export async function visitAgain(world: World): Promise<void> {
  const page = await world.open();
  await world.settled(page);
  await page.close();
}

/** Makes a page note whether it comes back from the back/forward cache. */
export const noteRestores = (page: Tab): Promise<void> =>
  page.evaluate(() => {
    window.wasRestored = false;
    addEventListener('pageshow', ({ persisted }) => {
      window.wasRestored = persisted;
    });
  });

/** Goes back to the last page; true when it was in the cache. */
export async function goBack(page: Tab): Promise<boolean> {
  await page.evaluate(() => void setTimeout(() => history.back()));
  // Loaded anew, the page knows nothing of the last visit.
  await once(page, () => 'tracker' in window && window.wasRestored !== false);
  return page.evaluate(() => window.wasRestored === true);
}
