import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^postreel$/, replacement: source('index.ts') },
      { find: /^postreel\/(.+)$/, replacement: source('$1/index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/types/consumer/**'],
    testTimeout: 30_000,
    // Real sockets and browsers on a busy machine: the gate asks again before it says no.
    retry: process.env['CI'] ? 2 : 0,
    hookTimeout: 60_000,
    reporters: ['default', './test/support/tally-reporter.ts'],
    typecheck: {
      enabled: true,
      include: ['test/types/*.test-d.ts'],
      tsconfig: 'tsconfig.json',
    },
    coverage: {
      include: ['src/{async,transport,pagination,polling,errors}/**/*.ts'],
      reporter: ['text', 'json-summary'],
      thresholds: { lines: 100, branches: 95 },
    },
  },
});
