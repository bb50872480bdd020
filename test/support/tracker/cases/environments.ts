import { expect } from 'vitest';
import { INSECURE, until } from '../browser.js';
import { type PageOptions, type World, code, expectExactly } from '../world.js';
import { BOTH, type Case } from './case.js';
import { arrive } from './scenarios.js';

/** 5 events in the page and 5 at its end. */
async function trackTen(
  { service, open, figures }: World,
  name: string,
  options: PageOptions,
  path?: string,
): Promise<void> {
  const page = await open(options, path);
  await page.evaluate(() => trackMany(0, 5));
  await until(() => service.accepted.length >= 5);
  await page.evaluate(() => {
    trackMany(5, 10);
    location.href = '/away';
  });
  await arrive(page);
  await until(() => service.accepted.length >= 10);
  await page.close();
  expectExactly(figures(name, 10));
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
        // Full for this size: a smaller one may fit.
      }
    }
  });
  await trackTen(world, 'storage full', {});
  await filler.evaluate(() => localStorage.clear());
  const page = await world.open();
  await world.settled(page);
  await Promise.all([page.close(), filler.close()]);
  expectExactly(world.figures('storage full, next visit', 10));
}

async function withoutLocks({ app, open, visit, service, settled, figures }: World) {
  const url = app.url.replace('127.0.0.1', INSECURE) + '/';
  const last = await visit(url + 'away');
  await last.evaluate(() => {
    const visit = Math.random();
    for (let n = 100; n < 120; n++) {
      const id = `postreel:app:${visit}-${n}`;
      const at = Date.now() - 100_000;
      const rest = { version: 100, owner: 'gone', state: 0, email: 'ann@example.com' };
      localStorage[id] = JSON.stringify({ id, at, event: 'clicked', data: { n }, ...rest });
    }
  });
  const pages = await Promise.all([open({}, url), open({}, url), open({}, url)]);
  expect(await pages[0].evaluate(() => [isSecureContext, 'locks' in navigator])).toEqual([
    false,
    false,
  ]);
  await Promise.all(
    pages.map((page, tab) => page.evaluate((name) => trackMany(0, 10, { tab: name }), String(tab))),
  );
  await until(() => service.accepted.length >= 50);
  await Promise.all(pages.map((page) => settled(page)));
  await Promise.all([last, ...pages].map((page) => page.close()));
  expectExactly(figures('insecure context, 3 tabs x 10 and 20 orphans', 50));
}

const takesNothingIn = (reason: 'gpc' | 'denied', options: PageOptions): Case => ({
  name: `takes nothing in: ${reason}`,
  run: async ({ open, service, settled, figures }) => {
    const page = await open(options);
    await page.evaluate(() => trackMany(0, 5));
    await until(() => page.evaluate(() => notices.length === 5));
    expect(await page.evaluate(() => notices.map((notice) => notice.reason))).toEqual(
      Array(5).fill(reason),
    );
    expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([]);
    const next = await open();
    await settled(next);
    expect(figures(`not taken in: ${reason}`, 5).delivered).toBe(0);
    expect(service.arrivals.every(({ event }) => event === 'marker')).toBe(true);
    await Promise.all([page.close(), next.close()]);
  },
});

/** Where a page may live. */
export const ENVIRONMENTS: readonly Case[] = [
  {
    name: 'lives in memory when the storage is forbidden',
    run: async (world) => trackTen(world, 'storage forbidden', {}, '/sandbox'),
  },
  {
    name: 'writes nothing with storage: memory',
    run: async (world) => trackTen(world, 'storage: memory', { storage: 'memory' }),
  },
  { name: 'lives in memory when the storage is full', deliveries: BOTH, run: withFullStorage },
  {
    name: 'takes over orphans once without Web Locks',
    engines: ['chromium', 'firefox'],
    run: withoutLocks,
  },
  takesNothingIn('gpc', {
    before: code(() => {
      Object.defineProperty(navigator, 'globalPrivacyControl', { value: true });
    }),
  }),
  takesNothingIn('denied', { consent: 'denied' }),
];
