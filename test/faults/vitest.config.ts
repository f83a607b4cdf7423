import { defineConfig } from 'vitest/config';

/** What happens when things break: crashes, full and failing disks. Needs root and Debian's strace. */
export default defineConfig({
  test: {
    include: ['test/faults/**/*.test.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    pool: 'forks',
    // One at a time: starts are measured, and some tests keep both cores busy by themselves.
    maxWorkers: 1,
    testTimeout: 900_000,
    hookTimeout: 60_000,
    // Vitest's second is too short for what waits for a thread, a socket or a disk beside others.
    expect: { poll: { timeout: 15_000 } },
  },
});
