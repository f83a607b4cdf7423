import { defineConfig } from 'vitest/config';

/** Fault injection: crashes, full and failing disks. Needs root and Debian's strace. */
export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    pool: 'forks',
    // Most wait for starts and flushes, one of them for minutes.
    maxWorkers: 3,
    testTimeout: 900_000,
    hookTimeout: 200_000,
    // Vitest's second is too short for what waits for a thread, a socket or a disk beside others.
    expect: { poll: { timeout: 60_000 } },
  },
});
