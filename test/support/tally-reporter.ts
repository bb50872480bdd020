import type { Reporter, TestModule } from 'vitest/node';

/** Ends a run with one plain line that any gate can read. */
export default class TallyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        count[test.result().state]++;
      }
      if (module.state() === 'failed' && module.children.size === 0) {
        count.failed++;
      }
    }
    console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
  }
}
