import { expect, test } from 'vitest';
import { growthBeyond, worstInputs } from '../../support/costs/ratio.ts';
import { costName, COSTS } from '../../support/costs/index.ts';

// COST_FULL=1 measures every input at both sizes, which takes an hour.
test.each(COSTS.map((row) => [costName(row), row] as const))(
  '%s: 16 times the input takes at most 20 times the work',
  { timeout: 600_000 },
  async (_name, row) => {
    for (const input of await worstInputs(row)) expect(await growthBeyond(row, input)).toBeUndefined();
  },
);
