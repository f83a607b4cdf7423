import { createSecretKey } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type Address, formatAddress, parseAddress } from '../../../mail/message/address.ts';
import { reportAddress, copyOfReportAddress } from '../../../mail/message/report-address.ts';

const KEY = createSecretKey(Buffer.alloc(32, 1));
const address = (text: string): Address => parseAddress(text) ?? expect.fail(text);

describe('the envelope sender of one copy', () => {
  test.each([
    ['me@box.test', /^me\+r16-[a-z2-7]{12}@box\.test$/],
    ['Me.Too+list@box.test', /^Me\.Too\+list\+r16-[a-z2-7]{12}@box\.test$/],
    ['"a b"@box.test', /^"a b\+r16-[a-z2-7]{12}"@box\.test$/],
    ['gr\u{fc}n@box.test', /^gr\u00fcn\+r16-[a-z2-7]{12}@box\.test$/],
    // RFC 5321 4.5.3.1.1: no more than 64 octets before the @.
    [`${'a'.repeat(49)}@box.test`, /^bounces\+r16-[a-z2-7]{12}@box\.test$/],
    [`${'\u{fc}'.repeat(25)}@box.test`, /^bounces\+/],
  ])('%s', (sender, form) => {
    const tagged = reportAddress(address(sender), 42, KEY);
    expect(formatAddress(tagged)).toMatch(form);
    expect(parseAddress(formatAddress(tagged))).toEqual(tagged);
    expect(copyOfReportAddress(tagged, KEY)).toBe(42);
  });

  test.each([0, 1, 35, 2 ** 31, 2 ** 48])('carries number %d', (copy) => {
    expect(copyOfReportAddress(reportAddress(address('me@box.test'), copy, KEY), KEY)).toBe(copy);
  });

  test('is the same in capitals', () => {
    const { local, domain } = reportAddress(address('me@box.test'), 42, KEY);
    expect(copyOfReportAddress({ local: local.toUpperCase(), domain }, KEY)).toBe(42);
  });

  test('is good for nothing with another number, at another domain, of another box, or cut', () => {
    const { local, domain } = reportAddress(address('me@box.test'), 42, KEY);
    const wrong = [
      { local: local.replace('r16', 'r17'), domain },
      { local, domain: 'other.test' },
      { local: local.slice(0, -1), domain },
      { local: `${local}a`, domain },
      { local: `${local.slice(0, -1)}${local.endsWith('a') ? 'b' : 'a'}`, domain },
      { local: local.slice(local.indexOf('+') + 1), domain },
      { local: 'me+r16-', domain },
      { local: 'me', domain },
      { local: `me+r${'z'.repeat(10)}-${'a'.repeat(12)}`, domain },
    ];
    expect(wrong.map((one) => copyOfReportAddress(one, KEY))).toEqual(wrong.map(() => undefined));
    expect(copyOfReportAddress({ local, domain }, createSecretKey(Buffer.alloc(32, 2)))).toBeUndefined();
  });
});
