import { expect } from 'vitest';
import { hasSystemChromium, until } from '../browser.js';
import { type World, expectAsPromised, expectExactly } from '../world.js';
import { BOTH, type Case } from './case.js';
import { waitForAway, goBack, leave, noteRestores, waitInPage, visitAgain } from './scenarios.js';

/**
 * 15 events and an exit in the same task; with `no-duplicates` all arrive before any next visit.
 */
const exit = (name: string, work: () => void): Case => ({
  name,
  deliveries: BOTH,
  run: async (world) => {
    const page = await world.open();
    await leave(page, work);
    if (world.delivery === 'no-duplicates') {
      await until(() => world.service.accepted.length >= 15);
    }
    await visitAgain(world);
    await page.close();
    expectAsPromised(world.delivery, world.figures(name, 15));
  },
});

/** Three trackers of one page share the bytes that a browser still sends after its end. */
async function threeTrackers(world: World): Promise<void> {
  const page = await world.open();
  await leave(page, () => {
    const text = 'x'.repeat(5000);
    for (const [index, namespace] of ['app', 'app-b', 'app-c'].entries()) {
      window.start({ namespace });
      trackMany(index * 5, index * 5 + 5, { text });
    }
    location.href = otherSite;
  });
  // Events that did not fit wait for the next visit of their tracker.
  for (const namespace of ['app', 'app-b', 'app-c']) {
    const next = await world.open({ namespace });
    await until(() => next.evaluate(() => tracker.pending === 0));
    await until(() => next.evaluate(hasNothingStored, namespace));
    await next.close();
  }
  await page.close();
  expectExactly(world.figures('3 trackers x 5 x 5 KB', 15));
}

const hasNothingStored = (namespace: string): boolean =>
  !Object.keys(localStorage).some((key) => key.startsWith(`postreel:${namespace}:`));

async function closeTab(world: World): Promise<void> {
  const opener = await world.visit('/away');
  await opener.evaluate((address) => {
    window.popup = window.open(address);
  }, world.address({}));
  await waitInPage(opener, () => !!window.popup && 'tracker' in window.popup);
  await opener.evaluate(() => void window.popup?.setTimeout('trackMany(0, 15); close()'));
  await waitInPage(opener, () => !!window.popup?.closed);
  await visitAgain(world);
  await opener.close();
  expectAsPromised(world.delivery, world.figures('15 events then window.close()', 15));
}

/** 10 events of 10 KB: more than a browser sends at the end of a page. */
async function largeExit(world: World): Promise<void> {
  const page = await world.open();
  await leave(page, () => {
    trackMany(0, 10, { text: 'x'.repeat(10_000) });
    location.href = otherSite;
  });
  await visitAgain(world);
  await page.close();
  expectAsPromised(world.delivery, world.figures('10 x 10 KB at exit', 10));
}

async function restore(world: World): Promise<void> {
  const page = await world.open();
  await noteRestores(page);
  await leave(page, () => {
    trackMany(0, 10, { text: 'x'.repeat(10_000) });
    location.href = otherSite;
  });
  const wasRestored = await goBack(page);
  await page.evaluate(() => trackMany(10, 15));
  await until(() => page.evaluate(() => tracker.pending === 0));
  await world.settled(page);
  await page.close();
  expectAsPromised(world.delivery, world.figures('10 events, back/forward cache, 5 more', 15));
  // The Chromium from npm has no back/forward cache: it reloads the page, with the same figures.
  expect(wasRestored).toBe(world.browser.engine !== 'chromium' || hasSystemChromium);
}

/** The next visit reports handed-over events as unconfirmed, and none as lost. */
async function reportedOnNextVisit(world: World): Promise<void> {
  world.service.reply = () => new Promise(() => undefined);
  const page = await world.open();
  await leave(page, () => {
    trackMany(0, 3);
    location.href = '/away';
  });
  await until(() => world.service.arrivals.length >= 3);
  world.service.reply = () => ({ status: 200 });
  const next = await world.open();
  await world.settled(next);
  const names = await next.evaluate(() => notices.map(({ name }) => name));
  expect(names.filter((name) => name === 'unconfirmed')).toHaveLength(3);
  expect(names).not.toContain('dropped');
  expect(world.service.arrivals.filter(({ data }) => data?.n !== undefined)).toHaveLength(3);
  await Promise.all([page.close(), next.close()]);
}

/** 20 events of a crashed tab, and three tabs that start at the same time. */
async function takeOverOrphans(world: World): Promise<void> {
  const last = await world.visit('/away');
  await last.evaluate(() => {
    for (let n = 10; n < 30; n++) {
      const id = `postreel:app:1${n}`;
      const rest = { at: Date.now(), owner: 'gone', email: 'ann@example.com' };
      localStorage[id] = JSON.stringify({ id, event: 'clicked', data: { n }, ...rest });
    }
  });
  const pages = await Promise.all(Array.from({ length: 3 }, () => world.open()));
  await until(() => world.service.accepted.length >= 20);
  await Promise.all(pages.map((page) => world.settled(page)));
  await Promise.all([last, ...pages].map((page) => page.close()));
  expectExactly(world.figures('20 orphans and 3 tabs', 20));
}

async function tabs(world: World): Promise<void> {
  const pages = await Promise.all(Array.from({ length: 3 }, () => world.open()));
  await Promise.all(
    pages.map((page, tab) => page.evaluate((name) => trackMany(0, 20, { tab: name }), String(tab))),
  );
  await until(() => world.service.accepted.length >= 60);
  await world.settled(pages[0]!);
  await Promise.all(pages.map((page) => page.close()));
  expectExactly(world.figures('3 tabs x 20 events', 60));
}

/** The tab is left while offline; the next page of the site sends all events in order. */
async function leaveOffline(world: World): Promise<void> {
  const page = await world.open();
  await world.browser.setOffline(true);
  await page.evaluate(() => trackMany(0, 10));
  await world.browser.setOffline(false);
  await until(() => world.service.accepted.length >= 10);
  await world.settled(page);
  await page.close();
  expectExactly(world.figures('offline then online', 10));
  expect(world.service.accepted.flatMap(({ data }) => data?.n ?? [])).toEqual(
    Array.from({ length: 10 }, (_, n) => n),
  );
}

/**
 * A route change: the answer to the open request comes after `dispose()`, and rejects the event.
 */
async function routeChange(world: World): Promise<void> {
  let answer: () => void = () => undefined;
  world.service.reply = () =>
    new Promise((resolve) => {
      answer = () => resolve({ status: 503 });
    });
  const [page, other] = [await world.open(), await world.open()];
  await page.evaluate(() => trackMany(0, 1));
  await until(() => world.service.arrivals.length > 0);
  await page.evaluate(() => {
    tracker.dispose();
    window.start({});
  });
  // Longer than a tab may take to answer.
  await page.evaluate(() => new Promise((resolve) => void setTimeout(resolve, 4000)));
  world.service.reply = () => ({ status: 200 });
  answer();
  await until(() => world.service.accepted.length > 0);
  await world.settled(page);
  await Promise.all([page.close(), other.close()]);
  expectExactly(world.figures('dispose(), then a 503', 1));
}

/** The service rejects the events that an exit within the site hands over: each one is reported. */
async function refusedAtExit(world: World): Promise<void> {
  const headers = { 'Retry-After': '1', 'Access-Control-Expose-Headers': 'Retry-After' };
  world.service.reply = () => ({ status: 429, headers });
  const page = await world.open();
  await page
    .evaluate(() => {
      trackMany(0, 5);
      location.href = location.href.replace('/?', '/next?');
    })
    .catch(() => undefined);
  await waitInPage(page, () => location.pathname === '/next' && 'tracker' in window);
  world.service.reply = () => ({ status: 200 });
  const ends = () =>
    page.evaluate(() => notices.filter(({ name }) => /delivered|unconfirmed|dropped/.test(name)));
  await until(async () => (await ends()).length >= 5, 20_000);
  await page.close();
  expect(world.figures('429 at an exit within the site', 5).duplicates).toBe(0);
}

/** As many attempts as after a 502, although Chromium itself repeats a request after a 408. */
async function timedOutByService(world: World): Promise<void> {
  world.service.reply = () => ({ status: 408, headers: { Connection: 'close' } });
  const page = await world.open({ speed: 200 });
  await page.evaluate(() => trackMany(0, 1));
  await until(() => page.evaluate(() => notices.some(({ name }) => name === 'unconfirmed')));
  await page.close();
  expect(world.service.arrivals.length).toBeLessThanOrEqual(3);
}

/** Ways in which a page may end, and several visits to one page. */
export const EXITS: readonly Case[] = [
  { name: 'keeps an event that is refused after a route change', run: routeChange },
  {
    name: 'reports the events that an exit within the site handed over but the service rejected',
    run: refusedAtExit,
  },
  { name: 'makes at most three attempts after a 408', run: timedOutByService },
  exit('delivers 15 events before a page of the site that has no tracker', () => {
    trackMany(0, 15);
    location.href = '/away';
  }),
  exit('delivers 15 events before an address of the site that leads elsewhere', () => {
    trackMany(0, 15);
    location.href = `/moved?${encodeURIComponent(otherSite)}`;
  }),
  exit('delivers 15 events before another site', () => {
    trackMany(0, 15);
    location.href = otherSite;
  }),
  {
    name: 'delivers 15 events before a reload',
    run: async (world) => {
      const page = await world.open();
      await page.evaluate(() => {
        trackMany(0, 15);
        window.wasRestored = false;
        location.reload();
      });
      await waitInPage(page, () => 'tracker' in window && window.wasRestored === undefined);
      await world.settled(page);
      await until(() => world.service.accepted.length >= 16);
      await page.close();
      expectExactly(world.figures('15 events then a reload', 15));
    },
  },
  {
    name: 'delivers 15 events before window.close()',
    // The driver of WebKit blocks popups.
    engines: ['chromium', 'firefox'],
    deliveries: BOTH,
    run: closeTab,
  },
  { name: 'delivers 10 events of 10 KB before another site', deliveries: BOTH, run: largeExit },
  { name: 'shares the bytes of an exit among three trackers of a page', run: threeTrackers },
  { name: 'continues after the back/forward cache', deliveries: BOTH, run: restore },
  { name: 'reports handed-over events as unconfirmed, not as lost', run: reportedOnNextVisit },
  { name: 'delivers the events of 3 tabs', run: tabs },
  { name: 'lets one of 3 tabs take over the events of a crashed tab', run: takeOverOrphans },
  { name: 'delivers offline events in order', isExclusive: true, run: leaveOffline },
  {
    name: 'hands over the events that the page tracks at pagehide',
    run: async (world) => {
      const page = await world.open();
      await leave(page, () => {
        addEventListener('pagehide', () => trackMany(0, 5));
        location.href = otherSite;
      });
      await until(() => world.service.accepted.length >= 5);
      await waitForAway(page);
      await page.close();
      expectExactly(world.figures('tracked in a pagehide listener', 5));
    },
  },
];
