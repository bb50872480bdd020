import { expect } from 'vitest';
import { until } from '../browser.js';
import { expectExactly } from '../world.js';
import type { Case } from './case.js';

/** Answers the first request with a status, every other with 200. */
const firstOnly =
  (status: number, headers: Record<string, string> = {}) =>
  ({ index }: { index: number }) =>
    index === 0 ? { status, headers } : { status: 200 };

const waitsAfter429 = (name: string, headers: Record<string, string>, minMs: number): Case => ({
  name: `waits after a 429 whose Retry-After is ${name}`,
  run: async ({ service, open, settled, figures }) => {
    service.reply = firstOnly(429, headers);
    const page = await open();
    await page.evaluate(() => trackMany(0, 5));
    await until(() => service.accepted.length >= 5);
    await settled(page);
    const retries = await page.evaluate(() => notices.filter((notice) => notice.name === 'retry'));
    expect(retries).toHaveLength(1);
    expect(retries[0]).toMatchObject({ status: 429 });
    expect(Number(retries[0]?.delayMs)).toBeGreaterThanOrEqual(minMs);
    expectExactly(figures(`429 with ${name} Retry-After`, 5));
    await page.close();
  },
});

/** What the service, or the way to it, may say. */
export const REFUSALS: readonly Case[] = [
  waitsAfter429(
    'readable',
    { 'Retry-After': '2', 'Access-Control-Expose-Headers': 'Retry-After' },
    2000,
  ),
  waitsAfter429('unreadable', { 'Retry-After': '2' }, 500),
  {
    name: 'keeps everything after a 401 until it is resumed',
    run: async ({ service, open, settled, figures }) => {
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
    },
  },

  {
    name: 'drops what the service rejects, once, and goes on',
    run: async ({ service, open, settled, figures }) => {
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
    },
  },

  {
    name: 'stops at one quiet try every five minutes when the host is blocked',
    run: async ({ open }) => {
      const page = await open({ baseUrl: 'http://127.0.0.1:1', storage: 'memory' });
      await page.evaluate(() => trackMany(0, 5));
      await until(() => page.evaluate(() => notices.some(({ name }) => name === 'blocked')));
      const retries = await page.evaluate(() =>
        notices.filter((notice) => notice.name === 'retry'),
      );
      expect(retries.map(({ delayMs }) => delayMs).at(-1)).toBe(300_000);
      expect(await page.evaluate(() => tracker.pending)).toBe(5);
      await page.close();
    },
  },
];
