import { expect } from 'vitest';
import { until } from '../browser.js';
import type { Reply } from '../service.js';
import { type PageOptions, type World, expectExactly } from '../world.js';
import { BOTH, type Case } from './case.js';
import { leave, visitAgain } from './scenarios.js';

const countOf = ({ service }: World, n: number) =>
  service.arrivals.filter(({ data }) => data?.n === n).length;

/** How often an event may arrive whose answers never do; the pauses of minutes pass at once. */
const withoutAnswer = (
  name: string,
  isLost: 'reset' | 'unreadable',
  options: PageOptions,
  expected: number,
): Case => ({
  name,
  run: async (world) => {
    world.service.reply = () => ({ status: 200, isLost });
    const page = await world.open({ speed: 1000, ...options });
    await page.evaluate(() => trackMany(0, 1));
    await until(() => page.evaluate(() => tracker.pending === 0));
    expect(await page.evaluate(() => tracker.stats())).toEqual({ taken: 1, unconfirmed: 1 });
    expect(countOf(world, 0)).toBe(expected);
    await page.close();
  },
});

const notTheService = (name: string, reply: Reply): Case => ({
  name: `does not take ${name} for a delivery`,
  run: async (world) => {
    const { service } = world;
    service.reply = () => reply;
    const page = await world.open();
    await page.evaluate(() => trackMany(0, 5));
    await until(() => page.evaluate(() => notices.length > 0));
    expect(await page.evaluate(() => notices.some((notice) => notice.name === 'delivered'))).toBe(
      false,
    );
    service.reply = () => ({ status: 200 });
    await page.evaluate(() => {
      tracker.resume();
      void tracker.flush();
    });
    await until(() => service.accepted.length >= 5);
    await world.settled(page);
    await page.close();
    expectExactly(world.figures(`${name}, then the service`, 5));
  },
});

/** A page that may not send, beside one that may. */
async function besideStrictPage(world: World): Promise<void> {
  const strict = await world.open({}, '/strict');
  await strict.evaluate(() => trackMany(100, 105));
  await until(() => strict.evaluate(() => notices.some(({ name }) => name === 'blocked')));
  const page = await world.open();
  await page.evaluate(() => trackMany(0, 20));
  await until(() => page.evaluate(() => tracker.pending === 0));
  await strict.close();
  await world.settled(page);
  await page.close();
  const { delivered, duplicates } = world.figures('20 beside a page with a strict policy', 25);
  expect({ delivered, duplicates }).toEqual({ delivered: 25, duplicates: 0 });
}

/** 503 proves that the event was not taken: it is kept, and the others go first. */
async function stepsAside(world: World): Promise<void> {
  world.service.reply = ({ data }) => ({ status: data?.n === 0 ? 503 : 200 });
  const page = await world.open({ speed: 20 });
  await page.evaluate(() => trackMany(0, 10));
  await until(() => world.service.accepted.length >= 9);
  await until(() => page.evaluate(() => tracker.pending === 1));
  await until(() => countOf(world, 0) > 3);
  expect(await page.evaluate(() => tracker.pending)).toBe(1);
  await page.close();
  expectExactly(world.figures('one of 10 always answered with 503', 9));
}

/** 500 leaves open whether the event was taken: it is tried three times, and then named. */
async function endsAfterTries(world: World): Promise<void> {
  world.service.reply = ({ data }) => ({ status: data?.n === 0 ? 500 : 200 });
  const page = await world.open({ speed: 1000 });
  await page.evaluate(() => trackMany(0, 10));
  await until(() => page.evaluate(() => tracker.pending === 0));
  expect(await page.evaluate(() => tracker.stats())).toMatchObject({ taken: 10, unconfirmed: 1 });
  expect(countOf(world, 0)).toBe(3);
  await page.close();
  expectExactly(world.figures('one of 10 always answered with 500', 9));
}

/** Another script has used up what the browser allows at the end of a page. */
async function withoutQuota(world: World): Promise<void> {
  const page = await world.open();
  await leave(page, () => {
    void fetch(location.origin + '/taken', {
      method: 'POST',
      keepalive: true,
      body: 'x'.repeat(65_000),
    });
    trackMany(0, 15);
    location.href = otherSite;
  });
  await page.close();
  await visitAgain(world);
  const { sent, delivered, duplicates } = world.figures('15 at exit without quota', 15);
  if (world.delivery === 'no-loss') {
    expect(delivered).toBe(sent);
  } else {
    expect(duplicates).toBe(0);
  }
}

async function flushWaits(world: World): Promise<void> {
  const { service } = world;
  service.reply = ({ index }) =>
    index
      ? { status: 200 }
      : {
          status: 429,
          headers: { 'Retry-After': '2', 'Access-Control-Expose-Headers': 'Retry-After' },
        };
  const page = await world.open();
  await page.evaluate(() => trackMany(0, 5));
  await until(() => page.evaluate(() => notices.some(({ name }) => name === 'retry')));
  const before = Date.now();
  await page.evaluate(() => tracker.flush({ timeout: 20_000 }));
  expect(Date.now() - before).toBeGreaterThan(1000);
  const delays = await page.evaluate(() => notices.flatMap(({ delayMs }) => delayMs ?? []));
  expect(delays[0]).toBeGreaterThan(2000);
  await page.close();
  expectExactly(world.figures('429, then flush()', 5));
}

/** What passes for an answer, and what passes for a network. */
export const ANSWERS: readonly Case[] = [
  withoutAnswer('tries 3 times where the answer lacks CORS', 'unreadable', {}, 3),
  withoutAnswer('tries 3 times where the connection breaks in the answer', 'reset', {}, 3),
  withoutAnswer(
    'tries once where the answer lacks CORS, with retryAmbiguous: false',
    'unreadable',
    { retryAmbiguous: false },
    1,
  ),
  notTheService('a redirect to a login page', { status: 302, headers: { Location: '/login' } }),
  notTheService('{ success: false }', { status: 200, body: '{"success":false}' }),
  notTheService('an offline page', { status: 200, body: '<h1>You are offline</h1>' }),
  { name: 'goes on beside a page whose policy forbids to send', run: besideStrictPage },
  { name: 'lets an event that is always answered with 503 step aside', run: stepsAside },
  { name: 'tries an event 3 times that is always answered with 500', run: endsAfterTries },
  {
    name: 'holds nothing when other scripts used up the quota at the end of a page',
    deliveries: BOTH,
    run: withoutQuota,
  },
  { name: 'waits for Retry-After even when flushed', run: flushWaits },
];
