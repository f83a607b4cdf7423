import { expect, test } from 'vitest';
import { uidSet } from '../../../mail/transfer/imap/pull-folder.ts';

test.each([
  [[7], '7'],
  [[1, 2, 3], '1:3'],
  [[1, 3, 4, 9], '1,3:4,9'],
  [[4_294_967_294, 4_294_967_295], '4294967294:4294967295'],
])('UIDs %j are asked for as %s', (uids, set) => {
  expect(uidSet(uids)).toBe(set);
});
