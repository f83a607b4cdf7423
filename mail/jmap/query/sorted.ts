import { type Facts, readRows } from './facts.ts';
import { keywordHeld, keywordInThread } from './keyword-test.ts';
import type { Scene } from './scene.ts';
import type { Comparator, Order } from './sort.ts';

type Key = (facts: Facts) => number | string;

/** Emails in the order asked. What is equal by all comparators is in the order of ids, in the direction of the last. */
export async function sorted(scene: Scene, order: Order, all: readonly Facts[]): Promise<Facts[]> {
  const keys: { of: Key; sign: number }[] = [];
  for (const one of order) keys.push({ of: await keyOf(scene, one, all), sign: one.ascending ? 1 : -1 });
  const lastSign = keys.at(-1)?.sign ?? 1;
  const rows = all.map((facts) => ({ facts, values: keys.map(({ of }) => of(facts)) }));
  rows.sort((a, b) => {
    for (const [i, { sign }] of keys.entries()) {
      const difference = compare(a.values[i] ?? 0, b.values[i] ?? 0);
      if (difference !== 0) return sign * difference;
    }
    return lastSign * (a.facts.id - b.facts.id);
  });
  return rows.map(({ facts }) => facts);
}

function compare(a: number | string, b: number | string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

async function keyOf(scene: Scene, comparator: Comparator, all: readonly Facts[]): Promise<Key> {
  switch (comparator.by) {
    case 'receivedAt':
      return ({ receivedAt }) => receivedAt;
    case 'hasKeyword':
      return flag(await keywordHeld(scene, comparator.keyword, all));
    case 'allInThreadHaveKeyword':
      return flag(await keywordInThread(scene, 'all', comparator.keyword, all));
    case 'someInThreadHaveKeyword':
      return flag(await keywordInThread(scene, 'some', comparator.keyword, all));
    case 'from':
    case 'sentAt':
    case 'size':
    case 'subject':
    case 'to': {
      await readRows(scene.rx, all);
      const { by } = comparator;
      return ({ row }) => row?.[by] ?? '';
    }
  }
}

/** RFC 8621 4.4.2: false comes first. */
const flag =
  (holds: (facts: Facts) => boolean): Key =>
  (facts) =>
    Number(holds(facts));
