import { describe } from 'vitest';
import { firefoxProblem } from '../../support/tracker/browser.js';
import { CASES } from '../../support/tracker/cases/index.js';
import { describeCases } from '../../support/tracker/run-cases.js';

/** The rest runs with `npm run browsers`. */
const NAMES = [
  'delivers 15 events that are followed by a navigation',
  'delivers the events of 5 tabs',
  'delivers what was left, and nothing again, after the browser was killed',
];

const problem = firefoxProblem();
if (problem) {
  console.log(`[firefox] skipped: ${problem}`);
}
describe.skipIf(problem)('in Firefox', () => {
  describeCases(
    'firefox',
    CASES.filter(({ name }) => NAMES.includes(name)),
  );
});
