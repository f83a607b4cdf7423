import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Refused } from '../../../src/operations/refusal.ts';
import { Cursors, type Place, placeAfter, wasTold } from '../../../src/waiting/cursor.ts';
import { seeded } from '../../support/imap-fuzz.ts';

const cursors = new Cursors(randomBytes(32));
const start: Place = { account: 7, done: 100, told: [] };

function refusalOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof Refused) return error.refusal.message;
  }
  throw new Error('it was not refused');
}

describe('a cursor', () => {
  test('comes back as it was written', () => {
    for (const place of [
      start,
      placeAfter(start, [105], 107),
      placeAfter(placeAfter(start, [103], 103), [110, 111], 111),
    ]) {
      const text = cursors.write(place);
      expect(cursors.read(text, 7, 200)).toEqual(place);
    }
  });

  test.each([
    [
      'one that was changed',
      (text: string) => text.replace('w7', 'w8'),
      7,
      200,
      /pass on the cursor of the last answer/,
    ],
    ['one that was cut', (text: string) => text.slice(0, -1), 7, 200, /no cursor of this server/],
    ['words', () => 'now', 7, 200, /no cursor of this server/],
    ['one of another mailbox', (text: string) => text, 8, 200, /another mailbox/],
    ['one ahead of the mailbox', (text: string) => text, 7, 104, /restored from a copy/],
  ])('refuses %s, and says what to do', (_name, change, account, newest, why) => {
    const text = change(cursors.write(placeAfter(start, [105], 105)));
    const said = refusalOf(() => cursors.read(text, account, newest));
    expect(said).toMatch(why);
    expect(said).toContain('leave since out');
  });

  test('of another key is none', () => {
    const other = new Cursors(randomBytes(32)).write(start);
    expect(refusalOf(() => cursors.read(other, 7, 200))).toContain('no cursor');
  });
});

describe('a place', () => {
  test('forgets nothing that was passed over within its window, and tells nothing twice', () => {
    const random = seeded(5);
    for (let round = 0; round < 50; round++) {
      let place: Place = start;
      const told = new Set<number>();
      let seen = 100;
      for (let step = 0; step < 60; step++) {
        seen += random(4);
        const open = Array.from({ length: seen - 100 }, (_, i) => 101 + i).filter((one) => !wasTold(place, one));
        const chosen = open.filter(() => random(3) === 0).slice(0, 3);
        for (const one of chosen) expect(told.has(one)).toBe(false);
        for (const one of chosen) told.add(one);
        place = cursors.read(cursors.write(placeAfter(place, chosen, seen)), 7, seen);
        for (const one of told) expect(wasTold(place, one)).toBe(true);
        expect(place.told.length).toBeLessThanOrEqual(24);
      }
    }
  });

  test('lets nothing go that nobody looked at', () => {
    const place = placeAfter(start, [105], 105);
    expect([101, 104, 105, 106].map((one) => wasTold(place, one))).toEqual([false, false, true, false]);
    expect(placeAfter(start, [101, 102], 102)).toEqual({ account: 7, done: 102, told: [] });
  });

  test('lets go what was passed over too long ago', () => {
    const place = placeAfter(start, [], 1000);
    expect([wasTold(place, 799), wasTold(place, 801)]).toEqual([true, false]);
  });

  test('stays short however often something is passed over', () => {
    let place = start;
    for (let one = 101; one < 300; one += 2) place = placeAfter(place, [one + 1], one + 1);
    expect(cursors.write(place).length).toBeLessThan(160);
    expect(wasTold(place, 298)).toBe(true);
    expect(wasTold(place, 297)).toBe(false);
  });
});
