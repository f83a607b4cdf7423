import { expect, test } from 'vitest';
import { runModel } from '../support/jmap-model.ts';

// The long run is test/fuzz/jmap-model.test.ts.
test('JMAP clients of any age come to the present by /changes', { timeout: 120_000 }, async () => {
  const seen = await runModel(17, 1_000);
  expect(seen.changes).toBeGreaterThan(100);
  expect(seen.parts).toBeGreaterThan(10);
});
