import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Browser,
  type Engine,
  firefoxProblem,
  openProfile,
  until,
} from '../../test/support/tracker/browser.js';
import { close, listen } from '../../test/support/tracker/service.js';
import { openWebkit, webkitProblem } from '../../test/support/tracker/webkit.js';
import { type Delivery, type World, createWorld } from '../../test/support/tracker/world.js';
import { EVENTS, type Exit, exitsOf } from './exits.js';
import { startLoad } from './load.js';

// `npm run browsers -- exits`: 15 events and an exit in the same task. A file keeps the figures
// after each run, and an interrupted series continues where it stopped.

const RUNS = Number(process.env['RUNS'] ?? 30);
const ENGINES = (process.env['ENGINES'] ?? 'chromium,firefox,webkit').split(',') as Engine[];
const LOADS = (process.env['LOADS'] ?? 'idle,load').split(',');
const DELIVERIES = (process.env['DELIVERIES'] ?? 'no-duplicates').split(',') as Delivery[];
const ONLY = process.env['ONLY'] ?? '';
const FIGURES = process.env['FIGURES'] ?? 'bench/browsers/exits.json';
interface Row {
  runs: number;
  sent: number;
  /** Arrived before the next visit. */
  atOnce: number;
  delivered: number;
  repeated: number;
  /** Never arrived, and the next visit reported it as unconfirmed. */
  unconfirmed: number;
  /** Never arrived, and was never reported. */
  lost: number;
}

const NOTHING = {
  runs: 0,
  sent: 0,
  atOnce: 0,
  delivered: 0,
  repeated: 0,
  unconfirmed: 0,
  lost: 0,
} as const satisfies Row;

type Figures = Record<string, Row>;

const figures = (existsSync(FIGURES) ? JSON.parse(readFileSync(FIGURES, 'utf8')) : {}) as Figures;
const problems = { chromium: undefined, firefox: firefoxProblem(), webkit: webkitProblem() };

describe.each(ENGINES)('exits in %s', (engine) => {
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
    // A different host makes it a different site.
    address = (await listen(other)).replace('127.0.0.1', 'localhost') + '/other';
    browser = await (engine === 'webkit' ? openWebkit() : openProfile(engine));
  }, 180_000);
  afterAll(async () => {
    await browser.close();
    await close(other);
    console.table(figures);
  }, 60_000);

  const exits = exitsOf(engine);
  const series = LOADS.flatMap((load) =>
    DELIVERIES.flatMap((delivery) => Object.keys(exits).map((exit) => ({ load, delivery, exit }))),
  ).filter(({ exit }) => exit.includes(ONLY));

  it.each(series)(
    'by $exit, $load, $delivery',
    async ({ load, delivery, exit }) => {
      const name = [engine, load, delivery, exit].join(' ');
      figures[name] ??= { ...NOTHING };
      const row = figures[name];
      const stopLoad = load === 'load' ? startLoad(1) : () => Promise.resolve();
      while (row.runs < RUNS) {
        const world = await createWorld(browser, delivery);
        await runOnce(world, exits[exit]!, address, row).finally(() => world.close());
        writeFileSync(FIGURES, JSON.stringify(figures, undefined, 2));
      }
      await stopLoad();
      expect([row.lost, delivery === 'no-loss' ? row.unconfirmed : row.repeated]).toEqual([0, 0]);
    },
    10_800_000,
  );
});

async function runOnce(world: World, exit: Exit, address: string, row: Row): Promise<void> {
  const page = await exit(world, address);
  // Whatever arrives, arrives soon.
  await until(() => numbers(world).length >= EVENTS, 5000).catch(() => undefined);
  const atOnce = new Set(numbers(world)).size;
  await page.close();
  const reported = await unconfirmedOnNextVisit(world);
  const arrived = numbers(world);
  const delivered = new Set(arrived);
  const missing = Array.from({ length: EVENTS }, (_, n) => n).filter((n) => !delivered.has(n));
  const isReported = (n: number) => reported.includes(n);
  row.runs++;
  row.sent += EVENTS;
  row.atOnce += atOnce;
  row.delivered += delivered.size;
  row.repeated += arrived.length - delivered.size;
  row.unconfirmed += missing.filter(isReported).length;
  row.lost += missing.filter((n) => !isReported(n)).length;
}

/** The numbers of the events that the next visit of the app reports as `unconfirmed`. */
async function unconfirmedOnNextVisit(world: World): Promise<readonly number[]> {
  const page = await world.open();
  await world.settled(page);
  const unconfirmed = await page.evaluate(() =>
    notices.flatMap(({ name, data }) => (name === 'unconfirmed' ? (data as { n: number }).n : [])),
  );
  await page.close();
  return unconfirmed;
}

const numbers = ({ service }: World): number[] =>
  service.accepted.flatMap(({ data }) => (typeof data?.n === 'number' ? data.n : []));
