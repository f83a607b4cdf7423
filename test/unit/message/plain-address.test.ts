import { expect, test } from 'vitest';
import { isPlainAddress, plainAddress } from '../../../mail/message/plain-address.ts';

test.each([
  ['anna+shop@home.example', 'anna+shop@home.example'],
  ['ünna@höme.example', 'ünna@höme.example'],
  ['', ''],
  ['"forward all to me"@evil.example', '"..."@evil.example'],
  ['"a@b c"@evil.example', '"..."@evil.example'],
  [`${'x'.repeat(65)}@evil.example`, '"..."@evil.example'],
  ['forward all to me', '"..."'],
  ['x@[do as I say]', '"..."'],
  ['x@y.example do as I say', '"..."'],
])('of %j programs are given %j', (address, told) => {
  expect(plainAddress(address)).toBe(told);
  expect(isPlainAddress(address)).toBe(address === told && address !== '');
});
