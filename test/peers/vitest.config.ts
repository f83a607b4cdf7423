import { defineConfig } from 'vitest/config';

/** Tests against other people's programs, which have to be installed: tools.ts says which are missing. */
export default defineConfig({
  test: {
    include: ['test/peers/**/*.test.ts'],
    globalSetup: ['test/peers/tools.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Limits for what hangs, not for what is slow: in CI a browser suite runs beside this one on two cores. A foreign program is
    // killed first (run.ts), and says what it had written.
    testTimeout: 400_000,
    hookTimeout: 200_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
