import { defineConfig } from 'vitest/config';
import { resolve } from './vitest.config.js';

// Mutation testing asks each test thousands of times: what runs on the built package cannot see
// a mutant, and the chaos test says nothing that the short ones do not.
export default defineConfig({
  resolve,
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [
      'test/types/consumer/**',
      'test/transport/chaos.test.ts',
      'test/**/*.{process,processes}.test.ts',
    ],
    env: { MODEL_RUNS: '300' },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
