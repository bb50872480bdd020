import { type Engine, type Tab, until } from '../../test/support/tracker/browser.js';
import type { World } from '../../test/support/tracker/world.js';

export const EVENTS = 15;

/** Tracks 15 events in a page of the app and leaves the page in the same task. */
export type Exit = (world: World, other: string) => Promise<Tab>;

/** Waits until the page has a tracker. */
const ready = (page: Tab): Promise<void> =>
  until(() => page.evaluate(() => 'tracker' in window && tracker.pending === 0).catch(() => false));

const isAtOther = (): boolean => location.pathname === '/other';

const waitForOther = (page: Tab): Promise<void> =>
  until(() => page.evaluate(isAtOther).catch(() => false));

async function leave<Argument>(
  page: Tab,
  work: (argument: Argument) => void,
  argument: Argument,
): Promise<void> {
  await page.evaluate(work, argument).catch(() => undefined); // the page may already be gone
}

/** Leaves the app for the other site, with a function that runs in the page. */
const to =
  (work: (address: string) => void): Exit =>
  async (world, other) => {
    const page = await world.open();
    await ready(page);
    await leave(page, work, other);
    await waitForOther(page);
    return page;
  };

/** Goes back to the other site, which the tab showed before. */
const back: Exit = async (world, other) => {
  const page = await world.visit(other);
  await page.goto(world.address({}));
  await ready(page);
  await leave(
    page,
    () => {
      trackMany(0, 15);
      history.back();
    },
    undefined,
  );
  await waitForOther(page);
  return page;
};

/** Goes forward to the other site, after Back: the page is restored or reloaded. */
const forward: Exit = async (world, other) => {
  const page = await world.open();
  await ready(page);
  await leave(page, (address) => location.assign(address), other);
  await waitForOther(page);
  await leave(page, () => void setTimeout(() => history.back()), undefined);
  await until(() => page.evaluate(() => 'tracker' in window).catch(() => false));
  await ready(page);
  await leave(
    page,
    () => {
      trackMany(0, 15);
      history.forward();
    },
    undefined,
  );
  await waitForOther(page);
  return page;
};

/** A window that a page of the other site has opened, and that closes itself. */
const popup: Exit = async (world, other) => {
  const opener = await world.visit(other);
  await opener.evaluate(
    (address) => {
      window.popup = window.open(address);
    },
    world.address({ after: `onmessage = () => { trackMany(0, ${EVENTS}); close(); }` }),
  );
  // This page cannot see when the tracker of the other site is ready.
  await new Promise((resolve) => setTimeout(resolve, 3000));
  await opener.evaluate(() => window.popup?.postMessage('', '*'));
  await until(() => opener.evaluate(() => !!window.popup?.closed));
  return opener;
};

/** A new tab, the only one of its site, that the driver closes. */
const close: Exit = async (world, other) => {
  const stays = await world.visit(other);
  const page = await world.open();
  await ready(page);
  await page.evaluate(() => trackMany(0, 15));
  await page.close().catch(() => undefined);
  return stays;
};

/** Leaves the app for a page of the same site, or through one for another site. */
const within =
  (work: () => void, isThere: () => boolean): Exit =>
  async (world) => {
    const page = await world.open();
    await ready(page);
    await leave(page, work, undefined);
    await until(() => page.evaluate(isThere).catch(() => false));
    return page;
  };

/** The ways to leave a page. */
export const exitsOf = (engine: Engine): Readonly<Record<string, Exit>> => ({
  'to a page with the tracker': within(
    () => {
      trackMany(0, 15);
      location.href = location.href.replace('/?', '/next?');
    },
    () => location.pathname === '/next' && 'tracker' in window,
  ),
  'to a page without it': within(
    () => {
      trackMany(0, 15);
      location.href = '/away';
    },
    () => location.pathname === '/away',
  ),
  'to another site': to((address) => {
    const link = Object.assign(document.createElement('a'), { href: address });
    document.body.append(link);
    trackMany(0, 15);
    link.click();
  }),
  '302 to another site': to((address) => {
    trackMany(0, 15);
    location.href = `/moved?${encodeURIComponent(address)}`;
  }),
  refresh: within(
    () => {
      window.wasRestored = false;
      trackMany(0, 15);
      location.reload();
    },
    () => window.wasRestored === undefined && 'tracker' in window,
  ),
  form: to((address) => {
    const form = Object.assign(document.createElement('form'), { action: address });
    document.body.append(form);
    trackMany(0, 15);
    form.submit();
  }),
  'the last tab, closed': close,
  // The driver of WebKit opens no windows.
  ...(engine !== 'webkit' && { 'a window of another site': popup }),
  back,
  forward,
});
