import { expect, test } from 'vitest';
import { unsubscribeOffer } from '../../../src/unsubscribe/offer.ts';

const PASSED =
  'Authentication-Results: mx.box.test;\r\n\tspf=pass smtp.mailfrom=list.test;\r\n\tdkim=pass header.d=list.test\r\n\theader.s=s1;\r\n\tdmarc=pass (p=none) header.from=list.test\r\n';
const BOTH = 'from:to:subject:list-unsubscribe:list-unsubscribe-post';
const LINKS = 'List-Unsubscribe: <mailto:leave@list.test?subject=x>,\r\n <https://list.test/u?id=1>\r\n';
const POST = 'List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n';
const signature = (covers = BOTH, domain = 'list.test', selector = 's1'): string =>
  `DKIM-Signature: v=1; a=rsa-sha256; d=${domain}; s=${selector};\r\n h=${covers}; bh=AA==; b=BB==\r\n`;
const REST = 'From: News <news@list.test>\r\nSubject: News\r\n\r\n';

const ONE_CLICK = { kind: 'one-click', url: 'https://list.test/u?id=1' };
const MAIL = { kind: 'mailto', href: 'mailto:leave@list.test?subject=x' };

test.each([
  ['a passing signature that covers both fields', PASSED, signature() + LINKS + POST, ONE_CLICK],
  [
    'fields in another case',
    PASSED,
    signature('From:List-Unsubscribe:LIST-UNSUBSCRIBE-POST') + LINKS + POST,
    ONE_CLICK,
  ],
  ['no signature', PASSED, LINKS + POST, MAIL],
  ['a signature that does not cover the promise', PASSED, signature('from:list-unsubscribe') + LINKS + POST, MAIL],
  ['a signature of somebody whose signature failed', PASSED, signature(BOTH, 'evil.test') + LINKS + POST, MAIL],
  ['another selector than the one that passed', PASSED, signature(BOTH, 'list.test', 's2') + LINKS + POST, MAIL],
  [
    'a signature added on the way that covers more than the one that passed',
    PASSED,
    signature() + signature('from:to') + LINKS + POST,
    MAIL,
  ],
  ['a failing signature', PASSED.replace('dkim=pass', 'dkim=fail'), signature() + LINKS + POST, MAIL],
  ['results in the message itself', '', PASSED + signature() + LINKS + POST, MAIL],
  ['no promise', PASSED, signature() + LINKS, MAIL],
  ['another promise', PASSED, signature() + LINKS + POST.replace('One-Click', 'Two-Clicks'), MAIL],
  ['two promises', PASSED, signature() + LINKS + POST + POST, MAIL],
  ['two fields of addresses', PASSED, signature() + LINKS + LINKS + POST, { kind: 'none' }],
  [
    'http only',
    PASSED,
    `${signature()}List-Unsubscribe: <http://list.test/u>\r\n${POST}`,
    { kind: 'link', url: 'http://list.test/u' },
  ],
  [
    'an address of a script',
    PASSED,
    `${signature()}List-Unsubscribe: <javascript:alert(1)>\r\n${POST}`,
    { kind: 'none' },
  ],
  ['no address', PASSED, signature() + POST, { kind: 'none' }],
  ['no closing bracket', PASSED, `${signature()}List-Unsubscribe: <https://list.test/u\r\n${POST}`, { kind: 'none' }],
])('%s', (_, trace, header, offer) => {
  expect(unsubscribeOffer(trace, header + REST)).toEqual(offer);
});

test('a header of half a megabyte of openings offers nothing', () => {
  const header = (size: number): string =>
    `${signature()}List-Unsubscribe: ${'<https:// ,'.repeat(size)}\r\n${'DKIM-Signature: h=:;=;'.repeat(size)}\r\n${REST}`;
  expect(unsubscribeOffer(PASSED.repeat(50), header(20_000))).toEqual({ kind: 'none' });
});
