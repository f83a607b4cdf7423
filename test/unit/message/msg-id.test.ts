import { expect, test } from 'vitest';
import { hashId, messageIds, ownId, threadRefs } from '../../../mail/message/msg-id.ts';

test.each([
  ['<a@b>', ['a@b']],
  ['<a@b> <c@d>\t<e@f>', ['a@b', 'c@d', 'e@f']],
  ['<a@b><c@d>', ['a@b', 'c@d']],
  ['<a\r\n @b>', ['a@b']],
  ['<"a b"@c>', ['ab@c']],
  ['words <a@b> (comment)', ['a@b']],
  ['<a@b <c@d>', ['c@d']],
  ['a@b', []],
  ['<a@b', []],
  ['<>', []],
])('ids of %j', (value, ids) => {
  expect(messageIds(value)).toEqual(ids);
});

test.each([
  ['<a@b>', 'a@b'],
  [' a@b ', 'a@b'],
  ['two words', ''],
  ['', ''],
  [undefined, ''],
])('own id of %j', (value, id) => {
  expect(ownId(value)).toBe(id);
});

test.each([
  ['References in order', 'o', undefined, '<a> <b>', ['o', 'a', 'b']],
  ['In-Reply-To alone', 'o', '<a>', undefined, ['o', 'a']],
  ['In-Reply-To before what it is not among', 'o', '<x>', '<a> <b>', ['o', 'x', 'a', 'b']],
  ['each once', 'o', '<b>', '<a> <b> <a>', ['o', 'a', 'b']],
  ['not itself', 'o', '<o>', '<o> <a>', ['o', 'a']],
])('%s', (_, own, inReplyTo, references, ids) => {
  expect(threadRefs(own, inReplyTo, references)).toEqual(ids.map(hashId));
});

test('a hash fits a signed 64-bit column', () => {
  for (const id of ['a@b', 'c@d', '']) expect(BigInt.asIntN(64, hashId(id))).toBe(hashId(id));
});
