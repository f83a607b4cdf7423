import { describe, expect, test } from 'vitest';
import { Decoder } from '../../../mail/imap/wire/decoder.ts';
import { pickUids, runsOf, seqIndexes, uidIndexes, type SequenceSet } from '../../../mail/imap/wire/sequence-set.ts';

const set = (text: string): SequenceSet => new Decoder(Buffer.from(text)).sequenceSet();
// The array has more room than the mailbox has messages, as a view's has.
const UIDS = Uint32Array.of(2, 3, 5, 8, 13, 21, 34, 35);
const COUNT = 6;

describe('UIDs', () => {
  test.each([
    ['5', [5]],
    ['4', []],
    ['1:4', [2, 3]],
    ['8:3', [3, 5, 8]],
    ['*', [21]],
    ['13:*', [13, 21]],
    ['99:*', [21]],
    ['*:99', [21]],
    ['30:40', []],
    ['21,2,21,2:3', [2, 3, 21]],
    ['1:*', [2, 3, 5, 8, 13, 21]],
    ['1:4294967295', [2, 3, 5, 8, 13, 21]],
    ['4294967295', []],
    ['9:12,4,6:7', []],
  ])('%s', (text, uids) => {
    expect([...pickUids(uidIndexes(set(text), UIDS, COUNT), UIDS)]).toEqual(uids);
  });

  test('of an empty mailbox', () => {
    expect(uidIndexes(set('1:*'), UIDS, 0)).toHaveLength(0);
  });
});

describe('sequence numbers', () => {
  test.each([
    ['1', [2]],
    ['6', [21]],
    ['*', [21]],
    ['*:5', [13, 21]],
    ['3:1', [2, 3, 5]],
    ['5:*', [13, 21]],
    ['1,6,1:2', [2, 3, 21]],
    ['7', undefined],
    ['1:7', undefined],
    ['7:*', undefined],
    ['4294967295', undefined],
  ])('%s', (text, uids) => {
    const indexes = seqIndexes(set(text), COUNT);
    expect(indexes && [...pickUids(indexes, UIDS)]).toEqual(uids);
  });

  test('of an empty mailbox there are none, not even the last', () => {
    expect(seqIndexes(set('*'), 0)).toBeUndefined();
    expect(seqIndexes(set('1'), 0)).toBeUndefined();
  });
});

test('ranges that touch become one, whatever the order', () => {
  expect(uidIndexes(set('5,3,2,13'), UIDS, COUNT)).toEqual([
    { start: 0, end: 3 },
    { start: 4, end: 5 },
  ]);
  expect(seqIndexes(set('4:6,1,2:3,1'), COUNT)).toEqual([{ start: 0, end: 6 }]);
});

test('naming everything ten thousand times does not visit it ten thousand times', () => {
  const many = set(Array.from({ length: 10_000 }, () => '1:*').join(','));
  const uids = Uint32Array.from({ length: 100_000 }, (_, i) => 2 * i + 1);
  expect(uidIndexes(many, uids, uids.length)).toEqual([{ start: 0, end: 100_000 }]);
  expect(seqIndexes(many, uids.length)).toEqual([{ start: 0, end: 100_000 }]);
});

test('UIDs that follow each other are one range', () => {
  expect(runsOf([])).toEqual([]);
  expect(runsOf([2, 3, 4, 7, 9, 10])).toEqual([
    { from: 2, to: 4 },
    { from: 7, to: 7 },
    { from: 9, to: 10 },
  ]);
});
