import { describe, expect, test } from 'vitest';
import { bodyFromStructure } from '../../../mail/message/body-from-structure.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';

const index = (text: string): ReturnType<typeof indexMessage> =>
  indexMessage(Buffer.from(text.replace(/\n/g, '\r\n'), 'latin1'));
const NILS = 'NIL NIL NIL NIL';

describe('ENVELOPE', () => {
  test.each([
    ['nothing', '', '(NIL NIL NIL NIL NIL NIL NIL NIL NIL NIL)'],
    ['an empty list is NIL', 'To: \nCc: ,,', '(NIL NIL NIL NIL NIL NIL NIL NIL NIL NIL)'],
    [
      'Sender and Reply-To are From',
      'From: A <a@b>',
      '(NIL NIL (("A" NIL "a" "b")) (("A" NIL "a" "b")) (("A" NIL "a" "b")) NIL NIL NIL NIL NIL)',
    ],
    [
      'but their own when there',
      'From: a@b\nSender: s@b\nReply-To: r@b',
      '(NIL NIL ((NIL NIL "a" "b")) ((NIL NIL "s" "b")) ((NIL NIL "r" "b")) NIL NIL NIL NIL NIL)',
    ],
    [
      'From when they are empty',
      'From: a@b\nSender: \nReply-To:',
      '(NIL NIL ((NIL NIL "a" "b")) ((NIL NIL "a" "b")) ((NIL NIL "a" "b")) NIL NIL NIL NIL NIL)',
    ],
    [
      'groups',
      'To: g: a@b;, h:;',
      '(NIL NIL NIL NIL NIL ((NIL NIL "g" NIL)(NIL NIL "a" "b")(NIL NIL NIL NIL)(NIL NIL "h" NIL)(NIL NIL NIL NIL)) NIL NIL NIL NIL)',
    ],
    [
      'date, subject and ids as they stand, on one line',
      'Date: any\n time\nSubject: =?utf-8?Q?a?=\n  b\nMessage-ID:\n <a@b>\nIn-Reply-To: <c@d>',
      '("any time" "=?utf-8?Q?a?=  b" NIL NIL NIL NIL NIL NIL "<c@d>" "<a@b>")',
    ],
    ['quotes and backslashes', 'Subject: "a\\b"', '(NIL "\\"a\\\\b\\"" NIL NIL NIL NIL NIL NIL NIL NIL)'],
    ['NUL and bare CR are blanks', 'Subject: a\0b\rc', '(NIL "a b c" NIL NIL NIL NIL NIL NIL NIL NIL)'],
    [
      'the first of each',
      'Subject: a\nSubject: b\nFrom: a@b\nFrom: c@d\nDate: x\nDate: y',
      '("x" "a" ((NIL NIL "a" "b")) ((NIL NIL "a" "b")) ((NIL NIL "a" "b")) NIL NIL NIL NIL NIL)',
    ],
    [
      '8-bit host',
      'To: a@b\xc3\xbccher.example',
      '(NIL NIL NIL NIL NIL ((NIL NIL "a" "xn--bcher-kva.example")) NIL NIL NIL NIL)',
    ],
  ])('%s', (_, header, expected) => {
    expect(index(`${header}\n\n`).envelope).toBe(expected);
  });

  test('a long string is a literal', () => {
    expect(index(`Subject: ${'x'.repeat(1000)}\n\n`).envelope).toContain(` {1000}\r\n${'x'.repeat(1000)} NIL`);
  });
});

test('ENVELOPE has the source route of an address', () => {
  const { envelope } = indexMessage(Buffer.from('From: Ann <@a.test, @b.test:ann@c.test>\r\nTo: x@y.test\r\n\r\n'));
  expect(envelope).toContain('(("Ann" "@a.test,@b.test" "ann" "c.test"))');
  expect(envelope).toContain('((NIL NIL "x" "y.test"))');
});

const LEAVES: [name: string, header: string, structure: string][] = [
  ['nothing said', '', `("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 3 1 ${NILS})`],
  [
    'a text without a charset',
    'Content-Type: text/html',
    `("text" "html" ("charset" "us-ascii") NIL NIL "7bit" 3 1 ${NILS})`,
  ],
  [
    'a text with another parameter and no charset',
    'Content-Type: text/plain; format=flowed',
    `("text" "plain" ("format" "flowed" "charset" "us-ascii") NIL NIL "7bit" 3 1 ${NILS})`,
  ],
  ['no text, no lines', 'Content-Type: image/png', `("image" "png" NIL NIL NIL "7bit" 3 ${NILS})`],
  ['an empty value', 'Content-Type: a/b; c=', `("a" "b" ("c" "") NIL NIL "7bit" 3 ${NILS})`],
  [
    'RFC 2231 as written',
    "Content-Type: a/b; n*0*=utf-8''%41; n*1=b",
    `("a" "b" ("n*0*" "utf-8''%41" "n*1" "b") NIL NIL "7bit" 3 ${NILS})`,
  ],
  ['raw 8-bit', 'Content-Type: a/b; n="\xc3\xbc"', `("a" "b" ("n*" "utf-8''%C3%BC") NIL NIL "7bit" 3 ${NILS})`],
  [
    'an encoded message',
    'Content-Type: message/rfc822\nContent-Transfer-Encoding: base64',
    `("application" "octet-stream" NIL NIL NIL "base64" 3 ${NILS})`,
  ],
  [
    'a multipart without parts',
    'Content-Type: multipart/mixed; boundary=b',
    `("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 3 1 ${NILS})`,
  ],
  [
    'a bad encoding',
    'Content-Transfer-Encoding: "',
    `("text" "plain" ("charset" "us-ascii") NIL NIL "7bit" 3 1 ${NILS})`,
  ],
  [
    'extension data',
    'Content-Type: a/b\nContent-ID: <i>\nContent-Description: d\nContent-MD5: m\nContent-Disposition: INLINE\nContent-Language: en, de\nContent-Location: l',
    '("a" "b" NIL "<i>" "d" "7bit" 3 "m" ("inline" NIL) ("en" "de") "l")',
  ],
];

test.each(LEAVES)('BODYSTRUCTURE: %s', (_, header, structure) => {
  expect(index(`${header}${header === '' ? '' : '\n'}\nx\n`).bodyStructure).toBe(structure);
});

test.each([
  [`("text" "plain" NIL NIL NIL "7bit" 3 1 ${NILS})`, '("text" "plain" NIL NIL NIL "7bit" 3 1)'],
  [
    `("a" "b" ("n" ")") NIL NIL "7bit" 3 NIL ("inline" ("x" "(")) ("en" "de") NIL)`,
    '("a" "b" ("n" ")") NIL NIL "7bit" 3)',
  ],
  [
    `(("text" "plain" NIL NIL NIL "7bit" 3 1 ${NILS})("a" "b" NIL NIL NIL "7bit" 3 ${NILS}) "mixed" ("boundary" "b") NIL NIL NIL)`,
    '(("text" "plain" NIL NIL NIL "7bit" 3 1)("a" "b" NIL NIL NIL "7bit" 3) "mixed")',
  ],
  [
    `("message" "rfc822" NIL NIL NIL "7bit" 9 (NIL NIL NIL NIL NIL NIL NIL NIL NIL NIL) (("text" "plain" NIL NIL NIL "7bit" 3 1 ${NILS}) "mixed" NIL NIL NIL NIL) 4 ${NILS})`,
    '("message" "rfc822" NIL NIL NIL "7bit" 9 (NIL NIL NIL NIL NIL NIL NIL NIL NIL NIL) (("text" "plain" NIL NIL NIL "7bit" 3 1) "mixed") 4)',
  ],
  [`("a" "b" ("n" {4}\r\n"(\\x) NIL NIL "7bit" 3 ${NILS})`, '("a" "b" ("n" {4}\r\n"(\\x) NIL NIL "7bit" 3)'],
])('BODY of %s', (bodyStructure, body) => {
  expect(bodyFromStructure(bodyStructure)).toBe(body);
});
