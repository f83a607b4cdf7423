import { expect, test } from 'vitest';
import type { Host } from '../../../mail/relay/destination.ts';
import { Families } from '../../../mail/relay/families.ts';

const host = (ip: string): Host => ({ name: 'mx.test', ip, port: 25 });
const SIX = host('2620:fe::1');
const FOUR = host('9.9.9.9');
const MINUTE = 60_000;

test('IPv6 that cannot be reached three times in a row comes last for ten minutes', () => {
  let now = 0;
  const families = new Families(undefined, () => now);
  const first = (): string | undefined => families.order([SIX, FOUR])[0]?.ip;
  for (const ip of ['2620::1', '2620::1', '2620::1', '2620::2']) families.unreached(host(ip));
  expect(first()).toBe(SIX.ip);
  families.unreached(host('2620::3'));
  expect(first()).toBe(FOUR.ip);
  expect(families.order([SIX])).toEqual([SIX]);
  now = 10 * MINUTE;
  expect(first()).toBe(SIX.ip);
});

test('one that can be reached ends the doubt, and IPv4 says nothing of IPv6', () => {
  const families = new Families(undefined, () => 0);
  const doubt = (): void => ['2620::1', '2620::2', '2620::3'].forEach((ip) => families.unreached(host(ip)));
  for (let n = 0; n < 10; n += 1) families.unreached(host(`9.9.9.${n}`));
  expect(families.order([SIX, FOUR])).toEqual([SIX, FOUR]);
  doubt();
  families.connected(FOUR);
  expect(families.order([SIX, FOUR])).toEqual([FOUR, SIX]);
  families.connected(SIX);
  expect(families.order([SIX, FOUR])).toEqual([SIX, FOUR]);
});

test('an address of one family is the only family', () => {
  const families = new Families({ ipv4: '192.0.2.1' }, () => 0);
  expect(families.order([SIX, FOUR])).toEqual([FOUR]);
  expect(families.from(FOUR)).toBe('192.0.2.1');
  const both = new Families({ ipv4: '192.0.2.1', ipv6: '2001:db8::1' }, () => 0);
  expect(both.order([SIX, FOUR])).toEqual([SIX, FOUR]);
  expect(both.from(SIX)).toBe('2001:db8::1');
});

test('IPv6 is waited for shortly where IPv4 can follow, and wholly where it cannot', () => {
  const families = new Families(undefined, () => 0);
  expect(families.patience(SIX, [FOUR], 30_000)).toBe(5000);
  expect(families.patience(SIX, [SIX], 30_000)).toBe(30_000);
  expect(families.patience(FOUR, [FOUR], 30_000)).toBe(30_000);
  expect(families.patience(SIX, [FOUR], 1000)).toBe(1000);
});
