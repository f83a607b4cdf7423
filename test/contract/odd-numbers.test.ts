import { afterEach, beforeEach, expect, test } from 'vitest';
import { query } from '../../mail/store/engine/types.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { type TestStore, testAccount, testStore } from '../support/store.ts';

const above = query(
  'test-above',
  async (rx, id: number) => (await rx.all('SELECT id FROM account WHERE id > ?', id)).length,
);
const below = query(
  'test-below',
  async (rx, id: number) => (await rx.all('SELECT id FROM account WHERE id < ?', id)).length,
);

let box: TestStore;

beforeEach(async () => {
  const parts = mailParts();
  box = await testStore({ ...parts, queries: [...parts.queries, above, below] });
  await testAccount(box.store);
});

afterEach(() => box[Symbol.asyncDispose]());

test.each([
  ['64 bits', 2 ** 63],
  ['an exponent', 1e21],
  ['no end', Infinity],
])('a number of %s is above every row, and its negative is below', async (_, number) => {
  expect(await box.store.read(above, number)).toBe(0);
  expect(await box.store.read(below, number)).toBe(1);
  expect(await box.store.read(above, -number)).toBe(1);
  expect(await box.store.read(below, -number)).toBe(0);
});

test('what is no number is neither above nor below a row', async () => {
  expect(await box.store.read(above, NaN)).toBe(0);
  expect(await box.store.read(below, NaN)).toBe(0);
});
