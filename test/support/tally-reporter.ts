import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** The project whose tests may be tried again. */
const patient = 'sockets';

/**
 * Ends a run with one plain line that any gate can read, after a line for each test that passed
 * only when it was tried again. Outside of the sockets project such a test fails the run.
 */
export default class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const flaky = tests.filter((test) => test.diagnostic()?.flaky === true);
    const forbidden = flaky.filter((test) => test.project.name !== patient);
    for (const test of flaky) {
      console.log(`flaky: ${nameOf(test)}, passed at try ${1 + test.diagnostic()!.retryCount}`);
    }
    if (forbidden.length > 0) {
      console.log(`${forbidden.length} flaky outside of the ${patient} project: none is allowed`);
      process.exitCode = 1;
    }
    console.log(tally(modules, tests, flaky.length));
  }
}

function tally(modules: readonly TestModule[], tests: readonly TestCase[], flaky: number): string {
  const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
  for (const test of tests) {
    count[test.result().state]++;
  }
  const broken = modules.filter(
    (module) => module.state() === 'failed' && module.children.size === 0,
  );
  const failed = count.failed + broken.length;
  const end = flaky > 0 ? `, ${flaky} flaky` : '';
  return `${count.passed} passed, ${failed} failed, ${count.skipped} skipped${end}`;
}

function nameOf(test: TestCase): string {
  return `${test.module.relativeModuleId} > ${test.fullName}`;
}
