import { afterAll, beforeAll, describe, it } from 'vitest';
import { type Browser, type Engine, openProfile } from './browser.js';
import { type Case, DEFAULT } from './cases/case.js';
import { CASES } from './cases/index.js';
import { openWebkit } from './webkit.js';
import { type Figures, createWorld } from './world.js';

const print = (figures: Figures, name: string) => console.log(name, JSON.stringify(figures));

/**
 * Runs a few cases in an engine that may be missing; `npm run browsers` runs the rest.
 *
 * @param problem - why the engine cannot be driven on this machine
 */
export function describeSome(engine: Engine, problem: string | undefined, names: string[]): void {
  if (problem) {
    console.log(`[${engine}] skipped: ${problem}`);
  }
  describe.skipIf(problem)(`in ${engine}`, () => {
    describeCases(engine, names.map(caseNamed));
  });
}

// A renamed case must fail here, not be skipped silently.
function caseNamed(wanted: string): Case {
  const found = CASES.find(({ name }) => name === wanted);
  if (!found) {
    throw new Error(`No case is named "${wanted}"`);
  }
  return found;
}

/**
 * Runs each case once, on a separate site: in parallel in one browser, unless a case is exclusive.
 * WebKit has one page.
 */
export function describeCases(engine: Engine, cases: readonly Case[]): void {
  let browser: Browser;
  beforeAll(async () => {
    browser = await (engine === 'webkit' ? openWebkit() : openProfile(engine));
  }, 180_000);
  afterAll(() => browser.close(), 60_000);

  for (const { name, run, deliveries = DEFAULT, isExclusive } of cases) {
    const options = { timeout: 240_000, concurrent: !isExclusive && engine !== 'webkit' };
    for (const delivery of deliveries) {
      it(`${name} (${delivery})`, options, async () => {
        const world = await createWorld(browser, delivery, print);
        try {
          await run(world);
        } finally {
          await world.close();
        }
      });
    }
  }
}
