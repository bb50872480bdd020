import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Benches that need fake timers run in vitest; they print figures and make no assertions.
const src = fileURLToPath(new URL('../src', import.meta.url));
export default defineConfig({
  resolve: {
    alias: [
      { find: /^postreel$/, replacement: `${src}/index.ts` },
      { find: /^postreel\/(.*)$/, replacement: `${src}/$1/index.ts` },
    ],
  },
  test: {
    include: ['bench/**/*.run.ts'],
    testTimeout: 3_600_000,
    disableConsoleIntercept: true,
  },
});
