import { expect, test } from 'vitest';
import { replyReferences } from '../../../mail/message/reply-references.ts';

const many = Array.from({ length: 40 }, (_, i) => `<${i}@x>`);

test.each([
  ['the id alone', ' <a@x>', undefined, undefined, '<a@x>', '<a@x>'],
  ['the line before it, folded', '<c@x>', '<b@x>', ' <a@x>\r\n <b@x>', '<c@x>', '<a@x> <b@x> <c@x>'],
  ['the one message that it answered, without References', '<b@x>', '<a@x>', undefined, '<b@x>', '<a@x> <b@x>'],
  ['not several', '<c@x>', '<a@x> <b@x>', undefined, '<c@x>', '<c@x>'],
  ['each id once, its own last', '<b@x>', undefined, '<a@x> <b@x> <a@x>', '<b@x>', '<a@x> <b@x>'],
  ['no id that is longer than a line', '<b@x>', undefined, `<${'a'.repeat(900)}@x> <a@x>`, '<b@x>', '<a@x> <b@x>'],
  ['no id that a header cannot hold', '<b@x>', undefined, '<\xc3\xa4@x> <a\x00@x> <a@x>', '<b@x>', '<a@x> <b@x>'],
  [
    'the root and the newest of a long line',
    '<own@x>',
    undefined,
    many.join(' '),
    '<own@x>',
    ['<0@x>', ...many.slice(-18), '<own@x>'].join(' '),
  ],
])('a reply names %s', (_, messageId, inReplyTo, references, answered, line) => {
  expect(replyReferences({ messageId, inReplyTo, references })).toEqual({ inReplyTo: answered, references: line });
});

test.each([undefined, '', 'none', '<\u00e4@x>'])(
  'what has no id that can be named is no message to reply to: %s',
  (messageId) => {
    expect(replyReferences({ messageId, inReplyTo: '<a@x>', references: '<a@x>' })).toBeUndefined();
  },
);
