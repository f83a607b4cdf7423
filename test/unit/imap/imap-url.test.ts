import { expect, test } from 'vitest';
import { parseImapUrl } from '../../../mail/imap/url/imap-url.ts';
import * as fc from '../../support/fast-check.ts';

const WHOLE = { path: '', what: 'all' };
const NOTHING = { user: undefined, host: undefined, mailbox: undefined, uidValidity: undefined, partial: undefined };

test.each([
  ['/Drafts;UIDVALIDITY=385759045/;UID=20/;section=HEADER', { mailbox: 'Drafts', uidValidity: 385759045, uid: 20, section: { path: '', what: 'header' } }],
  ['/Drafts/;uid=20/;Section=1.2.MIME', { mailbox: 'Drafts', uid: 20, section: { path: '1.2', what: 'mime' } }],
  ['/a/b%20c/;UID=7/;PARTIAL=0.1024', { mailbox: 'a/b c', uid: 7, partial: { offset: 0, length: 1024 } }],
  ['/inbox/;UID=7/;SECTION=1/;PARTIAL=5', { mailbox: 'INBOX', uid: 7, section: { path: '1', what: 'all' }, partial: { offset: 5, length: Number.MAX_SAFE_INTEGER } }],
  ['/%C3%A4/;UID=1', { mailbox: 'ä', uid: 1 }],
  ['/;UID=4', { uid: 4 }],
  [';UID=4/;SECTION=TEXT', { uid: 4, section: { path: '', what: 'text' } }],
  ['imap://joe@example.com/INBOX/;uid=20', { user: 'joe', host: 'example.com', mailbox: 'INBOX', uid: 20 }],
  ['IMAP://joe%40box.test;AUTH=*@example.com:143/INBOX/;uid=20', { user: 'joe@box.test', host: 'example.com', mailbox: 'INBOX', uid: 20 }],
  ['imap://example.com/INBOX/;uid=20', { host: 'example.com', mailbox: 'INBOX', uid: 20 }],
  ['/INBOX/;UID=1/;SECTION=HEADER.FIELDS%20(DATE%20FROM)', { mailbox: 'INBOX', uid: 1, section: { path: '', what: 'fields', fields: ['DATE', 'FROM'] } }],
])('%s', (url, parts) => {
  expect(parseImapUrl(url)).toEqual({ ...NOTHING, section: WHOLE, ...parts });
}); // prettier-ignore

test.each([
  '', '/', '/INBOX', '/INBOX/', '/INBOX/;UID=', '/INBOX/;UID=0', '/INBOX/;UID=x', '/INBOX/;UID=1/', '/INBOX/;UID=1/;SECTION=',
  '/INBOX/;UID=1/;SECTION=9.HEAD', '/INBOX/;UID=1/;SECTION=1]', '/INBOX/;UID=1/;PARTIAL=', '/INBOX/;UID=1/;PARTIAL=1.0',
  '/INBOX/;UID=1/;PARTIAL=1/;SECTION=1', '/INBOX;UIDVALIDITY=/;UID=1', '/INBOX;UIDVALIDITY=1;UIDVALIDITY=2/;UID=1',
  ';UIDVALIDITY=7/;UID=1', '/%/;UID=1', '/%ff/;UID=1', '/a%00/;UID=1', 'http://x/INBOX/;UID=1', 'imap://;UID=1',
  '/INBOX/;UID=1;URLAUTH=anonymous:internal:00', '/INBOX/;UID=99999999999',
])('refused: %s', (url) => {
  expect(parseImapUrl(url)).toBeUndefined();
}); // prettier-ignore

test('nothing random makes it throw, and what it takes is in bounds', () => {
  const pieces = fc.constantFrom(
    '/',
    ';',
    'UID=',
    '1',
    'INBOX',
    '/;UID=1',
    ';UIDVALIDITY=2',
    '/;SECTION=1',
    '/;PARTIAL=1.2',
    '%41',
    '%',
    'imap://a@b/',
    'HEADER',
    '.',
    ' ',
    '\0',
    'ä',
    '%0d%0a',
  );
  fc.assert(
    fc.property(
      fc.array(pieces).map((parts) => parts.join('')),
      (text) => {
        const url = parseImapUrl(text);
        if (url === undefined) return;
        expect(url.uid).toBeGreaterThan(0);
        expect(url.mailbox ?? '').not.toMatch(/[\r\n\0]/);
      },
    ),
    { numRuns: 2000 },
  );
});
