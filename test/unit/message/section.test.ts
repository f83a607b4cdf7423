import { expect, test } from 'vitest';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { packParts, unpackParts } from '../../../mail/message/parts.ts';
import { section, type SectionText } from '../../../mail/message/section.ts';

const message = (text: string): Buffer => Buffer.from(text.replace(/\n/g, '\r\n'), 'latin1');

// RFC 3501 6.4.5 has this tree as its example.
const TREE = message(
  'Subject: outer\nContent-Type: multipart/mixed; boundary=a\n\n' +
    '--a\nContent-Type: text/plain\n\none\n' +
    '--a\nContent-Type: application/octet-stream\n\ntwo\n' +
    '--a\nContent-Type: message/rfc822\n\nSubject: third\nContent-Type: multipart/mixed; boundary=b\n\n--b\nX: 1\n\nthree one\n--b\n\nthree two\n--b--\n' +
    '--a\nContent-Type: multipart/mixed; boundary=c\n\n--c\nContent-Type: image/gif\n\nfour one\n--c\nContent-Type: message/rfc822\n\nSubject: inner\n\nfour two one\n--c--\n' +
    '--a--\n',
);
const SIMPLE = message('Subject: simple\n\nbody\n');

function get(bytes: Buffer, path: string, what: SectionText): string | undefined {
  const range = section(unpackParts(indexMessage(bytes).parts), path, what);
  return range && bytes.toString('latin1', range.start, range.start + range.length).replace(/\r\n/g, '\n');
}

test.each<[path: string, what: SectionText, expected: string | undefined]>([
  ['', 'HEADER', 'Subject: outer\nContent-Type: multipart/mixed; boundary=a\n\n'],
  ['1', 'BODY', 'one'],
  ['1', 'MIME', 'Content-Type: text/plain\n\n'],
  ['1', 'HEADER', undefined],
  ['1', 'TEXT', undefined],
  ['2', 'BODY', 'two'],
  ['3', 'MIME', 'Content-Type: message/rfc822\n\n'],
  ['3', 'HEADER', 'Subject: third\nContent-Type: multipart/mixed; boundary=b\n\n'],
  ['3', 'TEXT', '--b\nX: 1\n\nthree one\n--b\n\nthree two\n--b--'],
  [
    '3',
    'BODY',
    'Subject: third\nContent-Type: multipart/mixed; boundary=b\n\n--b\nX: 1\n\nthree one\n--b\n\nthree two\n--b--',
  ],
  ['3.1', 'BODY', 'three one'],
  ['3.1', 'MIME', 'X: 1\n\n'],
  ['3.2', 'BODY', 'three two'],
  ['3.3', 'BODY', undefined],
  ['4.1', 'MIME', 'Content-Type: image/gif\n\n'],
  ['4', 'HEADER', undefined],
  ['4.2', 'HEADER', 'Subject: inner\n\n'],
  ['4.2', 'TEXT', 'four two one'],
  ['4.2.1', 'BODY', 'four two one'],
  ['4.2.1', 'MIME', 'Subject: inner\n\n'],
  ['4.2.2', 'BODY', undefined],
  ['1.1', 'BODY', undefined],
  ['5', 'BODY', undefined],
  ['0', 'BODY', undefined],
])('BODY[%s] %s of the tree', (path, what, expected) => {
  expect(get(TREE, path, what)).toBe(expected);
});

test.each<[path: string, what: SectionText, expected: string | undefined]>([
  ['', 'BODY', 'Subject: simple\n\nbody\n'],
  ['', 'HEADER', 'Subject: simple\n\n'],
  ['', 'TEXT', 'body\n'],
  ['', 'MIME', undefined],
  ['1', 'BODY', 'body\n'],
  ['1', 'MIME', 'Subject: simple\n\n'],
  ['1', 'HEADER', undefined],
  ['1.1', 'BODY', undefined],
  ['2', 'BODY', undefined],
])('BODY[%s] %s of a message without parts', (path, what, expected) => {
  expect(get(SIMPLE, path, what)).toBe(expected);
});

test('the part table comes back from its JSON', () => {
  const { parts } = indexMessage(TREE);
  expect(packParts(unpackParts(parts))).toBe(parts);
});
