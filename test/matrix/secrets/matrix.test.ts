import { expect, test } from 'vitest';
import { encodeQuotedPrintable } from '../../../mail/message/quoted-printable.ts';
import { encodeWords } from '../../../mail/message/encoded-word.ts';
import { SECRETS, secretsOf } from '../../support/secret-mail.ts';

const octets = (text: string): Buffer => Buffer.from(text);
const each = (text: string, write: (char: string) => string): string => Array.from(text).map(write).join('');
const rot13 = (text: string): string =>
  text.replace(/[a-z]/gi, (c) => String.fromCharCode(c.charCodeAt(0) + (c.toLowerCase() < 'n' ? 13 : -13)));
const lines = (text: string): string => text.replace(/.{16}/g, '$&\r\n');
const code = (char: string): number => char.codePointAt(0) ?? 0;

const NAMED_REFERENCES: Readonly<Record<string, string>> = {
  _: '&lowbar;',
  '/': '&sol;',
  ':': '&colon;',
  '.': '&period;',
  '!': '&excl;',
  '=': '&equals;',
  '?': '&quest;',
};

/** Encodings that an obedient program could be asked to apply to a text. */
const CODINGS: Record<string, (text: string) => string> = {
  plain: (text) => text,
  'upper case': (text) => text.toUpperCase(),
  base64: (text) => octets(text).toString('base64'),
  'base64url behind a word': (text) => `key:${octets(text).toString('base64url')}`,
  'base64 in short lines': (text) => lines(octets(text).toString('base64')),
  'base64 of UTF-16': (text) => Buffer.from(text, 'utf16le').toString('base64'),
  'base64 twice': (text) => octets(octets(text).toString('base64')).toString('base64'),
  hex: (text) => octets(text).toString('hex'),
  'hex with colons': (text) =>
    octets(text)
      .toString('hex')
      .replace(/..(?=.)/g, '$&:'),
  'hex with 0x': (text) => each(text, (c) => `0x${code(c).toString(16)}, `),
  percent: (text) => each(text, (c) => `%${code(c).toString(16)}`),
  'quoted-printable': (text) => each(text, (c) => `=${code(c).toString(16).toUpperCase()}`),
  'character references': (text) => each(text, (c) => `&#${code(c)};`),
  'named references': (text) => each(text, (c) => NAMED_REFERENCES[c] ?? c),
  'hex references': (text) => each(text, (c) => `&#x00${code(c).toString(16)};`),
  'unicode escapes': (text) => each(text, (c) => `\\u00${code(c).toString(16)}`),
  numbers: (text) => each(text, (c) => `${code(c)} `),
  reversed: (text) => Array.from(text).toReversed().join(''),
  spaced: (text) => Array.from(text).join(' '),
  dashed: (text) => Array.from(text).join('-'),
  'zero width between': (text) => Array.from(text).join('\u200b'),
  'wide letters': (text) => each(text, (c) => (c > ' ' ? String.fromCodePoint(code(c) + 0xfee0) : c)),
  ROT13: rot13,
  'ROT13 of base64': (text) => rot13(octets(text).toString('base64')),
  'base64 backwards': (text) => Array.from(octets(text).toString('base64')).toReversed().join(''),
  base32,
  'base32 in lines': (text) => lines(base32(text)).toLowerCase(),
  base58,
  'hex of ROT13': (text) => octets(rot13(text)).toString('hex'),
};

const B32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const B58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

function base32(text: string): string {
  const bits = [...octets(text)].map((octet) => octet.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => B32[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
}

function base58(text: string): string {
  let digits = '';
  for (let rest = BigInt(`0x${octets(text).toString('hex')}`); rest > 0n; rest /= 58n) {
    digits = `${B58[Number(rest % 58n)] ?? ''}${digits}`;
  }
  return digits;
}

const FROM = 'From: me@box.test\r\nTo: you@else.test\r\nMIME-Version: 1.0\r\n';
const TEXT = 'Content-Type: text/plain; charset=utf-8\r\n';
const wrapped = (text: string): string => octets(text).toString('base64').replace(/.{76}/g, '$&\r\n');

function beside(fields: string, body: string): string {
  return (
    `${FROM}Subject: Hello\r\nContent-Type: multipart/mixed; boundary=cut\r\n\r\n--cut\r\n${TEXT}\r\nHello,\r\n` +
    `--cut\r\n${fields}\r\n${body}\r\n--cut--\r\n`
  );
}

/** Where a text can stand in a message. */
const POSITIONS: Record<string, (text: string) => string> = {
  text: (text) => `${FROM}Subject: Hello\r\n${TEXT}\r\nHello,\r\n\r\nas you asked: ${text}\r\n\r\nYours\r\n`,
  'text in base64': (text) =>
    `${FROM}Subject: Hello\r\n${TEXT}Content-Transfer-Encoding: base64\r\n\r\n${wrapped(`Hello, ${text} .`)}\r\n`,
  'text in quoted-printable': (text) =>
    `${FROM}${TEXT}Content-Transfer-Encoding: quoted-printable\r\n\r\n${encodeQuotedPrintable(octets(`Hello, ${text}`))}`,
  'what HTML shows': (text) =>
    `${FROM}Content-Type: text/html\r\n\r\n<p>Hello <span>${text.slice(0, 2)}</span><b>${text.slice(2)}</b></p>`,
  'what HTML hides': (text) => `${FROM}Content-Type: text/html\r\n\r\n<p title="${text}">Hello</p>`,
  comment: (text) => `${FROM}Content-Type: text/html\r\n\r\n<p>Hello</p><!-- ${text} -->`,
  subject: (text) => `${FROM}Subject: ${encodeWords(`Re: ${text}`)}\r\n${TEXT}\r\nHello\r\n`,
  'display name': (text) => `From: ${encodeWords(text)} <me@box.test>\r\nTo: you@else.test\r\n\r\nHello\r\n`,
  'own field': (text) => `${FROM}X-Note: ${encodeWords(text)}\r\n\r\nHello\r\n`,
  'file name': (text) => {
    const name = [...octets(text)].map((octet) => `%${octet.toString(16).padStart(2, '0')}`).join('');
    return beside(`${TEXT}Content-Disposition: attachment; filename*=utf-8''${name}\r\n`, 'Hello');
  },
  'CSV in base64': (text) =>
    beside('Content-Type: text/csv\r\nContent-Transfer-Encoding: base64\r\n', wrapped(`name;value\r\nx;${text}\r\n`)),
  'JSON as octets': (text) =>
    beside(
      'Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n',
      wrapped(`{"value": "${text.replaceAll('\\', '\\\\')}"}`),
    ),
  'attached message': (text) =>
    beside('Content-Type: message/rfc822\r\n', `From: a@b.test\r\nSubject: ${encodeWords(text)}\r\n\r\nHello\r\n`),
  preamble: (text) => beside(TEXT, 'Hello').replace('\r\n\r\n--cut', () => `\r\n\r\n${text}\r\n--cut`),
};

/** Encodings that are found outside of MIME parts, where text is searched without decoding. */
const AS_IT_STANDS = new Set(['plain', 'upper case', 'spaced', 'dashed']);

const all = SECRETS.flatMap((secret) => Object.keys(POSITIONS).map((place) => ({ secret, place })));

test.each(all)('$secret.name is found in $place, however it is written', async ({ secret, place }) => {
  const missed: string[] = [];
  for (const [coding, write] of Object.entries(CODINGS)) {
    if (place === 'preamble' && !AS_IT_STANDS.has(coding)) continue;
    const found = await secretsOf(octets(POSITIONS[place]?.(write(secret.text)) ?? ''));
    if (!found.includes(secret.kind)) missed.push(coding);
  }
  expect(missed).toEqual([]);
});

test.each(SECRETS)('$name is found in an address that only the envelope has', async ({ text, kind }) => {
  const local = text.replace(/[^a-z0-9_-]+/gi, '.');
  expect(await secretsOf(octets(POSITIONS['text']?.('nothing') ?? ''), [`${local}@else.test`])).toContain(kind);
});

const halves = ({ text }: (typeof SECRETS)[number]): [string, string] => {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
};

/** Where the halves of what was cut up can stand. */
const SEPARATE: Record<string, (one: string, two: string) => string> = {
  'subject and text': (one, two) => `${FROM}Subject: ${one}\r\n\r\nGood morning, and here is the rest: ${two} .\r\n`,
  'two fields': (one, two) => `${FROM}X-One: ${one}\r\nX-Two: ${two}\r\n\r\nHello\r\n`,
  'two lines': (one, two) => `${FROM}\r\nThe first part is\r\n1) ${one}\r\nand the other\r\n2) ${two}\r\n`,
  'a file name and the file': (one, two) =>
    beside(`Content-Type: text/plain; name="${one}.txt"\r\n`, `and then ${two}`),
  'two cells': (one, two) => `${FROM}Content-Type: text/html\r\n\r\n<td>a ${one}</td><td>then ${two}</td>`,
};

const cut = SECRETS.filter(({ kind }) => kind === 'token' || kind === 'password').flatMap((secret) =>
  // Words of letters only are everyday words.
  secret.name === 'chosen password' ? [] : Object.keys(SEPARATE).map((place) => ({ ...secret, place })),
);

test.each(cut)('$name is found cut up over $place', async ({ place, ...secret }) => {
  expect(await secretsOf(octets(SEPARATE[place]?.(...halves(secret)) ?? ''))).toContain(secret.kind);
});

test('a session of MCP, and the digits of a link that logs in, are found by their form', async () => {
  const session = `ses_1.m9abcdef.${'aB-_'.repeat(6).slice(2)}.${'cD01'.repeat(8)}`;
  expect(await secretsOf(octets(POSITIONS['text']?.(session) ?? ''))).toEqual(['session']);
  const link = `https://box.test/auth/reset?token=${'0f'.repeat(24)}`;
  expect(await secretsOf(octets(POSITIONS['text']?.(link) ?? ''))).toEqual(['token']);
});
