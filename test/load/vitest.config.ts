import { defineConfig } from 'vitest/config';
import { NATIVE } from '../suites.ts';

/** Floods from many addresses of loopback, with what they may cost others: `npm run test:load`. */
export default defineConfig({
  test: {
    include: ['test/load/**/*.test.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    pool: 'forks',
    experimental: NATIVE,
    // One at a time: latency and memory are measured, and each keeps both cores busy by itself.
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 200_000,
    // Vitest's second is too short for what waits for a thread, a socket or a disk beside others.
    expect: { poll: { timeout: 60_000 } },
  },
});
