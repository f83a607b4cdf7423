import { describe, expect, test } from 'vitest';
import { bodyTree, flatParts } from '../../../../mail/jmap/email/body-part.ts';
import { type EmailBodyValue, textValue } from '../../../../mail/jmap/email/body-value.ts';
import { indexMessage } from '../../../../mail/message/indexer.ts';

/** `read` is the number of octets of `body` that were read. */
function valueOf(fields: string, body: string, limit = Infinity, read = body.length): EmailBodyValue {
  const octets = Buffer.from(`${fields}\r\n\r\n${body}`, 'latin1');
  const [part] = flatParts(bodyTree(indexMessage(octets)));
  if (part === undefined) throw new Error('no part');
  return textValue(octets.subarray(part.part.bodyOffset, part.part.bodyOffset + read), part, limit);
}

const text = (charset: string, encoding = '8bit'): string =>
  `Content-Type: text/plain; charset=${charset}\r\nContent-Transfer-Encoding: ${encoding}`;
const utf8 = (string: string): string => Buffer.from(string).toString('latin1');
const whole = { isTruncated: false, isEncodingProblem: false };

describe('the value of a text part', () => {
  test.each([
    ['utf-8', utf8('Grüße, €'), 'Grüße, €'],
    ['iso-8859-1', 'Gr\xfc\xdfe', 'Grüße'],
    ['windows-1252', '\x80', '€'],
    ['iso-8859-15', '\xa4', '€'],
    ['koi8-r', '\xf0\xf2\xe9', 'ПРИ'],
    ['iso-2022-jp', '\x1b$BF|K\\\x1b(B', '日本'],
    ['gb18030', '\xc4\xe3\xba\xc3', '你好'],
    ['euc-kr', '\xc7\xd1', '한'],
    ['us-ascii', 'plain', 'plain'],
  ])('in %s', (charset, body, value) => {
    expect(valueOf(text(charset), body)).toEqual({ value, ...whole });
  });

  test.each([
    ['broken UTF-8', text('utf-8'), 'a\xffb', 'a\ufffdb'],
    ['8-bit text in US-ASCII', text('us-ascii'), utf8('ü'), 'ü'],
    ['8-bit text without a charset', 'Content-Type: text/plain', 'Gr\xfc', 'Grü'],
    ['an unknown charset', text('x-nothing'), 'a', 'a'],
    ['unknown-8bit', text('unknown-8bit'), 'Gr\xfc', 'Grü'],
    ['an unknown transfer encoding', text('utf-8', 'x-uuencode'), 'begin', 'begin'],
  ])('%s is an encoding problem', (_what, fields, body, value) => {
    expect(valueOf(fields, body)).toEqual({ value, isTruncated: false, isEncodingProblem: true });
  });

  test('a replacement character of the sender is not an encoding problem', () => {
    expect(valueOf(text('utf-8'), utf8('\ufffd'))).toEqual({ value: '\ufffd', ...whole });
  });

  test('line ends become LF, NUL becomes U+FFFD, transfer encodings are decoded', () => {
    expect(valueOf(text('utf-8'), 'a\r\nb\0\r\n').value).toBe('a\nb\ufffd\n');
    expect(valueOf(text('utf-8', 'quoted-printable'), 'a=C3=A4=\r\nb').value).toBe('aäb');
    expect(valueOf(text('utf-8', 'base64'), 'YcOk').value).toBe('aä');
  });

  test.each([
    [5, 'aäöü', 'aäö'],
    [4, 'aäöü', 'aä'],
    [7, 'aäöü', 'aäöü'],
    [5, 'a€€', 'a€'],
    [4, '🙂🙂', '🙂'],
    [7, '🙂🙂', '🙂'],
    [3, '🙂', ''],
    [1, 'ab', 'a'],
  ])('at most %i octets, no half characters: %s', (limit, body, value) => {
    const isTruncated = value !== body;
    expect(valueOf(text('utf-8'), utf8(body), limit)).toEqual({ value, isTruncated, isEncodingProblem: false });
  });

  test.each([
    ['<p>Hello <a href="https://example.com">x</a>', 20, '<p>Hello '],
    ['<p>Hello <a href="https://example.com">x</a>', 10, '<p>Hello '],
    ['<p>Hello</p>', 10, '<p>Hello'],
    ['<p>Hello</p>', 4, '<p>H'],
    ['<p>1 < 2 and more', 10, '<p>1 < 2 a'],
    ['a<!-- comment -->', 8, 'a'],
  ])('HTML is not cut inside of a tag: %s', (body, limit, value) => {
    const html = 'Content-Type: text/html; charset=utf-8';
    expect(valueOf(html, body, limit)).toEqual({ value, isTruncated: true, isEncodingProblem: false });
  });

  test('a truncated character at the read limit is not an encoding problem', () => {
    for (const read of [40, 41, 42, 43]) {
      const found = valueOf(text('utf-8'), utf8('🙂'.repeat(30)), 1000, read);
      expect(found, String(read)).toMatchObject({ isTruncated: true, isEncodingProblem: false });
      expect(found.value).toMatch(/^(?:🙂)+$/u);
    }
    const quoted = text('utf-8', 'quoted-printable');
    for (const read of [60, 61, 62, 63, 64]) {
      const found = valueOf(quoted, '=C3=A4'.repeat(30), 1000, read);
      expect(found.value, String(read)).toMatch(/^ä+$/);
    }
    const japanese = '\x1b$BF|K\\\x1b(B\r\n'.repeat(30);
    for (const read of [100, 101, 102, 103, 104, 105]) {
      const found = valueOf(text('iso-2022-jp'), japanese, 1000, read);
      expect(found, String(read)).toMatchObject({ isTruncated: true, isEncodingProblem: false });
      expect(found.value).toMatch(/^(?:日本\n)+$/);
    }
  });
});
