import { describe, expect, test } from 'vitest';
import { decodeWords, encodeWords, sevenBitText } from '../../../mail/message/encoded-word.ts';
import { CHARSET_SAMPLES } from '../../support/charset-samples.ts';

describe('decoding', () => {
  test.each([
    ['plain', 'plain'],
    ['=?utf-8?Q?gr=C3=BCn?=', 'grün'],
    ['=?UTF-8?b?Z3LDvG4=?=', 'grün'],
    ['=?utf-8?B?Z3LDvG4?=', 'grün'],
    ['=?iso-8859-1?Q?a_b=5F?=', 'a b_'],
    ['=?utf-8*de?Q?x?=', 'x'],
    ['a =?utf-8?Q?b?= c', 'a b c'],
    ['=?utf-8?Q?a?= =?utf-8?Q?b?=', 'ab'],
    ['=?utf-8?Q?a?=\r\n =?iso-8859-1?Q?=FC?=', 'aü'],
    ['=?utf-8?Q?a?==?utf-8?Q?b?=', 'ab'],
    ['=?utf-8?Q?a?= x =?utf-8?Q?b?=', 'a x b'],
    ['=?utf-8?Q?=C3?= =?utf-8?Q?=BC?=', 'ü'],
    ['=?utf-8?Q?a b?=', 'a b'],
    ['x=?utf-8?Q?a?=y', 'xay'],
    ['gr\xc3\xbcn', 'grün'],
    ['gr\xfcn', 'grün'],
    ['gr\xfcn =?utf-8?Q?a?=', 'grün a'],
    ['=?no-such?Q?a=C3=BC?=', 'aü'],
    ['=?utf-8?X?a?=', '=?utf-8?X?a?='],
    ['=?utf-8?Q?a', '=?utf-8?Q?a'],
    ['=? =?= ?=', '=? =?= ?='],
    ['=?utf-8?Q??=', ''],
    ['=?utf-8?Q?=ZZ?=', '=ZZ'],
    ['=?utf-8?Q?=FF?=', '\ufffd'],
  ])('%j', (text, expected) => {
    expect(decodeWords(text)).toBe(expected);
  });

  test.each(CHARSET_SAMPLES.filter(([label]) => label !== ''))('charset %s', (label, octets, text) => {
    expect(decodeWords(`=?${label}?B?${Buffer.from(octets, 'latin1').toString('base64')}?=`)).toBe(text);
  });
});

describe('encoding', () => {
  test.each(['grün', 'a'.repeat(200), '你好'.repeat(60), '😀'.repeat(40), ''])('%j comes back', (text) => {
    const words = encodeWords(text);
    expect(decodeWords(words)).toBe(text);
    for (const word of words.split(' ')) expect(word.length).toBeLessThanOrEqual(75);
  });

  test.each([
    ['plain words', 'plain words'],
    ['say gr\xc3\xbcn \xc3\xbc now', 'say =?utf-8?B?Z3LDvG4gw7w=?= now'],
    ['\xfc =?utf-8?Q?x?=', '=?utf-8?B?w7wg?= =?utf-8?Q?x?='],
  ])('only the 8-bit words of %j', (text, expected) => {
    expect(sevenBitText(text)).toBe(expected);
  });

  test('what is 7-bit now reads as before, blanks beside encoded-words too', () => {
    for (const text of ['=?utf-8?Q?a?= \xfc =?utf-8?Q?b?= \xfc', '\xfc \xfc =?utf-8?Q?a?=', 'a \xfc b']) {
      expect(decodeWords(sevenBitText(text))).toBe(decodeWords(text));
    }
  });
});
