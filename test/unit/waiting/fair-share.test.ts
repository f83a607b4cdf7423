import { describe, expect, test } from 'vitest';
import { FairShare } from '../../../src/waiting/fair-share.ts';

/** Places that are taken in this order, each named by its owner and its turn. */
function taken(...owners: number[]): FairShare<string> {
  const shares = new FairShare<string>();
  for (const [turn, owner] of owners.entries()) shares.add(owner, `${owner}.${turn}`);
  return shares;
}

describe('a fair share', () => {
  test.each([
    ['nobody holds any', [], 1, undefined],
    ['who asks holds them all', [1, 1, 1], 1, undefined],
    ['the most are two more', [1, 1], 2, '1.0'],
    ['the most are one more', [1, 1, 2], 2, undefined],
    ['all hold as many', [1, 2, 3], 4, undefined],
    ['the oldest of the most goes, not the oldest', [2, 1, 1, 1], 2, '1.1'],
    ['one of two that have as many', [1, 2, 1, 2], 3, '1.0'],
  ])('where %s', (_what, owners, newcomer, leaves) => {
    expect(taken(...owners).oldestOfLargest(newcomer)).toBe(leaves);
  });

  test.each([
    ['two of one that holds four', [1, 1, 1, 1], 2, true],
    ['two of one that holds three', [1, 1, 1], 2, false],
    ['two, one each of two that hold three', [1, 1, 1, 3, 3, 3], 2, true],
    ['two for one that holds another', [1, 1, 1, 1, 2], 2, false],
    ['three of who asks', [2, 2, 2, 2], 3, false],
  ])('can be given up, %s', (_what, owners, count, can) => {
    expect(taken(...owners).canYield(2, count, count)).toBe(can);
  });

  test('are left once', () => {
    const shares = taken(1, 1);
    expect([shares.remove(1, '1.0'), shares.remove(1, '1.0'), shares.remove(2, '1.1'), shares.count]).toEqual([
      true,
      false,
      false,
      1,
    ]);
  });

  test('know who has the most after whatever comes and goes', () => {
    const shares = new FairShare<number>();
    const model = new Map<number, number[]>();
    let seed = 7;
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let turn = 0; turn < 5_000; turn++) {
      const owner = random(6);
      const own = model.get(owner) ?? [];
      model.set(owner, own);
      // By turns they become more and fewer, down to none at all.
      if (random(1_000) < (turn % 1_000 < 500 ? 600 : 300)) {
        own.push(turn);
        shares.add(owner, turn);
      } else if (own.length > 0) {
        const [gone = -1] = own.splice(random(own.length), 1);
        expect(shares.remove(owner, gone)).toBe(true);
      }
      const newcomer = random(6);
      const most = Math.max(...[...model.values()].map(({ length }) => length));
      const found = shares.oldestOfLargest(newcomer);
      const holder = [...model].find(([, held]) => found !== undefined && held[0] === found)?.[0];
      expect(found !== undefined, `turn ${turn}`).toBe(most >= (model.get(newcomer)?.length ?? 0) + 2);
      if (found !== undefined) expect(model.get(holder ?? -1)?.length).toBe(most);
    }
    expect(shares.count).toBe([...model.values()].flat().length);
  });
});
