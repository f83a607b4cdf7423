import { describe, expect, test } from 'vitest';
import { decodeCharset, decodeTransfer } from '../../../mail/message/decode.ts';
import { encodeQuotedPrintable } from '../../../mail/message/quoted-printable.ts';
import { CHARSET_SAMPLES } from '../../support/charset-samples.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

test.each(CHARSET_SAMPLES)('charset %j', (label, octets, text) => {
  expect(decodeCharset(bytes(octets), label)).toBe(text);
});

test('no charset and no octets make it throw', () => {
  const labels = [
    ...CHARSET_SAMPLES.map(([label]) => label),
    'utf-16',
    'replacement',
    'hz-gb-2312',
    '\0',
    'x'.repeat(1000),
  ];
  const all = Buffer.from(Array.from({ length: 512 }, (_, i) => (i * 7) % 256));
  for (const label of labels) expect(decodeCharset(all, label).isWellFormed(), label).toBe(true);
});

describe('transfer encodings', () => {
  test.each([
    ['7bit', 'a=41\r\n', 'a=41\r\n'],
    ['binary', '\xff\0', '\xff\0'],
    ['x-unknown', 'a', 'a'],
    ['quoted-printable', 'a=41=\r\nb', 'aAb'],
    ['QUOTED-PRINTABLE', '=c3=BC', '\xc3\xbc'],
    ['quoted-printable', 'a  \t\r\nb ', 'a\r\nb '],
    ['quoted-printable', 'a= \t\r\nb', 'ab'],
    ['quoted-printable', 'a=\nb', 'ab'],
    ['quoted-printable', 'a=20\r\nb', 'a \r\nb'],
    ['quoted-printable', 'a=G1=1', 'a=G1=1'],
    ['quoted-printable', 'end=', 'end'],
    ['base64', 'd29y\r\nZHM=\r\n', 'words'],
    ['base64', 'd29yZHM', 'words'],
    ['base64', 'd 2!9*yZHM=', 'words'],
    ['base64', 'd29yZA==d29yZA==', 'wordword'],
    ['base64', '====', ''],
    ['base64', '', ''],
  ])('%s %j', (encoding, wire, expected) => {
    expect(decodeTransfer(bytes(wire), encoding).toString('latin1')).toBe(expected);
  });
});

test.each([
  '',
  'words\r\nand more\r\n',
  'trailing \r\n\t\r\n',
  '=',
  'grün 你好 '.repeat(40),
  '.\r\n..\r\nFrom x\r\n',
  '\0\x01\x7f',
])('quoted-printable of %j comes back', (text) => {
  const encoded = encodeQuotedPrintable(Buffer.from(text));
  expect(decodeTransfer(bytes(encoded), 'quoted-printable').toString('utf8')).toBe(text);
  for (const line of encoded.split('\r\n')) expect(line).toMatch(/^(?!\.|From )[\t\x20-\x7e]{0,76}$/);
});
