import { expect, test } from 'vitest';
import { runModel } from '../support/jmap-model.ts';

// The long run is test/fuzz/jmap-model.test.ts.
test('JMAP clients with any old state get up to date by /changes', { timeout: 300_000 }, async () => {
  const seen = await runModel(17, 1_000);
  expect(seen.changes).toBeGreaterThan(100);
  expect(seen.parts).toBeGreaterThan(10);
});
