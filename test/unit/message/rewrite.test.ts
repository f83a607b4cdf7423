import { expect, test } from 'vitest';
import { rewriteSubmittedHeader } from '../../../mail/message/rewrite.ts';

const rewrite = (header: string, add = {}): string =>
  Buffer.from(rewriteSubmittedHeader(Buffer.from(header, 'latin1'), add)).toString('latin1');
const ADD = { date: 'Fri, 20 Nov 2026 09:30:00 +0000', messageId: '<new@box.test>' };
const ADDED = `Date: ${ADD.date}\r\nMessage-ID: ${ADD.messageId}\r\n`;

test.each([
  [
    'blind copies go, folded or not',
    'A: 1\r\nBcc: x@y,\r\n z@y\r\nB: 2\r\nBCC : q@y\r\nResent-Bcc: r\r\n\r\n',
    'A: 1\r\nB: 2\r\n',
  ],
  ['so does Return-Path', 'Return-Path: <x@y>\r\nA: 1\r\n\r\n', 'A: 1\r\n'],
  ['nothing else does', 'X-Bcc: 1\r\nno field\r\nA:\t1 \r\n  2\r\n\r\n', 'X-Bcc: 1\r\nno field\r\nA:\t1 \r\n  2\r\n'],
])('%s', (_, header, kept) => {
  expect(rewrite(header)).toBe(`${kept}\r\n`);
  expect(rewrite(header, ADD)).toBe(`${kept}${ADDED}\r\n`);
});

test.each([
  ['only what is missing is added', 'date: x\r\n\r\n', `date: x\r\nMessage-ID: ${ADD.messageId}\r\n\r\n`],
  ['disguised fields count as there', 'DATE : x\r\nMessage-Id\t: <y>\r\n\r\n', 'DATE : x\r\nMessage-Id\t: <y>\r\n\r\n'],
  ['a header of nothing', '\r\n', `${ADDED}\r\n`],
  ['no header at all', '', ADDED],
  ['no empty line', 'A: 1\r\n', `A: 1\r\n${ADDED}`],
  ['no line end', 'A: 1', `A: 1\r\n${ADDED}`],
  ['8-bit octets', 'A: \xff\xc3\r\n\r\nbody\xff', `A: \xff\xc3\r\n${ADDED}\r\nbody\xff`],
])('%s', (_, header, expected) => {
  expect(rewrite(header, ADD)).toBe(expected);
});
