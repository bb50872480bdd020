import { defineConfig } from 'vitest/config';
import { resolve } from '../vitest.config.js';

// Benches that need fake timers run in vitest; they print figures and test nothing.
export default defineConfig({
  resolve,
  test: { include: ['bench/**/*.run.ts'], testTimeout: 3_600_000, disableConsoleIntercept: true },
});
