import { describe, expect, test } from 'vitest';
import { firstField, readFields, selectHeaderFields, unfold } from '../../../mail/message/header.ts';
import * as fc from '../../support/fast-check.ts';

const HEADER =
  'Received: from a\r\n\tby b\r\nFrom : Ann <a@b>\r\nSUBJECT:hi\r\nno field here\r\nSubject: again\r\nX-Empty:\r\n\r\nBody: not a field\r\n';

describe('fields', () => {
  test('are read up to the empty line, with folds', () => {
    expect(readFields(HEADER).map(({ name, value }) => [name, value])).toEqual([
      ['received', ' from a\r\n\tby b'],
      ['from', ' Ann <a@b>'],
      ['subject', 'hi'],
      ['', ''],
      ['subject', ' again'],
      ['x-empty', ''],
    ]);
  });

  test('cover the header without gaps', () => {
    const fields = readFields(HEADER);
    expect(fields.map(({ start, end }) => HEADER.slice(start, end)).join('')).toBe(
      HEADER.split('\r\n\r\n')[0] + '\r\n',
    );
  });

  test('the first of a name counts', () => {
    expect(firstField(readFields(HEADER), 'subject')).toBe('hi');
    expect(firstField(readFields(HEADER), 'to')).toBeUndefined();
  });

  test.each([
    ['', 0],
    ['\r\n', 0],
    ['a: b', 1],
    ['a: b\nc: d\n\ne: f', 2],
    ['From ann Sat Nov 21 10:00:00 2026\r\na: b\r\n', 2],
    [' a: b\r\nc: d\r\n', 2],
  ])('of %j: %i lines', (header, count) => {
    expect(readFields(header)).toHaveLength(count);
  });

  test('are counted up to a limit', () => {
    expect(readFields('a: b\r\n'.repeat(50), 10)).toHaveLength(10);
  });
});

test.each([
  [' a ', 'a'],
  [' a\r\n b', 'a b'],
  ['a\n\tb\r\n  c\r\n', 'a\tb  c'],
])('unfold %j', (value, line) => {
  expect(unfold(value)).toBe(line);
});

describe('HEADER.FIELDS', () => {
  const select = (header: string, names: string[], not = false): string =>
    selectHeaderFields(Buffer.from(header, 'latin1'), names, not).toString('latin1');

  test.each([
    [
      'names without case, octets as they stand',
      ['from', 'RECEIVED'],
      false,
      'Received: from a\r\n\tby b\r\nFrom : Ann <a@b>\r\n\r\n',
    ],
    ['every field of the name', ['Subject'], false, 'SUBJECT:hi\r\nSubject: again\r\n\r\n'],
    ['none of them there', ['Bcc'], false, '\r\n'],
    ['NOT', ['Received', 'Subject', 'X-Empty'], true, 'From : Ann <a@b>\r\nno field here\r\n\r\n'],
    ['NOT of nothing is the header', [], true, HEADER.split('\r\n\r\n')[0] + '\r\n\r\n'],
  ])('%s', (_, names, not, expected) => {
    expect(select(HEADER, names, not)).toBe(expected);
  });

  test('a header that is cut in a line still ends with an empty line', () => {
    expect(select('A: b\r\nC: d', ['c'])).toBe('C: d\r\n\r\n');
  });

  test('8-bit octets pass', () => {
    expect(select('Subject: \xfc\xff\r\n\r\n', ['subject'])).toBe('Subject: \xfc\xff\r\n\r\n');
  });
});

test('a field has the name and the value that the grammar gives, for any line', () => {
  const piece = fc.constantFrom('a', 'Subject', ':', ' ', '\t', '\r', '\n', '\r\n', '\r\n ', '\x00', '\x7f', 'é');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      for (const { name, value, start, end } of readFields(pieces.join(''))) {
        const line = pieces.join('').slice(start, end);
        const [head, read = ''] = /^([^\x00-\x20\x7f:]+)[ \t]*:/.exec(line) ?? [''];
        expect({ name, value }).toEqual({
          name: read.toLowerCase(),
          value: head === '' ? '' : line.slice(head.length).replace(/\r?\n$/, ''),
        });
      }
    }),
    { numRuns: 2_000 },
  );
});
