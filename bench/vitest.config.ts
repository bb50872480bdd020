import { defineConfig } from 'vitest/config';
import { resolve } from '../vitest.config.js';

// Benches that need fake timers run in vitest; they print figures and test nothing.
// `npm run browsers -- exits` is a series of its own.
const other = process.argv.includes('exits') ? 'repeats' : 'exits';
export default defineConfig({
  resolve,
  test: {
    include: ['bench/**/*.run.ts'],
    exclude: [`bench/browsers/${other}.run.ts`],
    testTimeout: 3_600_000,
    disableConsoleIntercept: true,
  },
});
