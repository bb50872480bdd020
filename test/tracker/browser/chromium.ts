import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { TrackerOptions } from '../../../src/tracker/index.js';
import { bundle } from '../support/app.js';
import { hasSystemChromium, until } from '../support/browser.js';
import {
  type Delivery,
  type Figures,
  type World,
  createWorld,
  expectExactly,
} from '../support/world.js';
import * as scenarios from './scenarios.js';

const DELIVERIES: Delivery[] = ['no-duplicates', 'no-loss'];

/** `no-loss` may repeat what it cannot know to have arrived; it may not lose anything. */
const expectAsPromised = (delivery: Delivery, figures: Figures): void => {
  if (delivery === 'no-duplicates') expectExactly(figures);
  else expect(figures.delivered).toBe(figures.sent);
};

export function describeChromium(): void {
  describe('in Chromium', { timeout: 240_000 }, () => {
    let world: World;
    beforeAll(async () => {
      world = await createWorld('chromium');
    }, 120_000);
    beforeEach(() => world.service.reset());
    afterAll(() => world.close(), 60_000);

    describe.each(DELIVERIES)('with %s', (delivery) => {
      it('delivers 15 events that are followed by a navigation', async () => {
        expectAsPromised(delivery, await scenarios.navigate(world, delivery));
      });
      it('delivers 15 events that are followed by window.close()', async () => {
        expectAsPromised(delivery, await scenarios.closeTab(world, delivery));
      });
      it('delivers 10 events of 10 KB that are followed by a navigation', async () => {
        expectAsPromised(delivery, await scenarios.largeExit(world, delivery));
      });
      it('delivers 20 events after the browser was killed', async () => {
        expectAsPromised(delivery, await scenarios.killUndelivered(world, delivery));
      });
      it('sends nothing again after the browser was killed', async () => {
        expectExactly(await scenarios.killDelivered(world, delivery));
      });
    });

    it('delivers the events of 5 tabs', async () => {
      expectExactly(await scenarios.tabs(world));
    });
    it('delivers offline events in order', async () => {
      expectExactly(await scenarios.offline(world));
      const numbers = world.service.accepted.flatMap(({ data }) => data?.n ?? []);
      expect(numbers).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    });
    it.each([0, 30, 60, 120, 200, 300, 450, 650])(
      'repeats nothing when a tab leaves after %i ms while another drains',
      async (afterMs) => expectExactly(await scenarios.leaveWhileDraining(world, afterMs)),
    );
    it('lets one of 4 tabs take over what a closed tab left', async () => {
      expectExactly(await scenarios.orphans(world));
    });
    it('goes on after the back/forward cache', async () => {
      const { wasRestored, ...figures } = await scenarios.restore(world);
      expectExactly(figures);
      // The one from npm has no such cache: there the page is loaded anew, with the same figures.
      console.log(`[chromium] came back from the cache: ${String(wasRestored)}`);
      expect(wasRestored).toBe(hasSystemChromium);
    });
    describeRefusals(() => world);
    describeEnvironments(() => world);
  });
}

function describeRefusals(world: () => World): void {
  const firstOnly =
    (status: number, headers: Record<string, string> = {}) =>
    ({ index }: { index: number }) =>
      index === 0 ? { status, headers } : { status: 200 };

  it.each([
    ['readable', { 'Retry-After': '2', 'Access-Control-Expose-Headers': 'Retry-After' }, 2000],
    ['unreadable', { 'Retry-After': '2' }, 500],
  ])('waits after a 429 whose Retry-After is %s', async (name, headers, leastMs) => {
    const { service, open, settled, figures } = world();
    service.reply = firstOnly(429, headers);
    const page = await open();
    await page.evaluate(() => trackMany(0, 5));
    await until(() => service.accepted.length >= 5);
    await settled(page);
    const retries = await page.evaluate(() => notices.filter((notice) => notice.name === 'retry'));
    expect(retries).toHaveLength(1);
    expect(retries[0]).toMatchObject({ status: 429 });
    expect(Number(retries[0]?.delayMs)).toBeGreaterThanOrEqual(leastMs);
    expectExactly(figures(`429 with ${name} Retry-After`, 5));
    await page.close();
  });

  it('keeps everything after a 401 until it is resumed', async () => {
    const { service, open, settled, figures } = world();
    service.reply = () => ({ status: 401 });
    const page = await open();
    await page.evaluate(() => trackMany(0, 5));
    await until(() => page.evaluate(() => notices.some(({ name }) => name === 'paused')));
    expect(service.arrivals).toHaveLength(1);
    service.reply = () => ({ status: 200 });
    await page.evaluate(() => tracker.resume());
    await until(() => service.accepted.length >= 5);
    await settled(page);
    expectExactly(figures('401, then resume', 5));
    await page.close();
  });

  it('drops what the service rejects, once, and goes on', async () => {
    const { service, open, settled, figures } = world();
    service.reply = ({ data }) => ({ status: data?.n === 1 ? 400 : 200 });
    const page = await open();
    await page.evaluate(() => trackMany(0, 5));
    await until(() => service.accepted.length >= 4);
    await settled(page);
    const dropped = await page.evaluate(() => notices.filter(({ name }) => name === 'dropped'));
    expect(dropped).toMatchObject([{ reason: 'rejected', data: { n: 1 } }]);
    expect(service.arrivals.filter(({ data }) => data?.n === 1)).toHaveLength(1);
    expectExactly(figures('400 drops 1 of 5', 4));
    await page.close();
  });

  it('stops at one quiet try every five minutes when the host is blocked', async () => {
    const { open } = world();
    const page = await open({ baseUrl: 'http://127.0.0.1:1', storage: 'memory' });
    await page.evaluate(() => trackMany(0, 5));
    await until(() => page.evaluate(() => notices.some(({ name }) => name === 'blocked')));
    const retries = await page.evaluate(() => notices.filter((notice) => notice.name === 'retry'));
    expect(retries.map(({ delayMs }) => delayMs).at(-1)).toBe(300_000);
    expect(await page.evaluate(() => tracker.pending)).toBe(5);
    await page.close();
  });

  it.each<[Delivery, number]>([
    ['no-duplicates', 1],
    ['no-loss', 2],
  ])('with %s sends an event without an answer %i times over a kill', async (delivery, times) => {
    const { service, open, settled, profile } = world();
    service.reply = ({ index, data }) =>
      index === 0 && !data?.marker ? new Promise(() => undefined) : { status: 200 };
    const page = await open({ delivery });
    await page.evaluate(() => trackMany(0, 1));
    await until(() => service.arrivals.length === 1);
    await profile.killAndReopen();
    const next = await open({ delivery });
    await settled(next);
    const count = service.arrivals.filter(({ data }) => data?.n === 0).length;
    console.log(`[chromium] killed in flight, ${delivery}: arrived ${count} times`);
    expect(count).toBe(times);
    await next.close();
  });
}

function describeEnvironments(world: () => World): void {
  const trackTen = async (name: string, options: Partial<TrackerOptions>, path?: string) => {
    const { service, open, figures } = world();
    const page = await open(options, path);
    await page.evaluate(() => trackMany(0, 5));
    await until(() => service.accepted.length >= 5);
    await page.evaluate(() => {
      trackMany(5, 10);
      location.href = '/away';
    });
    await page.waitForURL('**/away');
    await until(() => service.accepted.length >= 10);
    await page.close();
    expectExactly(figures(name, 10));
  };

  it('lives in memory when the storage is forbidden', async () => {
    await trackTen('storage forbidden', {}, world().app.url + '/sandbox');
  });
  it('writes nothing with storage: memory', async () => {
    await trackTen('storage: memory', { storage: 'memory' });
  });
  it('lives in memory when the storage is full', async () => {
    const { open, profile, app, settled } = world();
    const filler = await profile.context.newPage();
    await filler.goto(app.url + '/away');
    await filler.evaluate(() => {
      for (let size = 2 ** 22; size >= 1; size /= 2) {
        try {
          for (let n = 0; ; n++) localStorage.setItem(`fill-${size}-${n}`, 'x'.repeat(size));
        } catch {
          // Full for this size: a smaller one may fit.
        }
      }
    });
    await trackTen('storage full', {});
    await filler.evaluate(() => localStorage.clear());
    const page = await open();
    await settled(page);
    await Promise.all([page.close(), filler.close()]);
    expectExactly(world().figures('storage full, next visit', 10));
  });
  it('takes over orphans once without Web Locks', async () => {
    const { app, open, service, figures, profile } = world();
    const url = app.url.replace('127.0.0.1', 'insecure.test') + '/';
    const last = await profile.context.newPage();
    await last.goto(url + 'away');
    await last.evaluate(() => {
      for (let n = 100; n < 120; n++) {
        const id = `postreel:${n}`;
        const at = Date.now() - 100_000;
        const rest = { version: 100, owner: 'postreel:gone', state: 0, email: 'ann@example.com' };
        localStorage[id] = JSON.stringify({ id, at, event: 'clicked', data: { n }, ...rest });
      }
    });
    const pages = await Promise.all([open({}, url), open({}, url), open({}, url)]);
    expect(await pages[0].evaluate(() => [isSecureContext, 'locks' in navigator])).toEqual([
      false,
      false,
    ]);
    await Promise.all(
      pages.map((page, tab) =>
        page.evaluate((name) => trackMany(0, 10, { tab: name }), String(tab)),
      ),
    );
    await until(() => service.accepted.length >= 50);
    await Promise.all(pages.map((page) => world().settled(page)));
    await Promise.all([last, ...pages].map((page) => page.close()));
    expectExactly(figures('insecure context, 3 tabs x 10 and 20 orphans', 50));
  });
  it('tracks once per mount with React under StrictMode', async () => {
    const { open, service, settled } = world();
    const page = await open();
    const script = await bundle('test/tracker/support/react-page.ts', 'reactPage');
    await page.addScriptTag({ content: script + ';reactPage.render(tracker)' });
    await page.getByText('first').waitFor();
    await page.getByRole('button').click();
    await page.getByText('second').waitFor();
    await settled(page);
    const viewed = service.accepted.filter(({ event }) => event === 'viewed');
    expect(viewed).toMatchObject([{ data: { name: 'first' } }]);
    await page.close();
  });
  it.each([
    ['gpc', {}],
    ['denied', { consent: 'denied' }],
  ] as const)('takes nothing in: %s', async (reason, options) => {
    const { open, service, figures, profile, app } = world();
    const page = await profile.context.newPage();
    if (reason === 'gpc') {
      await page.addInitScript(() =>
        Object.defineProperty(navigator, 'globalPrivacyControl', { value: true }),
      );
    }
    await page.goto(`${app.url}/?${encodeURIComponent(JSON.stringify(options))}`);
    await page.evaluate(() => trackMany(0, 5));
    await until(() => page.evaluate(() => notices.length === 5));
    expect(await page.evaluate(() => notices.map((notice) => notice.reason))).toEqual(
      Array(5).fill(reason),
    );
    expect(await page.evaluate(() => Object.keys(localStorage))).toEqual([]);
    const next = await open();
    await world().settled(next);
    expect(figures(`not taken in: ${reason}`, 5).delivered).toBe(0);
    expect(service.arrivals.every(({ event }) => event === 'marker')).toBe(true);
    await Promise.all([page.close(), next.close()]);
  });
}
