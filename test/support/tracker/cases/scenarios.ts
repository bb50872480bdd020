import { type Tab, until } from '../browser.js';
import type { Arrival } from '../service.js';
import type { Figures, World } from '../world.js';

const slow = (delayMs: number) => async () => {
  await new Promise((resolve) => setTimeout(resolve, delayMs));
  return { status: 200 };
};

/** Runs code that ends its page with a navigation, and waits until that is done. */
export async function leave(page: Tab, work: () => void): Promise<void> {
  await page.evaluate(work);
  await arrive(page);
}

/** Waits until the tracker of a page has opened its stores: before that, nothing is handed over. */
export const ready = (world: World, page: Tab): Promise<void> =>
  until(async () => (await world.stored(page)) >= 0);

export const arrive = (page: Tab): Promise<void> => once(page, () => location.pathname === '/away');

/** Waits until something holds in a page, which may be replaced by another meanwhile. */
export const once = (page: Tab, condition: () => boolean): Promise<void> =>
  until(() => page.evaluate(condition).catch(() => false));

/** Lets the next visit find what the last one left, then counts. */
export async function visitAgain(world: World): Promise<void> {
  const page = await world.open();
  await world.settled(page);
  await page.close();
}

/** 15 events, then the page navigates in the same task. */
export async function navigate(world: World): Promise<Figures> {
  const page = await world.open();
  await leave(page, () => {
    trackMany(0, 15);
    location.href = '/away';
  });
  await visitAgain(world);
  await page.close();
  return world.figures('15 events then navigation', 15);
}

/** 15 events, then the page navigates to another site: there they are handed over. */
export async function navigateAway(world: World): Promise<Figures> {
  const page = await world.open();
  await leave(page, () => {
    trackMany(0, 15);
    location.href = otherSite;
  });
  await visitAgain(world);
  await page.close();
  return world.figures('15 events then another site', 15);
}

/** 15 events, then the tab closes itself. */
export async function closeTab(world: World): Promise<Figures> {
  const opener = await world.visit('/away');
  await opener.evaluate((address) => {
    window.popup = window.open(address);
  }, world.address({}));
  await once(opener, () => !!window.popup && 'tracker' in window.popup);
  await opener.evaluate(() => void window.popup?.setTimeout('trackMany(0, 15); close()'));
  await once(opener, () => !!window.popup?.closed);
  await visitAgain(world);
  await opener.close();
  return world.figures('15 events then window.close()', 15);
}

/** 10 events of 10 KB: more than a browser takes along at the end of a page. */
export async function largeExit(world: World): Promise<Figures> {
  const page = await world.open();
  await leave(page, () => {
    trackMany(0, 10, { text: 'x'.repeat(10_000) });
    location.href = otherSite;
  });
  await visitAgain(world);
  await page.close();
  return world.figures('10 x 10 KB at exit', 10);
}

/** 5 tabs with 40 events each, all at once. */
export async function tabs(world: World): Promise<Figures> {
  const pages = await Promise.all(Array.from({ length: 5 }, () => world.open()));
  await Promise.all(
    pages.map((page, tab) => page.evaluate((name) => trackMany(0, 40, { tab: name }), String(tab))),
  );
  await until(() => world.service.accepted.length >= 200);
  await world.settled(pages[0]!);
  await Promise.all(pages.map((page) => page.close()));
  return world.figures('5 tabs x 40 events', 200);
}

/** 10 events offline; they go, in order, once the network is back. */
export async function offline(world: World): Promise<Figures> {
  const page = await world.open();
  await world.browser.setOffline(true);
  await page.evaluate(() => trackMany(0, 10));
  await world.browser.setOffline(false);
  await until(() => world.service.accepted.length >= 10);
  await world.settled(page);
  await page.close();
  return world.figures('offline then online', 10);
}

/** 20 events that could not be sent, a killed browser, a new start. */
export async function killUndelivered(world: World): Promise<Figures> {
  const page = await world.open();
  await page.evaluate(() => {
    tracker.pause();
    trackMany(0, 20);
  });
  await until(async () => (await world.stored(page)) === 20);
  await world.browser.killAndReopen();
  await visitAgain(world);
  return world.figures('SIGKILL with 20 undelivered', 20);
}

/** 20 delivered events, a killed browser, a new start: nothing may be sent again. */
export async function killDelivered(world: World): Promise<Figures> {
  const page = await world.open();
  await page.evaluate(() => trackMany(0, 20));
  await until(() => page.evaluate(() => tracker.pending === 0));
  await until(async () => (await world.stored(page)) === 0);
  await world.browser.killAndReopen();
  await visitAgain(world);
  return world.figures('SIGKILL after delivery of 20', 20);
}

/** 20 delivered events, 20 that could not be sent, and a killed browser. */
export async function killBoth(world: World): Promise<Figures> {
  const page = await world.open();
  await page.evaluate(() => trackMany(0, 20));
  await until(() => page.evaluate(() => tracker.pending === 0));
  await until(async () => (await world.stored(page)) === 0);
  await page.evaluate(() => {
    tracker.pause();
    trackMany(20, 40);
  });
  await until(async () => (await world.stored(page)) === 20);
  await world.browser.killAndReopen();
  await visitAgain(world);
  return world.figures('SIGKILL with 20 delivered and 20 undelivered', 40);
}

/** One event on its way, without an answer, in a killed browser: how often it arrived in the end. */
export async function killInFlight(world: World): Promise<number> {
  const { service, browser } = world;
  service.reply = ({ index }) =>
    index === 0 ? new Promise(() => undefined) : Promise.resolve({ status: 200 });
  const page = await world.open();
  await page.evaluate(() => trackMany(0, 1));
  await until(() => service.arrivals.length === 1);
  await browser.killAndReopen();
  await visitAgain(world);
  return service.arrivals.filter(({ data }) => data?.n === 0).length;
}

/**
 * An event whose answer breaks off, as where a killed browser ends its requests first; the kill
 * follows at once. How often did it arrive?
 */
export async function killAfterFailure(world: World): Promise<number> {
  const { service, browser } = world;
  for (let n = 0; ; n++) {
    const isOurs = ({ data }: Arrival) => data?.n === n;
    service.reply = (arrival) => {
      const isFirst = service.arrivals.filter(isOurs).length === 1;
      return isOurs(arrival) && isFirst ? { status: 200, isLost: 'reset' } : { status: 200 };
    };
    const page = await world.open();
    await page.evaluate((number) => trackMany(number, number + 1), n);
    await until(() => service.arrivals.some(isOurs));
    const arrivedAt = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 100)); // the page hears of it
    const isSoon = performance.now() - arrivedAt < 200;
    await browser.killAndReopen();
    await visitAgain(world);
    // On a busy machine the page may have believed the failure by then.
    if (isSoon || n === 10) {
      return service.arrivals.filter(isOurs).length;
    }
  }
}

/**
 * One tab sends 40 events while another, with 40 of its own, leaves. `unnamed` counts those that neither
 * arrived nor were reported as unconfirmed.
 */
export async function leaveWhileDraining(
  world: World,
  afterMs: number,
): Promise<Figures & { unnamed: number }> {
  const [stays, leaves] = [await world.open(), await world.open()];
  world.service.reply = slow(20);
  await stays.evaluate(() => trackMany(0, 40, { tab: 'stays' }));
  await leaves.evaluate((delayMs) => {
    trackMany(0, 40, { tab: 'leaves' });
    setTimeout(() => {
      location.href = otherSite;
    }, delayMs);
  }, afterMs);
  await arrive(leaves);
  await until(() => stays.evaluate(() => tracker.pending === 0));
  await world.settled(stays);
  const nameOf = (data: object | undefined) => JSON.stringify(data);
  const accepted = () =>
    new Set(world.service.accepted.flatMap(({ data }) => (data?.marker ? [] : nameOf(data))));
  // A browser under load may have no room for what a tab hands over.
  await until(() => accepted().size >= 80, 20_000).catch(() => undefined);
  const dropped = await stays.evaluate(() =>
    notices.flatMap(({ reason, data }) => (reason === 'unconfirmed' ? [data as object] : [])),
  );
  await Promise.all([stays.close(), leaves.close()]);
  const figures = world.figures(`a tab leaves after ${afterMs} ms while another drains`, 80);
  return { ...figures, unnamed: 80 - new Set([...accepted(), ...dropped.map(nameOf)]).size };
}

/** 20 events of a tab that is gone, and four tabs that start at once. */
export async function orphans(world: World): Promise<Figures> {
  const last = await world.open();
  await last.evaluate(() => {
    tracker.pause();
    trackMany(0, 20);
  });
  await until(async () => (await world.stored(last)) === 20);
  await last.close();
  const pages = await Promise.all(Array.from({ length: 4 }, () => world.open()));
  await until(() => world.service.accepted.length >= 20);
  await Promise.all(pages.map((page) => world.settled(page)));
  await Promise.all(pages.map((page) => page.close()));
  return world.figures('20 orphans and 4 tabs', 20);
}

/** 10 events that only localStorage has, written backwards, and one tab that starts. */
export async function orphansInOrder(world: World): Promise<Figures> {
  const last = await world.visit('/away');
  await last.evaluate(() => {
    const visit = Math.random();
    const at = Date.now();
    for (let n = 9; n >= 0; n--) {
      const id = `postreel:app:${visit}-${n}`;
      const rest = { version: 100, owner: 'gone', state: 0, email: 'ann@example.com' };
      const event = { id, at, event: 'clicked', data: { n }, ...rest };
      localStorage[id] = JSON.stringify(event);
    }
  });
  await visitAgain(world);
  await last.close();
  return world.figures('10 orphans in order', 10);
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

/** 30 events at exit, of which 20 go along; the page comes back from the cache and goes on. */
export async function restore(world: World): Promise<Figures & { wasRestored: boolean }> {
  const page = await world.open();
  await noteRestores(page);
  await leave(page, () => {
    trackMany(0, 30);
    location.href = otherSite;
  });
  const wasRestored = await goBack(page);
  await page.evaluate(() => trackMany(30, 35));
  await until(() => page.evaluate(() => tracker.pending === 0));
  await world.settled(page);
  await page.close();
  return { ...world.figures('30 events, back/forward cache, 5 more', 35), wasRestored };
}
