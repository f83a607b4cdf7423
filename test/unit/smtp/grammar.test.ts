import { describe, expect, test } from 'vitest';
import { parseBdat } from '../../../mail/smtp/bdat-command.ts';
import { decodeStrictBase64 } from '../../../mail/smtp/base64.ts';
import { parseHelo } from '../../../mail/smtp/helo-command.ts';
import { parseMail } from '../../../mail/smtp/mail-command.ts';
import { parseRcpt } from '../../../mail/smtp/rcpt-command.ts';
import { formatReply, reply } from '../../../mail/smtp/reply.ts';
import { isFault } from '../../../mail/smtp/syntax.ts';
import { decodeXtext, encodeXtext } from '../../../mail/smtp/xtext.ts';
import * as fc from '../../support/fast-check.ts';

/** The reply to a faulty command as `code enhanced`, or what was understood. */
function told<T extends object>(parsed: T): T | string {
  return isFault(parsed) ? `${parsed.fault.code} ${parsed.fault.enhanced}` : parsed;
}

describe('MAIL', () => {
  const plain = { size: undefined, body: '7BIT', smtputf8: false, ret: undefined, envid: undefined, requireTls: false };
  const a = { local: 'a', domain: 'b.example' };
  test.each<[string, unknown]>([
    ['FROM:<a@b.example>', { ...plain, sender: a }],
    ['from:<a@B.Example>', { ...plain, sender: a }],
    ['FROM: <a@b.example>', { ...plain, sender: a }],
    ['FROM:<a@b.example> ', { ...plain, sender: a }],
    ['FROM:<>', { ...plain, sender: undefined }],
    ['FROM:<"a b"@b.example>', { ...plain, sender: { local: 'a b', domain: 'b.example' } }],
    ['FROM:<"a>b\\""@b.example>', { ...plain, sender: { local: 'a>b"', domain: 'b.example' } }],
    ['FROM:<a@b.example> SIZE=12 BODY=8bitmime', { ...plain, sender: a, size: 12, body: '8BITMIME' }],
    ['FROM:<a@b.example> smtputf8', { ...plain, sender: a, smtputf8: true }],
    ['FROM:<a@b.example> RET=full ENVID=a+2Bb', { ...plain, sender: a, ret: 'FULL', envid: 'a+b' }],
    ['FROM:<a@b.example> AUTH=<>', { ...plain, sender: a }],
    ['FROM:<a@b.example> REQUIRETLS', { ...plain, sender: a, requireTls: true }],
    ['FROM:<a@b.example> SIZE=99999999999999999999', { ...plain, sender: a, size: 1e20 }],
    ['', '501 5.5.4'],
    ['TO:<a@b.example>', '501 5.5.4'],
    ['FROM:a@b.example', '501 5.5.4'],
    ['FROM:<a@b.example', '501 5.5.4'],
    ['FROM:<a@b.example>x', '501 5.5.4'],
    ['FROM:<a@b.example>SIZE=1', '501 5.5.4'],
    ['FROM:<<a@b.example>>', '501 5.5.4'],
    ['FROM:<a>', '553 5.1.7'],
    ['FROM:<postmaster>', '553 5.1.7'],
    ['FROM:<@r.example:a@b.example>', '553 5.1.7'],
    ['FROM:<a@b.example.>', '553 5.1.7'],
    ['FROM:<a@b..example>', '553 5.1.7'],
    ['FROM:<a@-b.example>', '553 5.1.7'],
    ['FROM:<a b@b.example>', '553 5.1.7'],
    ['FROM:<"a@b.example>', '501 5.5.4'],
    ['FROM:<bücher@b.example>', '553 5.6.7'],
    ['FROM:<a@b.example> SIZE', '501 5.5.4'],
    ['FROM:<a@b.example> SIZE=-1', '501 5.5.4'],
    ['FROM:<a@b.example> SIZE=1e3', '501 5.5.4'],
    ['FROM:<a@b.example> SIZE=1 SIZE=2', '501 5.5.4'],
    ['FROM:<a@b.example> BODY=BINARYMIME', '501 5.5.4'],
    ['FROM:<a@b.example> BODY', '501 5.5.4'],
    ['FROM:<a@b.example> SMTPUTF8=yes', '501 5.5.4'],
    ['FROM:<a@b.example> RET=ALL', '501 5.5.4'],
    ['FROM:<a@b.example> ENVID=a+2', '501 5.5.4'],
    ['FROM:<a@b.example> ENVID=a+0D+0Ab', '501 5.5.4'],
    ['FROM:<a@b.example> ENVID=a+e4b', '501 5.5.4'],
    ['FROM:<a@b.example> ENVID=' + 'a'.repeat(101), '501 5.5.4'],
    ['FROM:<a@b.example> AUTH=a=b', '501 5.5.4'],
    ['FROM:<a@b.example> NOTIFY=NEVER', '555 5.5.4'],
    ['FROM:<a@b.example> =x', '501 5.5.4'],
    ['FROM:<a@b.example> X=', '501 5.5.4'],
  ])('%s', (text, expected) => {
    expect(told(parseMail(text))).toEqual(expected);
  });
});

describe('RCPT', () => {
  const me = { kind: 'address', address: { local: 'me', domain: 'box.test' } };
  test.each<[string, unknown]>([
    ['TO:<me@box.test>', { path: me, utf8: false }],
    ['to: <me@BOX.test>', { path: me, utf8: false }],
    ['TO:<me@box.test> NOTIFY=delay,success', { path: me, utf8: false, notify: ['SUCCESS', 'DELAY'] }],
    ['TO:<me@box.test> NOTIFY=NEVER', { path: me, utf8: false, notify: ['NEVER'] }],
    ['TO:<me@box.test> ORCPT=rfc822;x+2By@z', { path: me, utf8: false, orcpt: 'rfc822;x+y@z' }],
    ['TO:<me@box.test> ORCPT=utf-8;bücher@z', { path: me, utf8: true, orcpt: 'utf-8;bücher@z' }],
    ['TO:<POSTMASTER>', { path: { kind: 'postmaster' }, utf8: false }],
    ['TO:<>', '501 5.1.3'],
    ['TO:me@box.test', '501 5.5.4'],
    ['TO:<@a.example,@b.example:me@box.test>', '553 5.1.3'],
    ['TO:<me@box.test> NOTIFY=', '501 5.5.4'],
    ['TO:<me@box.test> NOTIFY=NEVER,DELAY', '501 5.5.4'],
    ['TO:<me@box.test> NOTIFY=DELAY,DELAY', '501 5.5.4'],
    ['TO:<me@box.test> NOTIFY=ALWAYS', '501 5.5.4'],
    ['TO:<me@box.test> ORCPT=me@box.test', '501 5.5.4'],
    ['TO:<me@box.test> ORCPT=rfc822;', '501 5.5.4'],
    ['TO:<me@box.test> ORCPT=rfc822;a+0Ab', '501 5.5.4'],
    ['TO:<me@box.test> ORCPT=rfc822;a+00b', '501 5.5.4'],
    [`TO:<me@box.test> ORCPT=rfc822;${'a'.repeat(500)}`, '501 5.5.4'],
    ['TO:<me@box.test> SIZE=1', '555 5.5.4'],
  ])('%s', (text, expected) => {
    expect(told(parseRcpt(text))).toEqual(expected);
  });
});

describe('other words', () => {
  test.each([
    ['client.example', { name: 'client.example' }],
    ['WIN_PC', { name: 'WIN_PC' }],
    ['[192.0.2.1]', { name: '[192.0.2.1]' }],
    ['[IPv6:2001:db8::1]', { name: '[IPv6:2001:db8::1]' }],
    ['', '501 5.5.2'],
    ['two words', '501 5.5.2'],
    ['a(b)', '501 5.5.2'],
    ['a;b', '501 5.5.2'],
    ['x'.repeat(256), '501 5.5.2'],
  ])('EHLO %s', (text, expected) => expect(told(parseHelo(text))).toEqual(expected));

  test.each([
    ['0', { octets: 0, last: false }],
    ['12 LAST', { octets: 12, last: true }],
    ['12  last ', { octets: 12, last: true }],
    ['', '501 5.5.4'],
    ['-1', '501 5.5.4'],
    ['1.5', '501 5.5.4'],
    ['0x10', '501 5.5.4'],
    ['1 LAST LAST', '501 5.5.4'],
    ['9999999999999999', '501 5.5.4'],
  ])('BDAT %s', (text, expected) => expect(told(parseBdat(text))).toEqual(expected));

  test.each([
    ['', ''],
    ['AAAA', '\0\0\0'],
    ['YQ==', 'a'],
    ['YQ=', undefined],
    ['YQ', undefined],
    ['Y===', undefined],
    ['Y Q=', undefined],
    ['YQ==YQ==', undefined],
    ['_-A=', undefined],
  ])('base64 %s', (text, expected) => expect(decodeStrictBase64(text)?.toString()).toBe(expected));

  test('xtext gives back any octets', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const encoded = encodeXtext(text);
        expect(encoded).toMatch(/^[\x21-\x7e]*$/);
        expect(Buffer.from(decodeXtext(encoded)!, 'latin1').toString()).toBe(Buffer.from(text).toString());
      }),
      { seed: 1 },
    );
  });

  test.each([
    ['a+2B', 'a+'],
    ['a+2b', undefined],
    ['a=b', undefined],
    ['a b', undefined],
    ['+4', undefined],
  ])('xtext %s', (text, expected) => expect(decodeXtext(text)).toBe(expected));
});

describe('no words of a peer make the grammar throw or slow', () => {
  const words = fc.array(
    fc.constantFrom('<', '>', '"', '\\', '@', ' ', '=', '+', ':', ',', 'a', 'ü', 'FROM:', 'TO:', 'SIZE=', '\0', '('),
    { maxLength: 200 },
  );
  test('any words', () => {
    fc.assert(
      fc.property(words, (parts) => {
        for (const parse of [parseMail, parseRcpt]) {
          for (const start of ['', 'FROM:<', 'TO:<']) told(parse(start + parts.join('')));
        }
        const line = formatReply(reply(550, '5.1.1', parts.join('')), true);
        expect(line.split('\r\n')).toHaveLength(2);
      }),
      { seed: 2, numRuns: 500 },
    );
  });
});

describe('replies', () => {
  test.each<[string, boolean, string]>([
    ['Ok', false, '250 2.0.0 Ok\r\n'],
    ['a\r\n550 b', false, '250 2.0.0 a??550 b\r\n'],
    ['bücher\0', false, '250 2.0.0 b?cher?\r\n'],
    ['bücher\u2028', true, '250 2.0.0 bücher?\r\n'],
  ])('%j', (text, utf8, expected) => expect(formatReply(reply(250, '2.0.0', text), utf8)).toBe(expected));

  test('several lines', () => {
    expect(formatReply(reply(250, '', 'a', 'b', 'c'))).toBe('250-a\r\n250-b\r\n250 c\r\n');
    expect(formatReply(reply(550, '5.7.1', 'a', 'b'))).toBe('550-5.7.1 a\r\n550 5.7.1 b\r\n');
  });

  test('RFC 5321 4.5.3.1.5: a line has at most 512 octets', () => {
    for (const utf8 of [false, true]) {
      expect(Buffer.byteLength(formatReply(reply(550, '5.1.1', '€'.repeat(5000)), utf8))).toBeLessThanOrEqual(512);
    }
  });
});
