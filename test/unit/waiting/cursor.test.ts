import { createHmac, randomBytes } from 'node:crypto';
import { array, assert, integer, nat, property, record } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RefusedError } from '../../../src/core/refusal.ts';
import { Cursors, advancePosition, wasReported, WINDOW } from '../../../src/waiting/cursor.ts';
import { seeded } from '../../support/imap-fuzz.ts';
import type { MailboxPosition } from '../../../src/core/mail-waits.ts';

const cursors = new Cursors(randomBytes(32));
const start: MailboxPosition = { account: 7, done: 100, reported: [] };

function refusalOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof RefusedError) return error.refusal.message;
  }
  throw new Error('it was not refused');
}

describe('a cursor', () => {
  test('comes back as it was written', () => {
    for (const place of [
      start,
      advancePosition(start, [105], 107),
      advancePosition(advancePosition(start, [103], 103), [110, 111], 111),
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
      /pass the cursor of the last result unchanged/,
    ],
    ['one that was cut', (text: string) => text.slice(0, -1), 7, 200, /not a cursor of this server/],
    ['words', () => 'now', 7, 200, /not a cursor of this server/],
    ['one of another mailbox', (text: string) => text, 8, 200, /another mailbox/],
    ['one ahead of the mailbox', (text: string) => text, 7, 104, /restored from a backup/],
  ])('refuses %s, and says what to do', (_name, change, account, newest, why) => {
    const text = change(cursors.write(advancePosition(start, [105], 105)));
    const said = refusalOf(() => cursors.read(text, account, newest));
    expect(said).toMatch(why);
    expect(said).toContain('omit since');
  });

  test('with another key is rejected', () => {
    const other = new Cursors(randomBytes(32)).write(start);
    expect(refusalOf(() => cursors.read(other, 7, 200))).toContain('not a cursor');
  });
});

describe('a position', () => {
  test('keeps skipped messages within its window, and reports nothing twice', () => {
    const random = seeded(5);
    for (let round = 0; round < 50; round++) {
      let place: MailboxPosition = start;
      const told = new Set<number>();
      let seen = 100;
      for (let step = 0; step < 60; step++) {
        seen += random(4);
        const open = Array.from({ length: seen - 100 }, (_, i) => 101 + i).filter((one) => !wasReported(place, one));
        const chosen = open.filter(() => random(3) === 0).slice(0, 3);
        for (const one of chosen) expect(told.has(one)).toBe(false);
        for (const one of chosen) told.add(one);
        place = cursors.read(cursors.write(advancePosition(place, chosen, seen)), 7, seen);
        for (const one of told) expect(wasReported(place, one)).toBe(true);
      }
    }
  });

  test('keeps messages that were not scanned', () => {
    const place = advancePosition(start, [105], 105);
    expect([101, 104, 105, 106].map((one) => wasReported(place, one))).toEqual([false, false, true, false]);
    expect(advancePosition(start, [101, 102], 102)).toEqual({ account: 7, done: 102, reported: [] });
  });

  test('drops skipped messages beyond the window', () => {
    const place = advancePosition(start, [], 1000);
    expect([wasReported(place, 799), wasReported(place, 801)]).toEqual([true, false]);
  });

  test('stays short with many skipped messages, and keeps all of them', () => {
    let place = start;
    for (let one = 101; one < 300; one += 2) place = advancePosition(place, [one + 1], one + 1);
    const text = cursors.write({ ...place, line: 2 ** 40 });
    expect(text.length).toBeLessThan(70);
    const back = cursors.position(text);
    for (let one = 101; one < 300; one++) expect(wasReported(back, one)).toBe(one % 2 === 0);
  });

  test('however filters take turns within the window, each message is reported once', () => {
    const arriving = array(nat(2), { minLength: 120, maxLength: WINDOW });
    const requesting = array(record({ kind: nat(2), limit: integer({ min: 1, max: 20 }), more: nat(30) }));
    assert(
      property(arriving, requesting, (kinds, asks) => {
        let cursor = cursors.write(start);
        let newest = start.done;
        const told: number[] = [];
        const wait = (kind: number, limit: number): boolean => {
          const place = cursors.read(cursor, start.account, newest);
          const fit = kinds
            .map((_, i) => start.done + 1 + i)
            .filter((one, i) => one <= newest && kinds[i] === kind && !wasReported(place, one));
          const found = fit.slice(0, limit);
          cursor = cursors.write(advancePosition(place, found, fit.length < limit ? newest : (found.at(-1) ?? newest)));
          told.push(...found);
          return found.length > 0;
        };
        for (const { kind, limit, more } of asks) {
          newest = Math.min(newest + more, start.done + kinds.length);
          wait(kind, limit);
        }
        newest = start.done + kinds.length;
        for (const kind of [2, 1, 0]) while (wait(kind, 3));
        expect(told.toSorted((a, b) => a - b)).toEqual(kinds.map((_, i) => start.done + 1 + i));
      }),
    );
  });
});

describe('a cursor of before the window was written bit by bit', () => {
  test('goes on to hold, with as many stretches as it could name', () => {
    const key = randomBytes(32);
    const runs = Array.from({ length: 24 }, (_, i) => `.${(i * 4 + 2).toString(36)}-1`).join('');
    const body = `w7.2s${runs}~zz`;
    const mac = createHmac('sha256', key).update(body).digest('base64url').slice(0, 8);
    const { reported: told, line } = new Cursors(key).position(`${body}_${mac}`);
    expect(told).toHaveLength(24);
    expect([told[0], told[23], line]).toEqual([[102, 103], [194, 195], 1295]);
  });
});
