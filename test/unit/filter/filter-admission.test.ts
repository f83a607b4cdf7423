import { expect, test } from 'vitest';
import { FilterAdmission } from '../../../mail/filter/filter-admission.ts';
import { from } from '../../support/filter-input.ts';

/** Counts the messages of this size that the thread admits at once. */
async function combined(size: number, headerLength: number): Promise<number> {
  const admission = new FilterAdmission(false);
  let inside = 0;
  for (let n = 0; n < 1_000; n++) {
    const mail = { ...from('x@remote.example', size), headerLength };
    // Those that stand in line are never let in, and wait no longer than the test.
    void admission.acquire({ kind: 'filter', mail }).then(
      () => inside++,
      () => undefined,
    );
  }
  await new Promise((resolve) => setImmediate(resolve));
  return inside;
}

test.each([
  ['small ones', 4_000, 1_000, 768],
  ['those of 62 KB: text with links takes six times its octets while name servers are asked', 62_000, 2_000, 400],
  ['those that are all header: short fields take seventeen times theirs', 62_000, 62_000, 140],
  ['large ones', 2_000_000, 1_000, 8],
])('%s: so many fit into the memory of the thread', async (_name, size, headerLength, most) => {
  const inside = await combined(size, headerLength);
  expect(inside).toBeGreaterThan(most * 0.8);
  expect(inside).toBeLessThanOrEqual(most);
});
