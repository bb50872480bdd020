import { type Engine, type Tab, until } from '../../test/support/tracker/browser.js';
import type { World } from '../../test/support/tracker/world.js';

export const EVENTS = 15;

/** Tracks 15 events in a page of the app and leaves the page in the same task. */
export type Exit = (world: World, other: string) => Promise<Tab>;

/** A page whose tracker runs. */
const ready = (page: Tab): Promise<void> =>
  until(() => page.evaluate(() => 'tracker' in window && tracker.pending === 0).catch(() => false));

const isAtOther = (): boolean => location.pathname === '/other';

const arrive = (page: Tab): Promise<void> =>
  until(() => page.evaluate(isAtOther).catch(() => false));

async function leave<Argument>(
  page: Tab,
  work: (argument: Argument) => void,
  argument: Argument,
): Promise<void> {
  await page.evaluate(work, argument).catch(() => undefined); // the page may be gone by then
}

/** From the app to the other site, by a function that runs in the page. */
const to =
  (work: (address: string) => void): Exit =>
  async (world, other) => {
    const page = await world.open();
    await ready(page);
    await leave(page, work, other);
    await arrive(page);
    return page;
  };

/** Back to the other site, which the tab showed before. */
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
  await arrive(page);
  return page;
};

/** Forward to the other site, after Back: the page is restored, or loaded anew. */
const forward: Exit = async (world, other) => {
  const page = await world.open();
  await ready(page);
  await leave(page, (address) => location.assign(address), other);
  await arrive(page);
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
  await arrive(page);
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
  // Nothing tells this page when the tracker of the other site is open.
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

/** From the app to a page of its own site, or by way of it. */
const within =
  (work: () => void, isThere: () => boolean): Exit =>
  async (world) => {
    const page = await world.open();
    await ready(page);
    await leave(page, work, undefined);
    await until(() => page.evaluate(isThere).catch(() => false));
    return page;
  };

/** How a page may be left. */
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
  // The driver of WebKit opens none.
  ...(engine !== 'webkit' && { 'a window of another site': popup }),
  back,
  forward,
});
