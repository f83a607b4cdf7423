import type { Reporter, TestModule } from 'vitest/node';

/**
 * Ends a run with the name of each test that failed, `failed: FILE > NAME`, and the plain line `N passed, N failed`,
 * which scripts read whatever the other reporters print.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    const count = { passed: 0, failed: 0, skipped: 0 };
    const failures: string[] = [];
    for (const module of modules) {
      const before = count.failed;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'pending') continue;
        count[state] += 1;
        if (state === 'failed') failures.push(`failed: ${module.relativeModuleId} > ${test.fullName}`);
      }
      // A file that does not load has no tests; it must not look like success.
      if (module.state() === 'failed' && count.failed === before) {
        count.failed += 1;
        failures.push(`failed: ${module.relativeModuleId}`);
      }
    }
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
    const lines = [...failures, `${count.passed} passed, ${count.failed} failed${skipped}`];
    process.on('exit', () => process.stdout.write(`${lines.join('\n')}\n`));
  }
}
