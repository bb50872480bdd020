import { mergeConfig } from 'vitest/config';
import base from '../vitest.config.js';

// Benches that need fake timers run in vitest; they print figures and test nothing.
export default mergeConfig(
  { ...base, test: { ...base.test, include: [], typecheck: { enabled: false } } },
  {
    test: { include: ['bench/**/*.run.ts'], testTimeout: 3_600_000, disableConsoleIntercept: true },
  },
);
