import { afterAll, vi } from 'vitest';

// The files of tests that one worker runs share its process: each loads the package anew, and leaves
// no clock, no globals and no used rate limit to the next.
vi.resetModules();

afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  budgetsOfProcess()?.local.clear();
});

// By its symbol: `core/secrecy.test.ts` fails where that has another name.
function budgetsOfProcess(): { local: Map<string, unknown> } | undefined {
  return Reflect.get(globalThis, Symbol.for('postreel.budgets.2')) as ReturnType<
    typeof budgetsOfProcess
  >;
}
