import { expect, test } from 'vitest';
import { neighborhoodOf, networkOf } from '../../../mail/guard/network.ts';
import { GUARD_LIMITS } from '../../../mail/guard/limits.ts';
import { ConnectionLimiter } from '../../../mail/guard/connection-limiter.ts';
import type { Protocol } from '../../../mail/guard/types.ts';

const small = {
  total: { smtp: 10, imap: 10, http: 10 },
  perNetwork: 2,
  perNetworkTotal: 3,
  neighborhoodFactor: 3,
  perAccount: 2,
};

test.each([
  ['192.0.2.70', '192.0.2.70', '192.0.2.64/26'],
  ['::ffff:192.0.2.70', '192.0.2.70', '192.0.2.64/26'],
  ['2001:db8:1:2:3::4', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['no address', 'no address', 'no address'],
])('%s is counted as %s, among %s', (ip, network, around) => {
  expect([networkOf(ip), neighborhoodOf(ip)]).toEqual([network, around]);
});

test('limits one network per protocol, and over all protocols', () => {
  const limiter = new ConnectionLimiter(small);
  const take = (protocol: Protocol) => limiter.enter(protocol, '192.0.2.1', false);
  expect(['smtp', 'smtp', 'smtp', 'imap', 'imap'].map((one) => take(one as Protocol))).toEqual([
    'in',
    'in',
    'too-many',
    'in',
    'too-many', // a second IMAP connection is allowed per protocol, but a fourth in total is not
  ]);
});

test('a neighborhood has three times the limit of a network', () => {
  const limiter = new ConnectionLimiter(small);
  const from = (last: number) => limiter.enter('imap', `192.0.2.${last}`, false);
  expect([from(1), from(1), from(2), from(2), from(3), from(3)]).toEqual(Array(6).fill('in'));
  expect([from(4), from(63), from(64)]).toEqual(['too-many', 'too-many', 'in']);
});

test('a closed connection frees its slot and leaves no key in memory', () => {
  const limiter = new ConnectionLimiter({ ...small, perNetwork: 1 });
  expect([1, 2].map(() => limiter.enter('smtp', '2001:db8::1', false))).toEqual(['in', 'too-many']);
  limiter.leave('smtp', '2001:db8::9', false);
  expect([limiter.size, limiter.utilization('smtp')]).toEqual([0, 0]);
  expect(limiter.enter('smtp', '2001:db8::2', false)).toBe('in');
});

test('an office behind one address: a login frees its slot, and only strangers count by address', () => {
  const limiter = new ConnectionLimiter(GUARD_LIMITS);
  const office = '192.0.2.1';
  for (let account = 1; account <= 500; account += 1) {
    expect(limiter.enter('imap', office, false), `connection ${account}`).toBe('in');
    expect(limiter.logIn('imap', office, account)).toBe(true);
  }
  const strangers = Array.from({ length: 31 }, () => limiter.enter('imap', office, false));
  expect(strangers).toEqual([...Array<string>(30).fill('in'), 'too-many']);
  for (let account = 1; account <= 500; account += 1) limiter.leave('imap', office, false, account);
  for (let n = 0; n < 30; n += 1) limiter.leave('imap', office, false);
  expect([limiter.size, limiter.utilization('imap')]).toEqual([0, 0]);
});

test('more logins than an account may have count by address again', () => {
  const limiter = new ConnectionLimiter({ ...small, total: { smtp: 100, imap: 100, http: 100 } });
  const logIn = (): boolean[] => [
    limiter.enter('imap', '192.0.2.1', false) === 'in',
    limiter.logIn('imap', '192.0.2.1', 7),
  ];
  expect([logIn(), logIn(), logIn(), logIn()]).toEqual([
    [true, true],
    [true, true],
    [true, false],
    [true, false],
  ]);
  expect(limiter.enter('imap', '192.0.2.1', false)).toBe('too-many');
  limiter.leave('imap', '192.0.2.1', false);
  expect(limiter.enter('smtp', '192.0.2.1', false)).toBe('in');
  expect(limiter.logIn('smtp', '192.0.2.1', 7)).toBe(true);
});

test('logins of one neighborhood have a quarter of a protocol', () => {
  const limiter = new ConnectionLimiter({ ...small, total: { smtp: 40, imap: 40, http: 40 } });
  const logins = Array.from({ length: 12 }, (_, account) => {
    limiter.enter('imap', `192.0.2.${account}`, false);
    return limiter.logIn('imap', `192.0.2.${account}`, account);
  });
  expect(logins).toEqual([...Array<boolean>(10).fill(true), false, false]);
});

test('when the protocol is full, only exempt clients connect, up to twice the limit', () => {
  const limiter = new ConnectionLimiter({ ...small, perNetwork: 99, perNetworkTotal: 99 });
  const take = (exempt: boolean) => Array.from({ length: 11 }, () => limiter.enter('http', '192.0.2.1', exempt));
  expect(take(false)).toEqual([...Array<string>(10).fill('in'), 'full']);
  expect(take(true)).toEqual([...Array<string>(10).fill('in'), 'full']);
});

test('the default limits are the documented ones', () => {
  expect(GUARD_LIMITS).toMatchObject({
    total: { smtp: 1000, imap: 4000, http: 1000 },
    perNetwork: 30,
    perNetworkTotal: 60,
    neighborhoodFactor: 3,
    connectionsPerMinute: 300,
    messagesPerMinute: 500,
    octetsPerMinute: 1e9,
    offences: { logins: 100, recipients: 35, scans: 30, loitering: 150 },
  });
});
