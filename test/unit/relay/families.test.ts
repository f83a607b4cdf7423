import { expect, test } from 'vitest';
import type { Host } from '../../../mail/relay/destination.ts';
import { AddressFamilies } from '../../../mail/relay/address-families.ts';

const host = (ip: string): Host => ({ name: 'mx.test', ip, port: 25 });
const SIX = host('2620:fe::1');
const FOUR = host('9.9.9.9');
const MINUTE = 60_000;

test('IPv6 that cannot be reached three times in a row comes last for ten minutes', () => {
  let now = 0;
  const families = new AddressFamilies(undefined, () => now);
  const first = (): string | undefined => families.orderHosts([SIX, FOUR])[0]?.ip;
  for (const ip of ['2620::1', '2620::1', '2620::1', '2620::2']) families.markUnreachable(host(ip));
  expect(first()).toBe(SIX.ip);
  families.markUnreachable(host('2620::3'));
  expect(first()).toBe(FOUR.ip);
  expect(families.orderHosts([SIX])).toEqual([SIX]);
  now = 10 * MINUTE;
  expect(first()).toBe(SIX.ip);
});

test('one that can be reached ends the doubt, and IPv4 says nothing of IPv6', () => {
  const families = new AddressFamilies(undefined, () => 0);
  const doubt = (): void => ['2620::1', '2620::2', '2620::3'].forEach((ip) => families.markUnreachable(host(ip)));
  for (let n = 0; n < 10; n += 1) families.markUnreachable(host(`9.9.9.${n}`));
  expect(families.orderHosts([SIX, FOUR])).toEqual([SIX, FOUR]);
  doubt();
  families.markConnected(FOUR);
  expect(families.orderHosts([SIX, FOUR])).toEqual([FOUR, SIX]);
  families.markConnected(SIX);
  expect(families.orderHosts([SIX, FOUR])).toEqual([SIX, FOUR]);
});

test('an address of one family is the only family', () => {
  const families = new AddressFamilies({ ipv4: '192.0.2.1' }, () => 0);
  expect(families.orderHosts([SIX, FOUR])).toEqual([FOUR]);
  expect(families.sourceAddress(FOUR)).toBe('192.0.2.1');
  const both = new AddressFamilies({ ipv4: '192.0.2.1', ipv6: '2001:db8::1' }, () => 0);
  expect(both.orderHosts([SIX, FOUR])).toEqual([SIX, FOUR]);
  expect(both.sourceAddress(SIX)).toBe('2001:db8::1');
});

test('IPv6 is waited for shortly where IPv4 can follow, and wholly where it cannot', () => {
  const families = new AddressFamilies(undefined, () => 0);
  expect(families.connectTimeout(SIX, [FOUR], 30_000)).toBe(5000);
  expect(families.connectTimeout(SIX, [SIX], 30_000)).toBe(30_000);
  expect(families.connectTimeout(FOUR, [FOUR], 30_000)).toBe(30_000);
  expect(families.connectTimeout(SIX, [FOUR], 1000)).toBe(1000);
});
