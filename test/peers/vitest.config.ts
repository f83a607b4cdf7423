import { defineConfig } from 'vitest/config';

/** Tests against other people's programs, which have to be installed: tools.ts says which are missing. */
export default defineConfig({
  test: {
    include: ['test/peers/**/*.test.ts'],
    globalSetup: ['test/peers/tools.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // Vitest's second is too short for what waits for a thread, a socket or a disk beside others.
    expect: { poll: { timeout: 15_000 } },
  },
});
