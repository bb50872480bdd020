import { describe } from 'vitest';
import { CASES } from '../../support/tracker/cases/index.js';
import { describeCases } from '../../support/tracker/run-cases.js';

describe('in Chromium', () => {
  describeCases('chromium', CASES);
});
