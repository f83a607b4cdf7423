import { afterEach, beforeEach, expect, test } from 'vitest';
import { mailParts } from '../../mail/parts.ts';
import { announce, dueArrivals, endArrival, nextArrival, noteArrival } from '../../mail/store/arrival.ts';
import { command } from '../../mail/store/engine/types.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

const arrive = command('test-arrive', async (tx, input: { account: number; emails: readonly number[] }, stamp) => {
  await announce(tx, input.account, true);
  for (const email of input.emails) await noteArrival(tx, input.account, email, stamp);
});
const later = command('test-later', (tx, input: { id: number; at: number }, stamp) =>
  endArrival(tx, { id: input.id, end: { kind: 'later', at: input.at } }, stamp),
);
const dead = command('test-dead', (tx, input: { id: number }, stamp) =>
  endArrival(tx, { id: input.id, end: { kind: 'dead' } }, stamp),
);

let box: TestStore;
let one: number;
let two: number;

beforeEach(async () => {
  const parts = mailParts();
  box = await testStore({ ...parts, commands: [...parts.commands, arrive, later, dead] });
  one = (await testAccount(box.store, 'one')).account;
  two = (await testAccount(box.store, 'two')).account;
});
afterEach(() => box[Symbol.asyncDispose]());

const due = (not: number[] = []) => box.store.read(dueArrivals, { now: box.clock.now, not, limit: 100 });

test('one of an account at a time, the oldest first, and not of those who are busy', async () => {
  await box.store.write(arrive, { account: one, emails: [11, 12, 13] });
  await box.store.write(arrive, { account: two, emails: [21, 22] });
  expect((await due()).map((row) => row.email)).toEqual([11, 21]);
  expect((await due([one])).map((row) => row.email)).toEqual([21]);
});

test('what waits behind a retry is not due, and wakes nobody', async () => {
  await box.store.write(arrive, { account: one, emails: [11, 12, 13] });
  const [head] = await due();
  const at = box.clock.now + 60_000;
  await box.store.write(later, { id: head?.id ?? 0, at });
  expect(await due()).toEqual([]);
  expect(await box.store.read(nextArrival, { not: [] })).toBe(at);
  expect(await box.store.read(nextArrival, { not: [one] })).toBeUndefined();
  box.clock.now = at;
  expect((await due()).map((row) => [row.email, row.attempts])).toEqual([[11, 1]]);
});

test('what was given up lets the next one through', async () => {
  await box.store.write(arrive, { account: one, emails: [11, 12] });
  const [head] = await due();
  await box.store.write(dead, { id: head?.id ?? 0 });
  expect((await due()).map((row) => row.email)).toEqual([12]);
});
