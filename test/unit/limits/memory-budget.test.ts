import { expect, test } from 'vitest';
import { MemoryBudget } from '../../../mail/limits/memory-budget.ts';
import * as fc from '../../support/fast-check.ts';

test('one holder gets half, two a third each, and a newcomer is admitted', () => {
  const budget = new MemoryBudget(600);
  const grow = (holder: string): number => {
    const reservation = budget.open([holder]);
    while (reservation.tryGrow(1));
    return reservation.octets;
  };
  expect(grow('a')).toBe(300);
  expect(grow('b')).toBe(150);
  expect(grow('c')).toBe(75);
  expect(budget.open(['a']).tryGrow(1)).toBe(false);
});

test('an address is a holder as well as the tenants behind it', () => {
  const budget = new MemoryBudget(100);
  expect(budget.open(['tenant 1', 'ip']).tryGrow(40)).toBe(true);
  expect(budget.open(['tenant 2', 'ip']).tryGrow(30)).toBe(false);
  expect(budget.open(['tenant 2', 'other']).tryGrow(30)).toBe(true);
});

test('work that goes on after its reservation was disposed of holds nothing', () => {
  const budget = new MemoryBudget(100);
  const reservation = budget.open(['a']);
  expect(reservation.tryGrow(10)).toBe(true);
  reservation[Symbol.dispose]();
  expect([reservation.tryGrow(10), reservation.tryResize(20), reservation.tryResize(0)]).toEqual([false, false, true]);
  expect([budget.held, budget.heldBy('a'), reservation.octets]).toEqual([0, 0, 0]);
});

test('whatever is reserved, resized and disposed of: never more than the budget, and nothing is left', () => {
  const step = fc.record({ holder: fc.nat(3), octets: fc.nat(60), how: fc.constantFrom('grow', 'resize', 'dispose') });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const budget = new MemoryBudget(100);
      const all = [0, 1, 2, 3].map((holder) => budget.open([holder, 'all']));
      for (const { holder, octets, how } of steps) {
        const one = all[holder]!;
        const before = one.octets;
        if (how === 'dispose') one[Symbol.dispose]();
        else if (!(how === 'grow' ? one.tryGrow(octets) : one.tryResize(octets))) expect(one.octets).toBe(before);
        expect(budget.held).toBe(all.reduce((sum, { octets: held }) => sum + held, 0));
        expect(budget.held).toBeLessThanOrEqual(100);
      }
      for (const one of all) one[Symbol.dispose]();
      expect([budget.held, budget.heldBy('all'), budget.heldBy(0)]).toEqual([0, 0, 0]);
    }),
    { numRuns: 500, seed: 1 },
  );
});
