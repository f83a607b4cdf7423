import { defineConfig } from 'vitest/config';

/** Tests that need only this repository. Suites that need Debian's packages have configurations of their own. */
export default defineConfig({
  test: {
    include: ['test/{unit,dialogs,contract,journeys,attacks}/**/*.test.ts'],
    globalSetup: ['test/support/memory-disk.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
