import { defineConfig, mergeConfig } from 'vitest/config';
import base from './vitest.config.js';

// Mutation testing asks each test thousands of times: what runs on the built package cannot see
// a mutant, and the chaos test says nothing that the short ones do not.
export default mergeConfig(
  base,
  defineConfig({
    test: {
      exclude: ['test/transport/{chaos,send/process}.test.ts'],
      typecheck: { enabled: false },
      retry: 0,
    },
  }),
);
