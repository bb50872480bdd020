import { expect } from 'vitest';
import { INSECURE, until } from '../browser.js';
import { type PageOptions, type World, code, expectExactly } from '../world.js';
import { BOTH, type Case } from './case.js';
import { waitForAway, goBack, leave, noteRestores, waitInPage, visitAgain } from './scenarios.js';

type Scene = 'Panel' | 'Broken' | 'Loading';

declare global {
  var reactPage: { render(tracker: unknown, scene: Scene): void };
  var extras: { autoPage(given: unknown): () => void };
}

/**
 * The events that arrive from a component that is mounted under StrictMode and gets other props
 * later.
 */
const mountComponent = (name: string, scene: Scene, expected: readonly object[]): Case => ({
  name,
  run: async ({ open, service, settled }: World) => {
    const page = await open();
    await page.evaluate(() => {
      document.head.append(Object.assign(document.createElement('script'), { src: '/react.js' }));
    });
    await waitInPage(page, () => 'reactPage' in window);
    await page.evaluate((shown) => reactPage.render(tracker, shown), scene);
    await waitInPage(page, () => document.body.innerText.includes('first'));
    await page.evaluate(() => document.querySelector('button')?.click());
    await waitInPage(page, () => document.body.innerText.includes('second'));
    await settled(page);
    const viewed = service.accepted.filter(({ event }) => event === 'viewed');
    expect(viewed.map(({ data }) => data)).toEqual(expected);
    await page.close();
  },
});

const PROXIED: PageOptions = { proxy: true, baseUrl: '/collect' };

/** A page that sends through a route of its site. */
async function throughProxy(world: World): Promise<void> {
  const { service } = world;
  const page = await world.open(PROXIED);
  await leave(page, () => {
    trackMany(0, 25);
    location.href = otherSite;
  });
  await until(() => service.accepted.length >= 25);
  await page.close();
  // Even `no-loss` repeats nothing through one proxy.
  const next = await world.open(PROXIED);
  await world.settled(next);
  await next.close();
  expect(service.accepted.every(({ headers }) => headers.authorization === 'Bearer sk_test')).toBe(
    true,
  );
  expectExactly(world.figures('through the proxy, 25 at exit', 25));
}

/** 5 events in the page and 5 at its end. */
const deliversFromPage = (name: string, options: PageOptions, path?: string): Case => ({
  name,
  run: async (world) => {
    const page = await world.open(options, path);
    await page.evaluate(() => trackMany(0, 5));
    await until(() => world.service.accepted.length >= 5);
    await page.evaluate(() => {
      trackMany(5, 10);
      location.href = '/away';
    });
    await waitForAway(page);
    await until(() => world.service.accepted.length >= 10);
    await page.close();
    expectExactly(world.figures(name, 10));
  },
});

/** A storage with one method that throws, from the beginning or after some events. */
const failingStorage = (method: string): string =>
  `let calls = 0;
  const original = Storage.prototype.${method};
  Storage.prototype.${method} = function (...given) {
    if (++calls > 3) throw new DOMException('NS_ERROR_FILE_CORRUPTED');
    return original.apply(this, given);
  };`;

/** `reset()` and `deny()` return, and the denial applies in the tab. */
async function deniesWithoutStorage(world: World): Promise<void> {
  const before = `Object.defineProperty(window, 'localStorage', { get() {
    throw new DOMException('NS_ERROR_FILE_CORRUPTED');
  } });`;
  const page = await world.open({ before });
  const reason = await page.evaluate(async () => {
    await tracker.reset();
    await tracker.consent.deny();
    return (await tracker.track('x', {}, { email: 'ann@example.com' }).outcome).reason;
  });
  expect(reason).toBe('denied');
  const warnings = await page.evaluate(
    () => notices.filter(({ name }) => name === 'warning').length,
  );
  expect(warnings).toBe(1);
  await page.close();
}

async function withFullStorage(world: World): Promise<void> {
  const filler = await world.visit('/away');
  await filler.evaluate(() => {
    for (let size = 2 ** 22; size >= 1; size /= 2) {
      try {
        for (let n = 0; ; n++) {
          localStorage.setItem(`fill-${size}-${n}`, 'x'.repeat(size));
        }
      } catch {
        // Full for this size: a smaller text may fit.
      }
    }
  });
  await deliversFromPage('storage full', {}).run(world);
  await filler.evaluate(() => localStorage.clear());
  await filler.close();
}

/** Compares a storage with five thousand keys of the host with an empty one. */
async function withManyKeys(world: World): Promise<void> {
  const time = async () => {
    const page = await world.open({ maxQueue: 5000, maxBytes: 5_000_000, consent: 'granted' });
    const ms = await page.evaluate(() => {
      tracker.pause();
      const start = performance.now();
      trackMany(0, 300);
      const took = performance.now() - start;
      void tracker.reset();
      return took;
    });
    await page.close();
    return ms;
  };
  const alone = [await time(), await time(), await time()];
  const page = await world.visit('/away');
  await page.evaluate(() => {
    for (let n = 0; n < 5000; n++) {
      localStorage.setItem(`host-${n}`, 'x'.repeat(100));
    }
  });
  const withKeys = [await time(), await time(), await time()];
  await page.close();
  console.log(
    `[${world.browser.engine}] 300 x track(), ms: ${alone.join()}; with 5 000 keys: ${withKeys.join()}`,
  );
}

/** Prerendered: not shown yet. */
const PRERENDERED = code(() => {
  let isPrerendering = true;
  Object.defineProperty(document, 'prerendering', { get: () => isPrerendering });
  addEventListener('activate-page', () => {
    isPrerendering = false;
    document.dispatchEvent(new Event('prerenderingchange'));
  });
});

async function waitWhilePrerendered(world: World): Promise<void> {
  const page = await world.open({ before: PRERENDERED });
  await page.evaluate(() => trackMany(0, 5));
  const other = await world.open();
  await world.settled(other);
  expect(world.figures('prerendered', 5).delivered).toBe(0);
  await page.evaluate(() => dispatchEvent(new Event('activate-page')));
  await until(() => world.service.accepted.length >= 6);
  await world.settled(page);
  await Promise.all([page.close(), other.close()]);
  expectExactly(world.figures('prerendered, then shown', 5));
}

/** One warning, and no event is lost. */
async function pauseAtRedirect(world: World): Promise<void> {
  world.service.reply = () => ({ status: 308, headers: { Location: '/v1/track/' } });
  const page = await world.open();
  await page.evaluate(() => trackMany(0, 5));
  await until(() => page.evaluate(() => notices.some(({ name }) => name === 'paused')));
  const messages = await page.evaluate(() =>
    notices.flatMap(({ name, message }) => (name === 'warning' ? String(message) : [])),
  );
  expect(messages).toEqual([expect.stringContaining(`${world.service.url}/v1/track`)]);
  world.service.reply = () => ({ status: 200 });
  await page.evaluate(() => tracker.resume());
  await until(() => world.service.accepted.length >= 5);
  await page.close();
  expectExactly(world.figures('a 308, then the service', 5));
}

/** The snippet in a page whose policy allows or forbids to load the script. */
const snippet = (name: string, isLoaded: boolean): Case => ({
  name: `settles the queued calls of the snippet: ${name}`,
  run: async (world) => {
    const page = await world.visit(`/snippet/${name}`);
    const flushed = await page.evaluate(() => {
      tracker.identify('ann@example.com');
      tracker.track('clicked', { n: 0 });
      return tracker.flush();
    });
    expect(flushed).toBe(isLoaded);
    await page.close();
    expect(world.figures(name, 1)).toMatchObject({ delivered: isLoaded ? 1 : 0, duplicates: 0 });
  },
});

/**
 * Routes by `history` and by the Navigation API, and Back from the cache; autoPage() is called
 * twice.
 */
async function pageViews(world: World): Promise<void> {
  const page = await world.open();
  await page.evaluate(() => {
    document.head.append(Object.assign(document.createElement('script'), { src: '/extras.js' }));
  });
  await waitInPage(page, () => 'extras' in window);
  await noteRestores(page);
  await leave(page, () => {
    extras.autoPage(tracker);
    extras.autoPage(tracker);
    history.pushState(null, '', '/one');
    history.replaceState(null, '', '/one?tab=2');
    const { navigation } = window as unknown as {
      navigation?: EventTarget & { navigate(url: string): { finished: Promise<void> } };
    };
    navigation?.addEventListener('navigate', (event) => {
      const going = event as Event & {
        destination: { url: string };
        intercept(options: object): void;
      };
      if (going.destination.url.endsWith('/two')) {
        going.intercept({});
      }
    });
    if (navigation) {
      navigation.navigate('/two');
    } else {
      history.pushState(null, '', '/two');
    }
    setTimeout(() => {
      location.href = otherSite;
    }, 100);
  });
  const wasRestored = await goBack(page);
  const paths = () =>
    world.service.accepted
      .filter(({ event }) => event === 'page_viewed')
      .map(({ data }) => new URL((data?.['url'] as { value: string }).value).pathname);
  // The exit sends the events it hands over in one request.
  const expected = ['/', '/one', '/two', ...(wasRestored ? ['/two'] : [])];
  await until(() => paths().length >= expected.length);
  expect(paths().sort()).toEqual(expected.sort());
  await page.close();
}

/** The tracker in different pages and environments. */
export const GUESTS: readonly Case[] = [
  mountComponent('tracks once per mount with React under StrictMode', 'Panel', [{ name: 'first' }]),
  mountComponent('tracks once for a component that suspends twice', 'Loading', [{ name: 'first' }]),
  mountComponent('does not break a component whose event cannot be sent', 'Broken', []),
  { name: 'tracks each page once with any router, and again after Back', run: pageViews },
  snippet('allowed', true),
  snippet('trusted', true),
  snippet('untrusted', false),
  snippet('refused', false),
  snippet('missing', false),
  {
    name: 'hands over 20 events in one request to a proxy, and repeats none',
    deliveries: BOTH,
    run: throughProxy,
  },
  deliversFromPage('keeps events in memory if the storage is forbidden', {}, '/sandbox'),
  deliversFromPage('keeps events in memory with storage: memory', { storage: 'memory' }),
  deliversFromPage('continues if setItem fails later', { before: failingStorage('setItem') }),
  deliversFromPage('continues if getItem fails later', { before: failingStorage('getItem') }),
  deliversFromPage('continues if removeItem fails later', { before: failingStorage('removeItem') }),
  { name: 'keeps events in memory if the storage is full', run: withFullStorage },
  { name: 'denies and resets if the storage is damaged', run: deniesWithoutStorage },
  {
    name: 'works in an insecure context, without Web Locks',
    engines: ['chromium', 'firefox'],
    run: async (world) => {
      const url = world.app.url.replace('127.0.0.1', INSECURE) + '/';
      const page = await world.open({}, url);
      expect(await page.evaluate(() => [isSecureContext, 'locks' in navigator])).toEqual([
        false,
        false,
      ]);
      await page.evaluate(() => trackMany(0, 5));
      await until(() => world.service.accepted.length >= 5);
      await world.settled(page);
      await page.close();
      expectExactly(world.figures('insecure context', 5));
    },
  },
  deliversFromPage('sends although the browser says that it is offline', {
    before: code(() => {
      Object.defineProperty(navigator, 'onLine', { value: false });
    }),
    speed: 60,
  }),
  { name: 'warns of a redirect with its address, and keeps the events', run: pauseAtRedirect },
  { name: 'sends nothing from a prerendered page before it is shown', run: waitWhilePrerendered },
  {
    name: 'tracks as fast with 5 000 keys of the host in the storage',
    isExclusive: true,
    run: withManyKeys,
  },
  {
    name: 'waits for Retry-After after a 429, on the next page too',
    run: async (world) => {
      const { service } = world;
      service.reply = ({ index }) =>
        index
          ? { status: 200 }
          : {
              status: 429,
              headers: { 'Retry-After': '3', 'Access-Control-Expose-Headers': 'Retry-After' },
            };
      const page = await world.open();
      await page.evaluate(() => trackMany(0, 5));
      await until(() => page.evaluate(() => notices.some(({ name }) => name === 'retry')));
      await leave(page, () => {
        location.href = '/away';
      });
      expect(service.arrivals).toHaveLength(1);
      await visitAgain(world);
      await page.close();
      expectExactly(world.figures('429, then the next page', 5));
    },
  },
];
