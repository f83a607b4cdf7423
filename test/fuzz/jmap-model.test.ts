import { expect, test } from 'vitest';
import { fuzzCount } from '../support/fuzz-count.ts';
import { runModel } from '../support/jmap-model.ts';

const STEPS = fuzzCount(20_000, process.env['MODEL_STEPS']);
const SEED = Number(process.env['MODEL_SEED'] ?? 1);
/** Then another account begins. */
const STEPS_A_SEED = 2_000;

const seeds = Array.from({ length: Math.ceil(STEPS / STEPS_A_SEED) }, (_, i) => SEED + i);

test.each(seeds)('JMAP clients of any age come to the present, seed %i', { timeout: 600_000 }, async (seed) => {
  const seen = await runModel(seed, Math.min(STEPS, STEPS_A_SEED));
  expect(seen.changes).toBeGreaterThan(100);
});
