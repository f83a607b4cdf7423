import { defineConfig } from 'vitest/config';

/** Tests against other people's programs, which have to be installed: python3-dkim, opendkim-tools. */
export default defineConfig({
  test: {
    include: ['test/peers/**/*.test.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
