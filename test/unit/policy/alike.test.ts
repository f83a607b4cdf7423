import { describe, expect, test } from 'vitest';
import { BRANDS } from '../../../mail/policy/look-alike/brands.ts';
import { editDistance } from '../../../mail/policy/look-alike/edit-distance.ts';
import { findLookAlike } from '../../../mail/policy/look-alike/look-alike.ts';
import { mixesScripts, skeleton } from '../../../mail/policy/look-alike/skeleton.ts';
import { isFreeMailProvider } from '../../../mail/policy/free-mail.ts';
import { registrableDomain } from '../../../mail/policy/registrable.ts';

test.each([
  ['example.com', 'example.com'],
  ['a.b.Example.com', 'example.com'],
  ['mail.shop.co.uk', 'shop.co.uk'],
  ['co.uk', 'co.uk'],
  ['x.com.br', 'x.com.br'],
  ['deep.evil.github.io', 'evil.github.io'],
  ['a.b.blob.core.windows.net', 'b.blob.core.windows.net'],
  ['localhost', 'localhost'],
  ['', ''],
  ['www.web.de', 'web.de'],
  ['evil.eu.org', 'evil.eu.org'],
  ['www.bank.eu.org', 'bank.eu.org'],
  ['www.city.kawasaki.jp', 'city.kawasaki.jp'],
  ['a.evil.weebly.com', 'evil.weebly.com'],
  ['weebly.com', 'weebly.com'],
  ['x_y.example.com.', 'example.com'],
  ['192.0.2.1', '192.0.2.1'],
  ['пример.испытание.рф', 'испытание.рф'],
])('%s belongs to %s', (host, owner) => expect(registrableDomain(host)).toBe(owner));

test.each([
  ['paypal', 'paypal', 0],
  ['paypal', 'paypla', 1],
  ['paypal', 'papal', 1],
  ['paypal', 'paypall', 1],
  ['paypal', 'pavpal', 1],
  ['paypal', 'pauper', 3],
  ['a', 'abcdef', 3],
])('from %s to %s: %i', (one, other, far) => {
  expect(editDistance(one, other, 2)).toBe(far);
  expect(editDistance(other, one, 2)).toBe(far);
});

test('names that look the same have one skeleton', () => {
  for (const name of [
    'paypal',
    'PayPaI',
    'pаypаl',
    'раураӏ',
    'pay-pal',
    'páypàl',
    'p4yp41',
    'ｐａｙｐａｌ',
    'pay\u200bpal',
  ])
    expect(skeleton(name), name).toBe(skeleton('paypal'));
  expect(skeleton('rnodern-vvorld')).toBe(skeleton('modernworld'));
  expect(skeleton('lunch')).not.toBe(skeleton('launch'));
});

describe('look-alikes', () => {
  const known = ['paypal.com', 'mybakery.example', 'ing.com', 'internationalshipping.example'];
  test.each([
    ['paypa1.com', 'paypal.com', 'letters'],
    ['xn--pypal-4ve.com', 'paypal.com', 'letters'],
    ['login.paypaI.com', 'paypal.com', 'letters'],
    ['rnybakery.net', 'mybakery.example', 'letters'],
    ['mybakrey.example', 'mybakery.example', 'typo'],
    ['internationalshiping.example', 'internationalshipping.example', 'typo'],
    ['paypal.com.evil.example', 'paypal.com', 'inside'],
    ['paypal-com.evil.example', 'paypal.com', 'inside'],
    ['paypal.evil.example', 'paypal.com', 'below'],
    ['ing.com.evil.example', 'ing.com', 'inside'],
    ['paypal-security.example', 'paypal.com', 'added'],
    ['xn--ng-goc.com', 'ing.com', 'letters'],
  ])('%s passes for %s: %s', (host, of, how) =>
    expect(findLookAlike(host, known)).toEqual({ imitated: of, technique: how }),
  );

  test.each([
    'paypal.com',
    'mail.paypal.com',
    'paypal.de', // the same name at home
    'ins.com', // short names are near to each other
    'ing.evil.example',
    'paydal-partners.example',
    'bakery.example',
    'localhost',
    '',
  ])('%s passes for nothing', (host) => expect(findLookAlike(host, known)).toBeUndefined());

  test('no brand passes for another one', () => {
    const domains = BRANDS.map(({ domain }) => domain);
    for (const [i, domain] of domains.entries()) {
      const others = domains.filter((_, at) => at !== i);
      expect(findLookAlike(`mail.${domain}`, others), domain).toBeUndefined();
    }
    expect(domains.every((domain) => /^[a-z0-9.-]+\.[a-z]+$/.test(domain))).toBe(true);
  });
});

test('scripts in one label', () => {
  expect(mixesScripts('xn--pypal-4ve.com')).toBe(true);
  expect(mixesScripts('xn--e1awd7f.com')).toBe(false);
  expect(mixesScripts('münchen.de')).toBe(false);
  expect(mixesScripts('почта.example')).toBe(false);
});

test('free mail', () => {
  expect(['gmail.com', 'mail.yahoo.co.uk', 'gmx.de'].every(isFreeMailProvider)).toBe(true);
  expect(['gmail.evil.example', 'gmail.co', 'mycompany.com', ''].some(isFreeMailProvider)).toBe(false);
});
