import { expect, test } from 'vitest';
import { RequestSlots } from '../../../src/jmap/request-slots.ts';

const ANN = { credential: 'ann' };
const BOB = { credential: 'bob' };

test('a request waits for one of the same credential to end', async () => {
  const slots = new RequestSlots(1);
  const first = await slots.take(ANN);
  let second: Disposable | undefined;
  const waiting = slots.take(ANN).then((permit) => (second = permit));
  using _other = await slots.take(BOB);
  expect(second).toBeUndefined();
  first?.[Symbol.dispose]();
  await waiting;
  expect(second).toBeDefined();
  second?.[Symbol.dispose]();
});

test('it is refused when none ends in time, and when many wait already', async () => {
  const slots = new RequestSlots(1, 50);
  using _held = await slots.take(ANN);
  const waiting = Array.from({ length: 16 }, () => slots.take(ANN));
  let isOver = false;
  void waiting[0]?.then(() => (isOver = true));
  expect(await slots.take(ANN)).toBeUndefined();
  expect(isOver).toBe(false);
  expect(await Promise.all(waiting)).toEqual(Array.from({ length: 16 }, () => undefined));
});

test('a credential without requests is not stored', async () => {
  const slots = new RequestSlots(1, 10);
  const held = await slots.take(ANN);
  expect(await slots.take(ANN)).toBeUndefined();
  held?.[Symbol.dispose]();
  held?.[Symbol.dispose]();
  expect(slots.size).toBe(0);
});

test('a slot that is given back twice takes no limit away', async () => {
  const slots = new RequestSlots(1, 10);
  const first = await slots.take(ANN);
  first?.[Symbol.dispose]();
  using _second = await slots.take(ANN);
  first?.[Symbol.dispose]();
  expect(await slots.take(ANN)).toBeUndefined();
});
