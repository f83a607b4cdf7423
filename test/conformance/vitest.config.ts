import { defineConfig } from 'vitest/config';

/** The MCP endpoint against the protocol's own suites and its inspector: `npm run test:conformance`. */
export default defineConfig({
  test: {
    include: ['test/conformance/**/*.test.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 200_000,
    // Vitest's second is too short for what waits for a thread, a socket or a disk beside others.
    expect: { poll: { timeout: 60_000 } },
  },
});
