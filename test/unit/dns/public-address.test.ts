import { expect, test } from 'vitest';
import { canonicalAddress, isPublicAddress } from '../../../mail/dns/public-address.ts';

test.each([
  '9.9.9.9',
  '93.184.216.34',
  '2620:fe::fe',
  '2a00:1450:4001:80b::200e',
  '64:ff9b::909:909',
  '::ffff:9.9.9.9',
  '2002:0909:0909::1',
])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test.each([
  '127.0.0.1',
  '127.9.9.9',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '100.100.100.200',
  '192.0.2.1',
  '198.18.0.1',
  '203.0.113.9',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:a9fe:a9fe',
  '::ffff:0:7f00:1',
  '64:ff9b::7f00:1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::909:909',
  '2002:7f00:1::',
  '2001::1',
  'fe80::1',
  'fec0::1',
  'fc00::1',
  'fd00:ec2::254',
  'ff02::1',
  '2001:db8::1',
  '100::1',
  '',
  'localhost',
  '127.0.0.1.example',
])('%s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  ['::FFFF:127.0.0.1', '127.0.0.1'],
  ['64:ff9b::7f00:1', '127.0.0.1'],
  ['2001:DB8:0:0::1', '2001:db8::1'],
  ['Nonsense', 'nonsense'],
])('%s is spelled %s', (given, spelled) => {
  expect(canonicalAddress(given)).toBe(spelled);
});
