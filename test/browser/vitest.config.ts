import { defineConfig } from 'vitest/config';

/** Tests in a real browser, Debian's Chromium. */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
