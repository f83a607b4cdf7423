import { describe, expect, test } from 'vitest';
import { addressKey, formatAddress, keyedAddress, parseAddress } from '../../../mail/message/address.ts';

describe('a local part beyond ASCII', () => {
  test.each(['änne', '日本', 'a\u{1f600}b', '"än ne"'])('may be %s', (local) => {
    const address = parseAddress(`${local}@box.test`);
    expect(address && formatAddress(address)).toBe(`${local}@box.test`);
  });

  test.each([
    ['NEL', '\x85'],
    ['another C1 control', '\x9b'],
    ['a line separator', '\u2028'],
    ['a paragraph separator', '\u2029'],
    ['half of a pair', '\ud800'],
    ['the other half', '\udfff'],
  ])('has no %s', (_name, text) => {
    expect(parseAddress(`a${text}b@box.test`)).toBeUndefined();
    expect(parseAddress(`"a${text}b"@box.test`)).toBeUndefined();
  });
});

test.each(['ann@shop.example', '"a b"@shop.example', '"a@b.example"@shop.example', '"a..b"@[192.0.2.1]'])(
  'the key of %s leads back to it',
  (text) => {
    const address = parseAddress(text);
    expect(address && keyedAddress(addressKey(address))).toEqual(address);
  },
);

test.each(['', '@', '@shop.example', 'ann'])('%j is no key', (key) => expect(keyedAddress(key)).toBeUndefined());
