import { defineConfig } from 'vitest/config';

/** Tests in a real browser, Debian's Chromium. */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    setupFiles: ['test/browser/no-violations.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 240_000,
    hookTimeout: 200_000,
    // Vitest's second is too short for what waits for a thread, a socket or a disk beside others.
    expect: { poll: { timeout: 60_000 } },
  },
});
