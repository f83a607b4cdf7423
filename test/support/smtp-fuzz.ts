import type { Random } from './imap-fuzz.ts';

const NAMES = ['client.example', '[127.0.0.1]', '[IPv6:::1]', 'x', '', '-', 'a..b', '\xfc.example', 'x'.repeat(300)];
const ADDRESSES = [
  '<a@b.example>',
  '<me@box.test>',
  '<>',
  '<postmaster>',
  '<me+tag@box.test>',
  '<nobody@box.test>',
  '<"q s"@b.example>',
  '<@a,@b:c@d.example>',
  '<a@b>',
  'a@b.example',
  '<a@b.example',
  '<<a@b.example>>',
  '<a@[127.0.0.1]>',
  '<\xfc@b.example>',
  '<a@b.example\0>',
  '<"\\"@b.example>',
  `<${'l'.repeat(70)}@b.example>`,
  `<a@${'d.'.repeat(140)}example>`,
  '<me%x@box.test>',
];
const PARAMETERS = [
  'SIZE=100',
  'SIZE=99999999999999999999',
  'SIZE=-1',
  'SIZE',
  'BODY=8BITMIME',
  'BODY=BINARYMIME',
  'BODY=7BIT',
  'SMTPUTF8',
  'RET=HDRS',
  'RET=FULL',
  'ENVID=a+2Bb',
  'ENVID=+ZZ',
  'NOTIFY=NEVER',
  'NOTIFY=SUCCESS,FAILURE',
  'NOTIFY=NEVER,DELAY',
  'ORCPT=rfc822;a@b',
  'ORCPT=;',
  'AUTH=<>',
  'X=Y',
  '=',
  'SIZE=1 SIZE=1',
  'a'.repeat(1500),
];
const BASE64 = [
  'AG1lAGE=',
  '=',
  '*',
  '',
  'bWU=',
  '!!!!',
  'biwsbj1tZSxyPWFiYw==',
  'A'.repeat(3000),
  'AAAA',
  'AG1lQGJveC50ZXN0AHdyb25n',
];
const TEXT = [
  'Subject: x',
  '',
  '.',
  '..',
  '.x',
  'From: a@b.example',
  'a\rb',
  'a\nb',
  '\0',
  'Received: x',
  '\xff\xfe',
  'l'.repeat(3000),
];

/** One line, without its end: a command of the grammar with good and bad words, a little broken now and then. */
export function smtpLine(random: Random): string {
  const line = command(random);
  return random(6) === 0 ? mutate(random, line) : line;
}

/** A line of a message. */
export function textLine(random: Random): string {
  return pick(random, TEXT);
}

/** CRLF nearly always. */
export function lineEnd(random: Random): string {
  return random(30) === 0 ? pick(random, ['\n', '\r', '\r\r\n', '', '\0\r\n']) : '\r\n';
}

function command(random: Random): string {
  const words = (from: readonly string[]): string =>
    Array.from({ length: random(3) }, () => ` ${pick(random, from)}`).join('');
  switch (random(16)) {
    case 0:
      return `EHLO ${pick(random, NAMES)}`;
    case 1:
      return `HELO ${pick(random, NAMES)}`;
    case 2:
    case 3:
    case 4:
      return `MAIL FROM:${pick(random, ADDRESSES)}${words(PARAMETERS)}`;
    case 5:
    case 6:
    case 7:
      return `RCPT TO:${pick(random, ADDRESSES)}${words(PARAMETERS)}`;
    case 8:
      return 'DATA';
    case 9:
      return `BDAT ${pick(random, ['0', '5', '5 LAST', '0 LAST', '-1', '99999999999999999999', 'x', '', '100000 LAST'])}\r\nhello`;
    case 10:
      return pick(random, [
        'RSET',
        'NOOP',
        'NOOP x',
        'RSET x',
        'QUIT x',
        'EXPN x',
        'HELP',
        'VRFY me',
        'VRFY <me@box.test>',
      ]);
    case 11:
    case 12:
      return `AUTH ${pick(random, ['PLAIN', 'LOGIN', 'SCRAM-SHA-256', 'XYZZY', ''])}${words(BASE64)}`;
    case 13:
      return pick(random, BASE64);
    case 14:
      return pick(random, ['STARTTLS x', 'XYZZY', '', ' ', 'GET / HTTP/1.1', '\x16\x03\x01', 'x'.repeat(5000)]);
    default:
      return pick(random, TEXT);
  }
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[random(from.length)] as T;
}

function mutate(random: Random, line: string): string {
  const at = random(line.length + 1);
  switch (random(4)) {
    case 0:
      return line.slice(0, at) + String.fromCharCode(random(256)) + line.slice(at);
    case 1:
      return line.slice(0, at) + line.slice(at + 1);
    case 2:
      return line.slice(0, at);
    default:
      return line + line.slice(at);
  }
}
