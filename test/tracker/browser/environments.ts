import { expect, it } from 'vitest';
import type { TrackerOptions } from '../../../src/tracker/index.js';
import { bundle } from '../../support/tracker/app.js';
import { until } from '../../support/tracker/browser.js';
import { type World, expectExactly } from '../../support/tracker/world.js';

/** Where a page may live. */
export function describeEnvironments(world: () => World): void {
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
          for (let n = 0; ; n++) {
            localStorage.setItem(`fill-${size}-${n}`, 'x'.repeat(size));
          }
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
    const script = await bundle('test/support/tracker/react-page.ts', 'reactPage');
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
    const { delivery } = world();
    await page.goto(`${app.url}/?${encodeURIComponent(JSON.stringify({ delivery, ...options }))}`);
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
