import { defineConfig } from 'vitest/config';
import { NATIVE } from '../suites.ts';

/** Long runs of nonsense: `npm run test:fuzz`. The seed is printed; FUZZ_SEED repeats a run, FUZZ_FULL=1
 * makes it five times as long, FUZZ_LINES sets its length; the JMAP model has MODEL_SEED and MODEL_STEPS, its calls of
 * nonsense FUZZ_CALLS. */
export default defineConfig({
  test: {
    include: ['test/fuzz/**/*.test.ts'],
    reporters: ['default', './test/support/closing-line.ts'],
    pool: 'forks',
    experimental: NATIVE,
    maxWorkers: 1,
    testTimeout: 300_000,
    // Vitest's second is too short for what waits for a thread, a socket or a disk beside others.
    expect: { poll: { timeout: 60_000 } },
  },
});
