import { describe, expect, test } from 'vitest';
import { Decoder } from '../../../mail/imap/wire/decoder.ts';
import * as encode from '../../../mail/imap/wire/encoder.ts';

describe('what goes on the wire', () => {
  test.each([
    ['', '""'],
    ['abc', '"abc"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ['a\tb', '"a\tb"'],
    ['a\r\nb', '{4}\r\na\r\nb'],
    ['a\0b', '{3}\r\na\0b'],
    ['caf\xe9', '{4}\r\ncaf\xe9'],
    ['x'.repeat(999), `"${'x'.repeat(999)}"`],
    ['x'.repeat(1000), `{1000}\r\n${'x'.repeat(1000)}`],
  ])('string %j', (text, written) => {
    expect(encode.string(text)).toBe(written);
  });

  test('nstring', () => {
    expect([encode.nstring(null), encode.nstring('NIL')]).toEqual(['NIL', '"NIL"']);
  });

  test.each([
    ['INBOX', false, 'INBOX'],
    ['My box', false, '"My box"'],
    ['Entwürfe', false, 'Entw&APw-rfe'],
    ['Entwürfe', true, `"${Buffer.from('Entwürfe').toString('latin1')}"`],
    ['R&D', false, 'R&-D'],
    ['R&D', true, 'R&D'],
    ['nil', false, '"nil"'],
    ['a%b', false, '"a%b"'],
    ['a"b', true, '"a\\"b"'],
    ['ü"\\', true, `"${Buffer.from('ü').toString('latin1')}\\"\\\\"`],
    ['ü'.repeat(400), false, '{...}'],
  ])('mailbox %s, UTF-8 %s', (name, utf8, written) => {
    const wire = encode.mailbox(name, utf8);
    if (written.startsWith('{')) expect(wire).toMatch(/^\{\d+\}\r\n&/);
    else expect(wire).toBe(written);
    const d = new Decoder(Buffer.from(wire, 'latin1'), { utf8 });
    expect(d.reference()).toBe(name);
  });

  test.each([
    [Date.UTC(1996, 6, 17, 9, 44, 25), '"17-Jul-1996 09:44:25 +0000"'],
    [Date.UTC(2026, 0, 2), '" 2-Jan-2026 00:00:00 +0000"'],
    [-1, '"31-Dec-1969 23:59:59 +0000"'],
    [Number.NaN, '" 1-Jan-1970 00:00:00 +0000"'],
    [1e20, '"31-Dec-9999 23:59:59 +0000"'],
    [-1e20, '" 1-Jan-0001 00:00:00 +0000"'],
  ])('date %s', (ms, written) => {
    expect(encode.internalDate(ms)).toBe(written);
  });

  test.each([
    [[], ''],
    [[7], '7'],
    [[1, 2, 3, 7, 9, 10], '1:3,7,9:10'],
    [[3, 2, 1], '3,2,1'],
    [[5, 6, 1, 2], '5:6,1:2'],
  ])('set %j', (uids, written) => {
    expect(encode.uidSet(uids)).toBe(written);
    expect(encode.uidSet(Uint32Array.from(uids))).toBe(written);
  });

  test('numbers of any length, and more than are written at once', () => {
    const ends = [0, 9, 10, 99, 100, 99_999, 100_000, 2 ** 31, 10 ** 9, 2 ** 32 - 1];
    for (const numbers of [ends, [], [7], Array.from({ length: 10_000 }, (_, i) => i * 7919)])
      expect(encode.spacedNumbers(Uint32Array.from(numbers))).toBe(numbers.map((each) => ` ${each}`).join(''));
  });

  const lines: Array<[Parameters<typeof encode.statusLine>, string]> = [
    [['a1', 'OK', undefined, 'Done'], 'a1 OK Done\r\n'],
    [['a1', 'NO', 'TRYCREATE', 'No such mailbox'], 'a1 NO [TRYCREATE] No such mailbox\r\n'],
    [['*', 'OK', 'UIDNEXT 7', ''], '* OK [UIDNEXT 7] Done\r\n'],
    [['*', 'BYE', undefined, 'x\r\n* OK forged é'], '* BYE x??* OK forged ?\r\n'],
  ];
  test.each(lines)('status %j', (parts, line) => {
    expect(encode.statusLine(...parts)).toBe(line);
  });

  test('the rest', () => {
    expect(encode.flagList(['\\Seen', 'x'])).toBe('(\\Seen x)');
    expect(encode.untagged('3 EXISTS')).toBe('* 3 EXISTS\r\n');
    expect([encode.continuation(), encode.continuation('')]).toEqual(['+ Go ahead\r\n', '+ \r\n']);
  });
});
