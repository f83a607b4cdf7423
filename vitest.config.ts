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
    // Vitest's second is too short for what waits for a thread, a socket or a disk beside others.
    expect: { poll: { timeout: 15_000 } },
  },
});
