import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { describe, it } from 'vitest';
import {
  type Browser,
  type Engine,
  openProfile,
  until,
} from '../../test/support/tracker/browser.js';
import { openWebkit } from '../../test/support/tracker/webkit.js';
import { createWorld } from '../../test/support/tracker/world.js';

// `npm run browsers -- phones`: 15 events of one contact, a service that answers after 300 ms, and
// a page that is hidden at once, as on a phone. After 2.5 s the page continues, is frozen, or its
// process is killed.

const RUNS = Number(process.env['RUNS'] ?? 5);
const ENGINES = (process.env['ENGINES'] ?? 'chromium,firefox,webkit').split(',') as Engine[];
const EVENTS = 15;
const HIDDEN_MS = 2500;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The page processes of a browser that this program has started. */
function pageProcesses(): number[] {
  const names = /--type=renderer|-contentproc.* tab$|WebKitWebProcess/;
  return descendantsOf(process.pid).filter((id) => {
    try {
      return names.test(readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ').trim());
    } catch {
      return false;
    }
  });
}

function descendantsOf(root: number): number[] {
  const parents = new Map<number, number>();
  for (const id of readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)) {
    try {
      parents.set(id, Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${id}/stat`, 'utf8'))?.[1]));
    } catch {
      // The process has already ended.
    }
  }
  const isBelow = (id: number | undefined): boolean =>
    id !== undefined && (id === root || isBelow(parents.get(id)));
  return [...parents.keys()].filter((id) => id !== root && isBelow(id));
}

const hide = (): void => {
  Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
  Object.defineProperty(document, 'hidden', { value: true, configurable: true });
  document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
};

describe.each(ENGINES)('phones in %s', (engine) => {
  // The drivers of Firefox and WebKit end together with the process of their page.
  const endings = ['hidden', 'frozen', ...(engine === 'chromium' ? ['killed'] : [])];
  it.each(endings)(
    '%s',
    async (what) => {
      const sum = { sent: 0, atOnce: 0, delivered: 0, repeated: 0, unconfirmed: 0, lost: 0 };
      for (let run = 0; run < RUNS; run++) {
        // In some engines, a killed page ends its browser: each run starts a new one.
        const browser: Browser = await (engine === 'webkit' ? openWebkit() : openProfile(engine));
        const world = await createWorld(browser, 'no-duplicates');
        world.service.reply = async ({ event }) => {
          await sleep(event === 'marker' ? 0 : 300);
          return { status: 200 };
        };
        const numbers = () =>
          world.service.accepted.flatMap(({ data }) => (typeof data?.n === 'number' ? data.n : []));
        const page = await world.open();
        await page.evaluate(hide);
        await page.evaluate(() => trackMany(0, 15));
        await sleep(HIDDEN_MS);
        // The engine decides which process has the page, and keeps spare processes: stop all of
        // them.
        const all = pageProcesses();
        if (what !== 'hidden') {
          all.forEach((id) =>
            execFileSync('kill', [what === 'frozen' ? '-STOP' : '-KILL', `${id}`]),
          );
        }
        await sleep(5000);
        const atOnce = new Set(numbers()).size;
        if (what === 'frozen') {
          // The page is shown again.
          all.forEach((id) => execFileSync('kill', ['-CONT', `${id}`]));
        }
        const next = await world.open();
        await world.settled(next);
        await until(() => numbers().length >= EVENTS, 4000).catch(() => undefined);
        const reported = await next.evaluate(() =>
          notices.flatMap(({ name, data }) =>
            name === 'unconfirmed' ? (data as { n: number }).n : [],
          ),
        );
        const arrived = new Set(numbers());
        const missing = Array.from({ length: EVENTS }, (_, n) => n).filter((n) => !arrived.has(n));
        sum.sent += EVENTS;
        sum.atOnce += atOnce;
        sum.delivered += arrived.size;
        sum.repeated += numbers().length - arrived.size;
        sum.unconfirmed += missing.filter((n) => reported.includes(n)).length;
        sum.lost += missing.filter((n) => !reported.includes(n)).length;
        await world.close().catch(() => undefined);
        await browser.close().catch(() => undefined);
      }
      console.log(engine, what, JSON.stringify(sum));
    },
    1_200_000,
  );
});
