import { defineConfig } from 'vitest/config';

/** The MCP door against the protocol's own suites and its inspector: `npm run test:conformance`. */
export default defineConfig({
  test: {
    include: ['test/conformance/**/*.test.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 180_000,
    hookTimeout: 60_000,
  },
});
