import { afterAll, vi } from 'vitest';

// The test files of a worker share its process. Each loads a fresh copy of the package, and leaves no clock,
// no globals and no used rate limit to the next.
vi.resetModules();

afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  projectsOfProcess()?.ofProcess.clear();
});

// By its symbol: `core/secrecy.test.ts` fails where that has another name.
function projectsOfProcess(): { ofProcess: Map<string, unknown> } | undefined {
  return Reflect.get(globalThis, Symbol.for('postreel.projects.1')) as ReturnType<
    typeof projectsOfProcess
  >;
}
