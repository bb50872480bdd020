import { describe } from 'vitest';
import { CASES } from '../../support/tracker/cases/index.js';
import { describeCases } from '../../support/tracker/run-cases.js';

// What needs a browser for itself alone.
describe('in a Chromium that is killed', () => {
  describeCases(
    'chromium',
    CASES.filter(({ isAlone, isVariant }) => isAlone && !isVariant),
  );
});
