import { expect, test } from 'vitest';
import { memoryShares } from '../../../src/start/memory-shares.ts';

test.each([
  [256, 1],
  [512, 1],
  [1024, 2],
  [2048, 4],
  [16_384, 4],
])('with %d MB, %d imports run at once', (memoryMb, imports) => {
  expect(memoryShares(memoryMb).imports).toBe(imports);
});
