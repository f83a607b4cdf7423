import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/**
 * Ends a run with each test that failed, `failed: FILE > NAME: WHY`, and the plain line `N passed, N failed`, which
 * scripts read whatever the other reporters print.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandled: ReadonlyArray<SerializedError>): void {
    const count = { passed: 0, failed: 0, skipped: 0 };
    const failures: string[] = [];
    for (const module of modules) {
      const before = count.failed;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'pending') continue;
        count[state] += 1;
        const why = test.result().errors?.[0]?.message;
        if (state === 'failed') failures.push(`failed: ${module.relativeModuleId} > ${test.fullName}${inShort(why)}`);
      }
      // A file that does not load has no tests; it must not look like success.
      if (module.state() === 'failed' && count.failed === before) {
        count.failed += 1;
        failures.push(`failed: ${module.relativeModuleId}${inShort(module.errors()[0]?.message)}`);
      }
    }
    // No test waited for these, such as the end of a thread: Vitest ends with 1 for them.
    for (const { message, VITEST_TEST_PATH: path = 'outside of any file' } of unhandled)
      failures.push(`failed: ${relative('.', String(path))}, outside of any test${inShort(message)}`);
    count.failed += unhandled.length;
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : '';
    const lines = [...failures, `${count.passed} passed, ${count.failed} failed${skipped}`];
    process.on('exit', () => process.stdout.write(`${lines.join('\n')}\n`));
  }
}

/** First line of the reason, to distinguish it from others. */
function inShort(message = ''): string {
  const [first = ''] = stripVTControlCharacters(message).split('\n');
  return first === '' ? '' : `: ${first.slice(0, 200)}`;
}
