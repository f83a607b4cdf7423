import { defineConfig } from 'vitest/config';

/** Tests that run in a network namespace of their own: test/browser/toy-internet.test.ts starts them. */
export default defineConfig({
  test: {
    include: ['test/internet/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 800_000,
    hookTimeout: 200_000,
    expect: { poll: { timeout: 400_000 } },
  },
});
