import { expect, test } from 'vitest';
import { parseAuthors } from '../../../mail/message/authors.ts';
import { parseDate } from '../../../mail/message/date.ts';
import { decodeTransfer } from '../../../mail/message/decode.ts';
import { decodeWords, sevenBitText } from '../../../mail/message/encoded-word.ts';
import { parseAddressList } from '../../../mail/message/header-addresses.ts';
import { HEADER_FORMS, headerForm } from '../../../mail/message/header-forms.ts';
import { readFields, unfold } from '../../../mail/message/header.ts';
import { htmlText } from '../../../mail/message/html-text.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { messageIds } from '../../../mail/message/msg-id.ts';
import { decodedParameter, parseParameters } from '../../../mail/message/parameters.ts';
import { previewText } from '../../../mail/message/preview.ts';
import { rewriteSubmittedHeader } from '../../../mail/message/rewrite.ts';
import { readStructure } from '../../../mail/message/stored-structure.ts';
import { baseSubject } from '../../../mail/message/subject.ts';
import { decodeUtf7 } from '../../../mail/message/utf7.ts';
import { imapString } from '../../../mail/message/wire-string.ts';

const octets = (text: string): Buffer => Buffer.from(text, 'latin1');

const PARSERS: [name: string, parse: (text: string) => unknown][] = [
  ['fields', (text) => readFields(text)],
  ['unfolding', (text) => unfold(text)],
  ['addresses', (text) => parseAddressList(text)],
  ['authors', (text) => parseAuthors(octets(`From: ${text}\r\n`))],
  ['parameters', (text) => decodedParameter(parseParameters(text).params, 'name')],
  ['encoded words', (text) => decodeWords(text)],
  ['7-bit text', (text) => sevenBitText(text)],
  ['IMAP strings', (text) => imapString(text)],
  ['dates', (text) => parseDate(text)],
  ['message ids', (text) => messageIds(text)],
  ['subjects', (text) => baseSubject(text)],
  ['previews', (text) => previewText(text)],
  ['HTML', (text) => htmlText(text, 1e9)],
  ...HEADER_FORMS.map((form): (typeof PARSERS)[number] => [`the form ${form}`, (text) => headerForm(form, text)]),
  ['stored structures', (text) => readStructure(text)],
  ['UTF-7', (text) => decodeUtf7(text)],
  ['quoted-printable', (text) => decodeTransfer(octets(text), 'quoted-printable')],
  ['base64', (text) => decodeTransfer(octets(text), 'base64')],
  ['rewriting', (text) => rewriteSubmittedHeader(octets(text), { date: 'x' })],
  ['messages', (text) => indexMessage(octets(text))],
  ['multiparts', (text) => indexMessage(octets(`Content-Type: multipart/mixed; boundary=b\r\n\r\n${text}`))],
  [
    'header values',
    (text) => indexMessage(octets(`Subject: ${text}\r\nContent-Type: ${text}\r\nTo: ${text}\r\nReferences: ${text}`)),
  ],
];

const UNITS = [
  '(',
  ')',
  '"',
  '\\',
  ' ',
  '<',
  '>',
  '@',
  '=?',
  '?=',
  ';',
  ',',
  ':',
  '=',
  '[',
  ']',
  '[a]',
  '<!--',
  '</',
  '&#',
  '+',
  '--',
  '\r\n',
  '\r\n ',
  '\r\n--b\r\n',
  '=?utf-8?Q?a?= ',
  '[fwd:',
  're:',
  '(fwd)',
  '<a@b',
  "n*0*='",
  '\xff',
  '\xff ',
];

function cpu(parse: (text: string) => unknown, text: string): number {
  const { user, system } = process.cpuUsage();
  parse(text);
  const after = process.cpuUsage();
  return (after.user + after.system - user - system) / 1000;
}

// Ten times the input may take fifteen times the work; what is too short to be measured counts as 15 ms.
test.each(PARSERS)('%s: the work grows with the input, not with its square', (_, parse) => {
  for (const unit of UNITS) {
    const text = unit.repeat(Math.ceil(60_000 / unit.length));
    parse(text.slice(0, 6000));
    const short = cpu(parse, text);
    const long = Math.min(...[1, 2].map(() => cpu(parse, text.repeat(10))));
    expect(long, JSON.stringify(unit)).toBeLessThan(15 * Math.max(short, 15));
  }
});
