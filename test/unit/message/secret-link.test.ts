import { expect, test } from 'vitest';
import { indexMessage, MessageIndexer } from '../../../mail/message/indexer.ts';
import { SecretLinkForms } from '../../../mail/message/secret-link.ts';
import { growth, PROPORTIONAL } from '../../support/cost.ts';

const links = new SecretLinkForms({
  hosts: ['mail.box.test', '127.0.0.1'],
  paths: ['/auth/reset', '/auth/setup', '/approve'],
});
const TOKEN = '0123456789abcdef0123456789abcdef0123456789abcdef';
const URL_ = `https://mail.box.test/auth/reset?token=${TOKEN}`;

const mail = (header: readonly string[], body: string): Buffer =>
  Buffer.from(['From: a@b.test', 'Subject: A letter', ...header, '', body].join('\r\n'), 'latin1');
const encoded = (type: string, octets: string | Buffer): Buffer =>
  mail(
    [`Content-Type: ${type}`, 'Content-Transfer-Encoding: base64'],
    Buffer.from(octets).toString('base64').replace(/.{76}/g, '$&\r\n'),
  );
const quoted = (text: string): string =>
  text
    .replaceAll('=', '=3D')
    .replace(/.{30}(?!\r)/g, (line) => (line.endsWith('=') || /=.?$/.test(line) ? line : `${line}=\r\n`));
const part = (octets: Buffer): Buffer =>
  mail(
    ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=b'],
    ['--b', 'Content-Type: message/rfc822', '', octets.toString('latin1'), '--b--', ''].join('\r\n'),
  );

const CARRIES: [string, Buffer][] = [
  ['as it was written', mail([], `Open\r\n${URL_}\r\n`)],
  ['with a port', mail([], `http://127.0.0.1:8080/approve?id=out_1&user=usr_2&token=${TOKEN}`)],
  ['in other letters', mail([], URL_.toUpperCase())],
  ['quoted', mail([], `> > ${URL_}`)],
  ['cut over lines', mail([], `> ${URL_.slice(0, 60)}\r\n> ${URL_.slice(60)}`)],
  ['in quoted-printable', mail(['Content-Transfer-Encoding: quoted-printable'], quoted(`Open it: ${URL_} now`))],
  ['in base64', encoded('text/plain; charset=utf-8', `Open it\n${URL_}`)],
  ['in base64 of UTF-16', encoded('text/plain; charset=utf-16le', Buffer.from(`Open ${URL_}`, 'utf16le'))],
  [
    'in an attribute with a reference',
    mail([], `<a href="https://mail.box.test/approve?id=1&amp;token=${TOKEN}">x</a>`),
  ],
  [
    'in references',
    mail(
      [],
      Array.from(URL_)
        .map((one) => `&#${one.charCodeAt(0)};`)
        .join(''),
    ),
  ],
  [
    'in hexadecimal references',
    mail(
      [],
      Array.from(URL_)
        .map((one) => `&#x${one.charCodeAt(0).toString(16)};`)
        .join(''),
    ),
  ],
  ['cut by tags', mail([], `https://mail.box.test/auth/<wbr>reset?token=${TOKEN}`)],
  ['inside of another link', mail([], `https://safe.example/?url=${encodeURIComponent(URL_)}&data=1`)],
  ['twice inside of another link', mail([], `https://a.example/?u=${encodeURIComponent(encodeURIComponent(URL_))}`)],
  [
    'as a gateway writes it',
    mail([], `https://defense.example/v2/url?u=https-3A__mail.box.test_auth_reset-3Ftoken-3D${TOKEN}&d=x`),
  ],
  ['in an attached message', part(encoded('text/plain', URL_))],
  ['in a message attached in an attached message', part(part(encoded('text/html', `<a href="${URL_}">x</a>`)))],
  ['in a file that is a message', encoded('application/octet-stream', encoded('text/plain', `Hello, ${URL_}`))],
  ['in the header', mail([`X-Was: ${URL_}`], 'nothing')],
  ['behind much else', mail([], `${'lorem ipsum dolor sit amet\r\n'.repeat(8000)}${URL_}`)],
];

test.each(CARRIES)('a link is found %s, however the octets come', (_, octets) => {
  expect(indexMessage(octets, links).secretLink).toBe(true);
  for (const size of [7, 1000]) {
    const indexer = new MessageIndexer(links);
    for (let at = 0; at < octets.length; at += size) indexer.push(octets.subarray(at, at + size));
    expect(indexer.end().secretLink).toBe(true);
  }
});

test.each([
  ['of another host', `https://shop.example/auth/reset?token=${TOKEN}`],
  ['to another page', `https://mail.box.test/auth/login?token=${TOKEN}`],
  ['without a secret', 'https://mail.box.test/auth/reset?token=yours'],
  ['in words', 'The token stands behind mail.box.test/auth/reset, said the manual'],
])('a link %s is none', (_, text) => {
  const index = indexMessage(mail([], text), links);
  expect(index.secretLink).toBeUndefined();
  expect(index.preview).toContain('token');
});

test('nothing of the link stands in the preview', () => {
  const { preview } = indexMessage(mail([], `Open this page:\r\n${URL_}\r\nWithin an hour.`), links);
  expect(preview).toBe('Open this page: \u2026 Within an hour.');
});

test('what is looked for costs little on mail that is full of what looks like it', async () => {
  const one = `https://mail.box.test/auth/reset?x="token=${'%74&#116;_-3D'.repeat(20)} dG9rZW4 `;
  const read = (size: number): unknown => indexMessage(mail([], one.repeat(size / one.length)), links);
  expect(await growth(read, 4 * 1024 * 1024)).toBeLessThan(PROPORTIONAL);
});
