import { describe, expect, test } from 'vitest';
import { formatAddress, parseAddress } from '../../../mail/message/address.ts';

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
