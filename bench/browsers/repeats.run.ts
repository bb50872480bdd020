import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, it } from 'vitest';
import {
  type Browser,
  type Engine,
  firefoxProblem,
  openProfile,
} from '../../test/support/tracker/browser.js';
import { type Case, DEFAULT } from '../../test/support/tracker/cases/case.js';
import { CASES } from '../../test/support/tracker/cases/index.js';
import { openWebkit, webkitProblem } from '../../test/support/tracker/webkit.js';
import { type Delivery, type Figures, createWorld } from '../../test/support/tracker/world.js';
import { startLoad } from './load.js';

/** How often each case runs in each engine; `REPEATS=2` is a quick look. */
const REPEATS = { chromium: 20, firefox: 20, webkit: 10 };
/** Cases that run side by side. */
const LANES = Number(process.env['LANES'] ?? 5);
/** Browsers that they share: one thread of Firefox does most of its work, and WebKit has one page. */
const BROWSERS = { chromium: 1, firefox: 2, webkit: LANES };
/** Runs after which the browsers are new: Firefox keeps 20 MB of each, and dies after some hundred. */
const RUNS = { chromium: Infinity, firefox: 150, webkit: Infinity };
const ENGINES = (process.env['ENGINES'] ?? 'chromium,firefox,webkit').split(',') as Engine[];
/** Only cases whose names hold this. */
const ONLY = process.env['ONLY'] ?? '';
/** The number of the first round, where several runs share the repetitions. */
const FIRST = Number(process.env['FIRST'] ?? 0);
/** A file that has the figures after each run, so that a stopped one leaves them. */
const FIGURES = process.env['FIGURES'];

/** What has come of one case with one promise in one engine. */
interface Row {
  readonly engine: Engine;
  readonly name: string;
  readonly delivery: Delivery;
  runs: number;
  sent: number;
  delivered: number;
  duplicates: number;
  /** How long all of them took. */
  seconds: number;
  readonly failures: string[];
}

const rows: Row[] = [];
const problems = { chromium: undefined, firefox: firefoxProblem(), webkit: webkitProblem() };
// Told now, and not an hour later.
const missing = ENGINES.flatMap((engine) => problems[engine] ?? []);
if (missing.length > 0) {
  throw new Error(missing.join('; '));
}

describe.each(ENGINES)('in %s, each case again and again', (engine) => {
  let stopLoad: () => Promise<unknown>;
  beforeAll(() => {
    stopLoad = startLoad(1);
  });
  afterAll(() => stopLoad());

  it('keeps its promises', async () => {
    const cases = CASES.filter(({ name }) => name.includes(ONLY)).filter((each) =>
      isPossible(each, engine),
    );
    const alone = jobsOf(
      engine,
      cases.filter(({ isAlone }) => isAlone),
    );
    const beside = jobsOf(
      engine,
      cases.filter(({ isAlone }) => !isAlone),
    );
    while (beside.length) {
      await runAll(beside.splice(0, RUNS[engine]), engine, LANES);
    }
    await runAll(alone, engine, 1);
    const broken = rows.filter((row) => row.engine === engine && row.failures.length);
    if (broken.length) {
      throw new Error(JSON.stringify(broken, undefined, 2));
    }
  }, 10_800_000);
});

afterAll(() => {
  console.table(
    rows.map(({ failures, seconds, ...row }) => {
      return { ...row, seconds: Math.round(seconds), failures: failures.length };
    }),
  );
});

interface Job {
  readonly row: Row;
  readonly run: Case['run'];
  /** How often its browser died. */
  deaths: number;
}

/** WebKit cannot be killed without loss of all it stores, nor be taken offline. */
const isPossible = ({ engines, isAlone }: Case, engine: Engine): boolean =>
  (!engines || engines.includes(engine)) && !(isAlone && engine === 'webkit');

/**
 * Every case with each of its promises as often as is asked, round after round. Other timings of a
 * case take turns: each round has one of them.
 */
function jobsOf(engine: Engine, cases: readonly Case[]): Job[] {
  const rounds = Number(process.env['REPEATS'] ?? REPEATS[engine]);
  const jobs = cases.map((each) => ({ each, runs: runsOf(engine, each) }));
  const always = jobs.filter(({ each }) => !each.isVariant);
  const inTurn = jobs.filter(({ each }) => each.isVariant);
  return Array.from({ length: rounds }, (_, round) => {
    const variant = inTurn[(FIRST + round) % inTurn.length];
    return [...always, ...(variant ? [variant] : [])].flatMap(({ runs }) => runs);
  }).flat();
}

function runsOf(engine: Engine, { name, run, deliveries = DEFAULT }: Case): Job[] {
  return deliveries.map((delivery) => {
    const counts = { runs: 0, sent: 0, delivered: 0, duplicates: 0, seconds: 0 };
    const row: Row = { engine, name, delivery, ...counts, failures: [] };
    rows.push(row);
    return { row, run, deaths: 0 };
  });
}

/** Runs jobs side by side, in browsers of their own. */
async function runAll(jobs: Job[], engine: Engine, lanes: number): Promise<void> {
  const count = Math.min(lanes, BROWSERS[engine]);
  const open = () => (engine === 'webkit' ? openWebkit() : openProfile(engine));
  const browsers = await Promise.all(Array.from({ length: count }, open));
  const work = async (browser: Browser) => {
    for (let job = jobs.shift(); job; job = jobs.shift()) {
      if (!(await runOnce(job, browser))) {
        jobs.unshift(job);
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: lanes }, (_, lane) => work(browsers[lane % count]!)));
  } finally {
    await Promise.all(browsers.map((browser) => browser.close()));
  }
}

const tooLong = () =>
  new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error('Not over within 4 minutes')), 240_000).unref();
  });

/** False: the browser died, and the run says nothing. */
async function runOnce(job: Job, browser: Browser): Promise<boolean> {
  const { row, run } = job;
  const count = ({ sent, delivered, duplicates }: Figures) => {
    row.sent += sent;
    row.delivered += delivered;
    row.duplicates += duplicates;
  };
  const start = performance.now();
  const world = await createWorld(browser, row.delivery, count);
  try {
    await Promise.race([run(world), tooLong()]);
  } catch (error) {
    // What a case found out counts, whatever became of its browser.
    const isFinding = error instanceof Error && error.name === 'AssertionError';
    if (!isFinding && job.deaths < 2 && (await isRevived(browser))) {
      job.deaths++;
      console.log(`[${row.engine}] the browser died: ${row.name} runs again`);
      await world.close();
      return false;
    }
    row.failures.push(String(error));
    console.log(`[${row.engine}, ${row.delivery}] ${row.name}: ${String(error)}`);
  }
  row.runs++;
  row.seconds += (performance.now() - start) / 1000;
  if (FIGURES) {
    writeFileSync(FIGURES, JSON.stringify(rows));
  }
  await world.close();
  return true;
}

/** What brings a browser back that several lanes share. */
const revivals = new Map<Browser, Promise<boolean>>();

/** Opens a browser again that opens no pages any more; false where it is well. */
async function isRevived(browser: Browser): Promise<boolean> {
  const revival = revivals.get(browser) ?? revive(browser);
  revivals.set(browser, revival);
  const isNew = await revival;
  setTimeout(() => revivals.delete(browser), 5_000).unref(); // other lanes notice a little later
  return isNew;
}

async function revive(browser: Browser): Promise<boolean> {
  const late = new Promise<never>((_, reject) => setTimeout(reject, 30_000).unref());
  try {
    await Promise.race([browser.newTab().then((page) => page.close()), late]);
    return false;
  } catch {
    return browser.killAndReopen().then(
      () => true,
      () => false,
    );
  }
}
