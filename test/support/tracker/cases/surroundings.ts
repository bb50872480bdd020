import { expect } from 'vitest';
import { until } from '../browser.js';
import { type PageOptions, UNSENT, type World, expectExactly } from '../world.js';
import { BOTH, type Case } from './case.js';
import { leave, once, ready } from './scenarios.js';

type Scene = 'Panel' | 'Broken' | 'Loading';

declare global {
  var reactPage: { render(tracker: unknown, scene: Scene): void };
}

/** What arrives of a component that is mounted under StrictMode and gets other props later. */
const mounted = (name: string, scene: Scene, expected: readonly object[]): Case => ({
  name,
  run: async ({ open, service, settled }: World) => {
    const page = await open();
    await page.evaluate(() => {
      document.head.append(Object.assign(document.createElement('script'), { src: '/react.js' }));
    });
    await once(page, () => 'reactPage' in window);
    await page.evaluate((shown) => reactPage.render(tracker, shown), scene);
    await once(page, () => document.body.innerText.includes('first'));
    await page.evaluate(() => document.querySelector('button')?.click());
    await once(page, () => document.body.innerText.includes('second'));
    await settled(page);
    const viewed = service.accepted.filter(({ event }) => event === 'viewed');
    expect(viewed.map(({ data }) => data)).toEqual(expected);
    await page.close();
  },
});

const PROXIED: PageOptions = { proxy: true, baseUrl: '/collect' };

/** A page that sends through a route of its own site. */
async function throughProxy(world: World): Promise<void> {
  const { service } = world;
  const page = await world.open(PROXIED);
  await page.evaluate(() => trackMany(0, 5));
  await until(() => service.accepted.length >= 5);
  await page.close();
  const leaves = await world.open({ ...PROXIED, ...UNSENT });
  await ready(world, leaves);
  await leave(leaves, () => {
    trackMany(5, 25);
    location.href = otherSite;
  });
  await until(() => service.accepted.length >= 25);
  // One request for what one task tracked, and one for all that was handed over.
  await until(() => world.app.proxied.length >= 2);
  expect(world.app.proxied).toEqual([200, 200]);
  await leaves.close();
  // Even `no-loss` repeats nothing through one proxy.
  const next = await world.open(PROXIED);
  await world.settled(next);
  await next.close();
  expect(service.accepted.every(({ headers }) => headers.authorization === 'Bearer sk_test')).toBe(
    true,
  );
  expectExactly(world.figures('through the proxy, 20 of 25 at exit', 25));
}

/** What stands around a tracker. */
export const SURROUNDINGS: readonly Case[] = [
  mounted('tracks once per mount with React under StrictMode', 'Panel', [{ name: 'first' }]),
  mounted('tracks once for a component that suspends twice', 'Loading', [{ name: 'first' }]),
  mounted('leaves a component alone whose event cannot be sent', 'Broken', []),
  {
    name: 'hands over 20 events in one request to a proxy, and repeats none',
    deliveries: BOTH,
    run: throughProxy,
  },
];
