import { describe, expect, test } from 'vitest';
import { type HeaderForm, headerForm } from '../../../mail/message/header-forms.ts';

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');
const james = { name: 'James Smythe', email: 'james@example.com' };
const jane = { name: null, email: 'jane@example.com' };
const john = { name: 'John Smîth', email: 'john@example.com' };
/** RFC 8621 4.1.2.3. */
const PEOPLE =
  '"  James Smythe" <james@example.com>, Friends: jane@example.com, =?UTF-8?Q?John_Sm=C3=AEth?= <john@example.com>;';

const cases: [form: HeaderForm, what: string, value: string, read: unknown][] = [
  ['Raw', 'all after the colon', ' Hello\r\n  you ', ' Hello\r\n  you '],
  ['Raw', 'encoded-words as they stand', ' =?utf-8?Q?=C3=A4?=', ' =?utf-8?Q?=C3=A4?='],
  ['Raw', 'UTF-8', latin1(' Grüße'), ' Grüße'],
  ['Raw', 'octets that are no UTF-8', ' Gr\xfc\xdfe', ' Gr\ufffd\ufffde'],
  ['Raw', 'NUL dropped', ' a\0b', ' ab'],
  ['Text', 'unfolded, no space at its ends', '  Hello\r\n\tyou ', 'Hello\tyou'],
  ['Text', 'an encoded-word', ' =?utf-8?Q?=C3=A4_b?= c', 'ä b c'],
  ['Text', 'blanks between two encoded-words', ' =?utf-8?B?w6Q=?=\r\n =?utf-8?Q?b?= c', 'äb c'],
  ['Text', 'a character cut in two', ' =?utf-8?Q?=C3?= =?utf-8?Q?=A4?=', 'ä'],
  ['Text', 'a language in the charset', ' =?utf-8*de?Q?=C3=A4?=', 'ä'],
  ['Text', 'another charset', ' =?ISO-2022-JP?B?GyRCRnxLXBsoQg==?=', '日本'],
  ['Text', 'no word of its own: not decoded', ' a=?utf-8?Q?b?=', 'a=?utf-8?Q?b?='],
  ['Text', 'no blank behind: not decoded', ' =?utf-8?Q?b?=c', '=?utf-8?Q?b?=c'],
  ['Text', 'a blank inside: not decoded', ' =?utf-8?Q?a b?=', '=?utf-8?Q?a b?='],
  ['Text', 'unknown charset: not decoded', ' =?x-nothing?Q?a?= =?utf-8?Q?b?=', '=?x-nothing?Q?a?= b'],
  ['Text', 'unknown encoding: not decoded', ' =?utf-8?X?a?=', '=?utf-8?X?a?='],
  ['Text', 'hidden control characters', ' =?utf-8?Q?a=00=0D=0A=7Fb?=', 'ab'],
  ['Text', 'raw UTF-8', latin1(' Grüße'), 'Grüße'],
  ['Text', 'NFC', latin1(' u\u0308'), 'ü'],
  ['Text', 'what cannot be decoded', ' =?utf-8?Q?a=FFb?=', 'a\ufffdb'],
  ['Addresses', 'the example of the RFC', ` ${PEOPLE}`, [james, jane, john]],
  ['Addresses', 'nobody', ' ', []],
  ['Addresses', 'an empty group', ' undisclosed-recipients:;', []],
  ['Addresses', 'a comment as name', ' jane@example.com (Jane)', [{ ...jane, name: 'Jane' }]],
  ['Addresses', 'an empty name', ' "" <jane@example.com>', [jane]],
  ['Addresses', 'quoted pairs', String.raw` "J \"X\" D" <jane@example.com>`, [{ ...jane, name: 'J "X" D' }]],
  ['Addresses', 'no address', ' Jane', [{ name: null, email: 'Jane' }]],
  ['Addresses', 'a local part in quotes', ' "a b"@example.com', [{ name: null, email: '"a b"@example.com' }]],
  ['Addresses', 'dots in odd places', ' a..b.@example.com', [{ name: null, email: 'a..b.@example.com' }]],
  [
    'Addresses',
    'UTF-8',
    latin1(' Jürgen <jürgen@bücher.example>'),
    [{ name: 'Jürgen', email: 'jürgen@xn--bcher-kva.example' }],
  ],
  [
    'Addresses',
    'an encoded-word is no address',
    ' =?utf-8?Q?a?=@b.example',
    [{ name: null, email: '=?utf-8?Q?a?=@b.example' }],
  ],
  [
    'GroupedAddresses',
    'the example of the RFC',
    ` ${PEOPLE}`,
    [
      { name: null, addresses: [james] },
      { name: 'Friends', addresses: [jane, john] },
    ],
  ],
  [
    'GroupedAddresses',
    'an empty group and what follows',
    ' a:;, jane@example.com',
    [
      { name: 'a', addresses: [] },
      { name: null, addresses: [jane] },
    ],
  ],
  ['MessageIds', 'one', ' <a@b>', ['a@b']],
  ['MessageIds', 'some over lines, with comments', ' <a@b>\r\n (x) <c\r\n d@e>', ['a@b', 'cd@e']],
  ['MessageIds', 'quotes kept', ' <"a b"@c>', ['"ab"@c']],
  ['MessageIds', 'none', ' Your message of Friday', null],
  ['Date', 'with its zone', ' Fri, 21 Nov 1997 09:55:06 -0630', '1997-11-21T09:55:06-06:30'],
  ['Date', 'east', ' 1 Jan 2026 00:00:00 +0900 (JST)', '2026-01-01T00:00:00+09:00'],
  ['Date', 'UTC', ' Fri, 21 Nov 1997 09:55:06 +0000', '1997-11-21T09:55:06Z'],
  ['Date', 'a zone of more than a day', ' 21 Nov 1997 09:55:06 +2400', '1997-11-20T09:55:06Z'],
  ['Date', 'before 1970', ' 1 Jan 1960 00:00:00 GMT', '1960-01-01T00:00:00Z'],
  ['Date', 'none', ' soon', null],
  [
    'URLs',
    'with comments',
    ' <https://a.example/?x=(1)>, (or <b>) <mailto:\r\n c@d>',
    ['https://a.example/?x=(1)', 'mailto:c@d'],
  ],
  ['URLs', 'none', ' NO', null],
];

describe('forms of header fields', () => {
  test.each(cases)('%s: %s', (form, _what, value, read) => {
    expect(headerForm(form, value)).toEqual(read);
  });
});
