import {
  DefaultReporter,
  type SerializedError,
  type TestCase,
  type TestModule,
  type TestRunEndReason,
} from 'vitest/node';
import { noPostgres, postgresPath } from './stores/postgres-server.js';
import { noRedis, redisPath } from './stores/redis-server.js';

/** The folders of tests that want a real Redis or Postgres. */
const stores = /^test\/(redis|postgres|pg-boss|bullmq|bench|examples)\//;

/**
 * Reports the files with failures, a dot for each other file, and the totals of Vitest. Then it ends the run
 * with one plain line that any gate can read, after a line for each test that passed only when it was tried
 * again, and one that says which stores the tests have found.
 */
export default class TallyReporter extends DefaultReporter {
  override onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    console.log();
    super.onTestRunEnd(modules, errors, reason);
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    for (const test of tests.filter((each) => each.diagnostic()?.flaky === true)) {
      console.log(`flaky: ${nameOf(test)}, passed at try ${1 + test.diagnostic()!.retryCount}`);
    }
    if (modules.some(({ relativeModuleId }) => stores.test(relativeModuleId))) {
      console.log(storesFound());
    }
    console.log(tally(modules, tests));
  }

  protected override printTestModule(module: TestModule): void {
    if (module.state() === 'failed') {
      super.printTestModule(module);
    } else if (!this.isTTY) {
      process.stdout.write('.'); // a terminal has a live summary
    }
  }
}

function tally(modules: readonly TestModule[], tests: readonly TestCase[]): string {
  const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
  for (const test of tests) {
    count[test.result().state]++;
  }
  const broken = modules.filter(
    (module) => module.state() === 'failed' && module.children.size === 0,
  );
  const failed = count.failed + broken.length;
  return `${count.passed} passed, ${failed} failed, ${count.skipped} skipped`;
}

function storesFound(): string {
  const redis = noRedis === undefined ? `Redis at ${redisPath ?? ''}` : `no Redis (${noRedis})`;
  const postgres =
    noPostgres === undefined
      ? `PostgreSQL at ${postgresPath ?? ''}`
      : `PGlite from npm where one connection is enough (${noPostgres})`;
  return `tested with ${redis}, and ${postgres}`;
}

function nameOf(test: TestCase): string {
  return `${test.module.relativeModuleId} > ${test.fullName}`;
}
