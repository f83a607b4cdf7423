import { describe, expect, test } from 'vitest';
import { Decoder } from '../../../mail/imap/wire/decoder.ts';
import {
  resolveSeqs,
  resolveUids,
  seqIndexes,
  uidIndexes,
  type SequenceSet,
} from '../../../mail/imap/wire/sequence-set.ts';

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
    expect([...resolveUids(set(text), UIDS, COUNT)]).toEqual(uids);
  });

  test('of an empty mailbox', () => {
    expect(resolveUids(set('1:*'), UIDS, 0)).toHaveLength(0);
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
    const resolved = resolveSeqs(set(text), UIDS, COUNT);
    expect(resolved && [...resolved]).toEqual(uids);
  });

  test('of an empty mailbox there are none, not even the last', () => {
    expect(resolveSeqs(set('*'), UIDS, 0)).toBeUndefined();
    expect(resolveSeqs(set('1'), UIDS, 0)).toBeUndefined();
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
  expect(resolveSeqs(many, uids, uids.length)).toHaveLength(100_000);
});
