import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Browser,
  type Engine,
  type Tab,
  firefoxProblem,
  openProfile,
  until,
} from '../../test/support/tracker/browser.js';
import { visitAgain } from '../../test/support/tracker/cases/scenarios.js';
import { close, listen } from '../../test/support/tracker/service.js';
import { openWebkit, webkitProblem } from '../../test/support/tracker/webkit.js';
import { type Delivery, type World, createWorld } from '../../test/support/tracker/world.js';
import { startLoad } from './load.js';

// `npm run browsers -- exits`: 15 events and an exit to another site in the same task. A file keeps the
// figures after each run, and a series that was stopped goes on where it ended.

const RUNS = Number(process.env['RUNS'] ?? 30);
const ENGINES = (process.env['ENGINES'] ?? 'chromium,firefox,webkit').split(',') as Engine[];
const LOADS = (process.env['LOADS'] ?? 'idle,load').split(',');
const DELIVERIES = (process.env['DELIVERIES'] ?? 'no-duplicates,no-loss').split(',') as Delivery[];
const ONLY = process.env['ONLY'] ?? '';
const FIGURES = process.env['FIGURES'] ?? 'bench/browsers/exits.json';
const EVENTS = 15;

/** How a page may be left for another site; runs in the page. */
const EXITS: Readonly<Record<string, (address: string) => void>> = {
  link: (address) => {
    const link = Object.assign(document.createElement('a'), { href: address });
    document.body.append(link);
    trackMany(0, 15);
    link.click();
  },
  location: (address) => {
    trackMany(0, 15);
    location.href = address;
  },
  form: (address) => {
    const form = Object.assign(document.createElement('form'), { action: address });
    document.body.append(form);
    trackMany(0, 15);
    form.submit();
  },
};

interface Row {
  runs: number;
  sent: number;
  /** Arrived before the next visit. */
  atOnce: number;
  delivered: number;
  repeated: number;
}

type Figures = Record<string, Row>;

const figures = (existsSync(FIGURES) ? JSON.parse(readFileSync(FIGURES, 'utf8')) : {}) as Figures;
const problems = { chromium: undefined, firefox: firefoxProblem(), webkit: webkitProblem() };

describe.each(ENGINES)('exits to another site in %s', (engine) => {
  let browser: Browser;
  const other = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end('<!doctype html><title>other</title><link rel="icon" href="data:,">');
  });
  let address: string;
  beforeAll(async () => {
    if (problems[engine]) {
      throw new Error(problems[engine]);
    }
    // Another host is another site.
    address = (await listen(other)).replace('127.0.0.1', 'localhost') + '/other';
    browser = await (engine === 'webkit' ? openWebkit() : openProfile(engine));
  }, 180_000);
  afterAll(async () => {
    await browser.close();
    await close(other);
    console.table(figures);
  });

  const series = LOADS.flatMap((load) =>
    DELIVERIES.flatMap((delivery) => Object.keys(EXITS).map((exit) => ({ load, delivery, exit }))),
  ).filter(({ exit, load }) => exit.includes(ONLY) && !(engine === 'webkit' && load === 'load'));

  it.each(series)(
    'by $exit, $load, $delivery',
    async ({ load, delivery, exit }) => {
      const name = [engine, load, delivery, exit].join(' ');
      figures[name] ??= { runs: 0, sent: 0, atOnce: 0, delivered: 0, repeated: 0 };
      const row = figures[name];
      const stopLoad = load === 'load' ? startLoad(1) : () => Promise.resolve();
      while (row.runs < RUNS) {
        const world = await createWorld(browser, delivery);
        await runOnce(world, EXITS[exit]!, address, row);
        await world.close();
        writeFileSync(FIGURES, JSON.stringify(figures, undefined, 2));
      }
      await stopLoad();
      expect(delivery === 'no-loss' ? row.delivered - row.sent : row.repeated).toBe(0);
    },
    10_800_000,
  );
});

async function runOnce(
  world: World,
  leave: (address: string) => void,
  address: string,
  row: Row,
): Promise<void> {
  const page = await world.open();
  await until(() => page.evaluate(() => tracker.pending === 0));
  await leaveBy(page, leave, address);
  // What arrives at all arrives soon.
  await until(() => numbers(world).length >= EVENTS, 5000).catch(() => undefined);
  const atOnce = new Set(numbers(world)).size;
  await page.close();
  await visitAgain(world);
  const arrived = numbers(world);
  row.runs++;
  row.sent += EVENTS;
  row.atOnce += atOnce;
  row.delivered += new Set(arrived).size;
  row.repeated += arrived.length - new Set(arrived).size;
}

const numbers = ({ service }: World) => service.accepted.flatMap(({ data }) => data?.n ?? []);

async function leaveBy(page: Tab, leave: (address: string) => void, address: string) {
  await page.evaluate(leave, address).catch(() => undefined); // the page may be gone by then
  await until(() => page.evaluate(() => location.pathname === '/other').catch(() => false));
}
