import { expect } from 'vitest';
import { until } from '../browser.js';
import { UNSENT, type World, code, expectExactly } from '../world.js';
import type { Case } from './case.js';
import { leave, once, visitAgain, ready } from './scenarios.js';

/** A popup that tracks as soon as it is there, and closes in the same task. */
async function hastyPopup(world: World): Promise<void> {
  const opener = await world.visit('/away');
  const after = 'trackMany(0, 5); close()';
  await opener.evaluate((address) => {
    window.popup = window.open(address);
  }, world.address({ after }));
  await once(opener, () => !!window.popup?.closed);
  await visitAgain(world);
  await opener.close();
  expectExactly(world.figures('a popup that tracks 5 and closes at once', 5));
}

async function trackedAtPagehide(world: World): Promise<void> {
  const page = await world.open(UNSENT);
  await ready(world, page);
  await leave(page, () => {
    addEventListener('pagehide', () => trackMany(0, 5));
    location.href = otherSite;
  });
  await until(() => world.service.accepted.length >= 5);
  await page.close();
  await visitAgain(world);
  expectExactly(world.figures('tracked in a pagehide listener', 5));
}

const PRERENDERED = code(() => {
  let isPrerendering = true;
  Object.defineProperty(document, 'prerendering', { get: () => isPrerendering });
  addEventListener('activate-page', () => {
    isPrerendering = false;
    document.dispatchEvent(new Event('prerenderingchange'));
  });
});

async function prerendered(world: World): Promise<void> {
  const page = await world.open({ before: PRERENDERED });
  await page.evaluate(() => trackMany(0, 5));
  const beside = await world.open();
  await world.settled(beside);
  expect(world.figures('prerendered', 5).delivered).toBe(0);
  await page.evaluate(() => dispatchEvent(new Event('activate-page')));
  await until(() => world.service.accepted.length >= 6);
  await world.settled(page);
  await Promise.all([page.close(), beside.close()]);
  expectExactly(world.figures('prerendered, then shown', 5));
}

async function twoProjects(world: World): Promise<void> {
  const [first, second] = [await world.open(), await world.open({ namespace: 'other' })];
  // Paused, so that nothing is handed over at its end, where Firefox may cut requests off.
  await first.evaluate(() => {
    tracker.pause();
    trackMany(0, 5);
  });
  await until(async () => (await world.stored(first)) === 5);
  await second.evaluate(async () => {
    trackMany(10, 15, { tab: 'other' });
    await tracker.reset();
  });
  await first.close();
  await second.close();
  await visitAgain(world);
  const own = world.service.accepted.filter(({ data }) => !data?.tab && !data?.marker);
  expect(own.map(({ data }) => data?.n)).toEqual([0, 1, 2, 3, 4]);
}

/** What a page may have got wrong, and what an old browser lacks. */
const oddities = (name: string, options: Parameters<World['open']>[0]): Case => ({
  name,
  run: async (world) => {
    const page = await world.open({ ...options });
    await page.evaluate(() => {
      trackMany(0, 3);
      tracker.identify('ann@example.com');
    });
    await until(() => world.service.accepted.length >= 3);
    await world.settled(page);
    await page.close();
    expectExactly(world.figures(name, 3));
  },
});

async function refusesOptions(world: World): Promise<void> {
  const page = await world.visit('/');
  const refusals = await page.evaluate(() =>
    [{ maxAge: '30m' }, { publicKey: undefined }, { baseUrl: undefined }].map((options) => {
      try {
        // Plain JavaScript, as a page without types would have it.
        window.start(options as never);
        return 'started';
      } catch (error) {
        return String(error);
      }
    }),
  );
  expect(refusals).toEqual([
    'TypeError: maxAge is in ms',
    'TypeError: publicKey is missing: is its variable set?',
    'TypeError: baseUrl is missing',
  ]);
  await page.close();
}

async function throwingFilter(world: World): Promise<void> {
  const page = await world.visit('/');
  await page.evaluate(() => {
    window.start({
      beforeSend: (event) => {
        if (event.data?.['n'] === 1) {
          throw new Error('a filter of the page');
        }
        return event;
      },
    });
    trackMany(0, 3);
  });
  await until(() => world.service.accepted.length >= 2);
  await world.settled(page);
  expect(await page.evaluate(() => tracker.stats().filtered)).toBe(1);
  await page.close();
  expectExactly(world.figures('beforeSend throws for one of 3', 2));
}

/** How pages begin and end, and what they ask for. */
export const LIVES: readonly Case[] = [
  {
    name: 'delivers what a popup tracks that closes itself at once',
    engines: ['chromium', 'firefox'],
    run: hastyPopup,
  },
  { name: "hands over what the page's own pagehide listener tracks", run: trackedAtPagehide },
  { name: 'sends nothing from a prerendered page before it is shown', run: prerendered },
  { name: 'keeps two projects on one origin apart', run: twoProjects },
  oddities('waits for a contact where the email is empty', { email: '' }),
  oddities('sends without AbortSignal.timeout', {
    before: code(() => {
      Object.defineProperty(AbortSignal, 'timeout', { value: undefined });
    }),
  }),
  oddities('sends beside a patched fetch', {
    before: code(() => {
      const fetch = window.fetch.bind(window);
      // As a monitor does it: it reads the answer as well.
      window.fetch = async (input, init) => {
        const response = await fetch(new Request(input, init));
        await response.clone().text();
        return response;
      };
    }),
  }),
  {
    ...oddities('sends beside a patched JSON and prototypes', {
      before: code(() => {
        const parse = JSON.parse.bind(JSON);
        const timeOf = (_: string, value: unknown) =>
          typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? new Date(value) : value;
        JSON.parse = (text, reviver) => parse(text, reviver ?? timeOf) as unknown;
        const extend = (prototype: object, name: string) =>
          Reflect.set(prototype, name, () => 'not a value of ours');
        ['limit', 'email', 'fetch', 'proxy', 'each'].forEach((name) =>
          extend(Object.prototype, name),
        );
        ['toJSON', 'fetch', 'each'].forEach((name) => extend(Array.prototype, name));
      }),
    }),
    // The driver of WebKit itself trips over them.
    engines: ['chromium', 'firefox'],
  },
  { name: 'refuses options that could never work', run: refusesOptions },
  { name: 'drops what makes beforeSend throw, and goes on', run: throwingFilter },
  {
    name: 'takes a base address that ends with a slash',
    run: async (world) => {
      const page = await world.open({ baseUrl: world.service.url + '/' });
      await page.evaluate(() => trackMany(0, 3));
      await until(() => world.service.accepted.length >= 3);
      expect(world.service.accepted.map(({ path }) => path)).toEqual(Array(3).fill('/v1/track'));
      await page.close();
      expectExactly(world.figures('a trailing slash', 3));
    },
  },
];
