import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { noPostgres, postgresPath } from './stores/postgres-server.js';
import { noRedis, redisPath } from './stores/redis-server.js';

/** The projects whose tests may be tried again: they use real sockets. */
const patient: readonly string[] = ['sockets', 'node-fetch'];

/** The folders of tests that want a real Redis or Postgres. */
const stores = /^test\/(redis|postgres|pg-boss|bullmq|bench|examples)\//;

/**
 * Ends a run with one plain line that any gate can read, after a line for each test that passed
 * only when it was tried again, and one that says which stores the tests have found. Outside of the
 * projects with sockets such a test fails the run.
 */
export default class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const flaky = tests.filter((test) => test.diagnostic()?.flaky === true);
    const forbidden = flaky.filter((test) => !patient.includes(test.project.name));
    for (const test of flaky) {
      console.log(`flaky: ${nameOf(test)}, passed at try ${1 + test.diagnostic()!.retryCount}`);
    }
    if (forbidden.length > 0) {
      console.log(`${forbidden.length} flaky outside of ${patient.join(' and ')}: none is allowed`);
      process.exitCode = 1;
    }
    if (modules.some(({ relativeModuleId }) => stores.test(relativeModuleId))) {
      console.log(storesFound());
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
