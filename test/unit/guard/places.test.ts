import { expect, test } from 'vitest';
import { neighbourhoodOf, networkOf } from '../../../mail/guard/network.ts';
import { LIMITS } from '../../../mail/guard/limits.ts';
import { Places } from '../../../mail/guard/places.ts';
import type { Protocol } from '../../../mail/guard/types.ts';

const small = { total: { smtp: 10, imap: 10, http: 10 }, each: 2, eachAll: 3, neighbours: 3 };

test.each([
  ['192.0.2.70', '192.0.2.70', '192.0.2.64/26'],
  ['::ffff:192.0.2.70', '192.0.2.70', '192.0.2.64/26'],
  ['2001:db8:1:2:3::4', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['no address', 'no address', 'no address'],
])('%s is counted as %s, among %s', (ip, network, around) => {
  expect([networkOf(ip), neighbourhoodOf(ip)]).toEqual([network, around]);
});

test('one address has places at each door, and fewer at all together', () => {
  const places = new Places(small);
  const take = (protocol: Protocol) => places.take(protocol, '192.0.2.1', false);
  expect(['smtp', 'smtp', 'smtp', 'imap', 'imap'].map((one) => take(one as Protocol))).toEqual([
    'in',
    'in',
    'too-many',
    'in',
    'too-many', // two of IMAP would be allowed, four of all are not
  ]);
});

test('a neighbourhood has three times as many', () => {
  const places = new Places(small);
  const from = (last: number) => places.take('imap', `192.0.2.${last}`, false);
  expect([from(1), from(1), from(2), from(2), from(3), from(3)]).toEqual(Array(6).fill('in'));
  expect([from(4), from(63), from(64)]).toEqual(['too-many', 'too-many', 'in']);
});

test('who leaves makes room, and nothing is remembered of them', () => {
  const places = new Places({ ...small, each: 1 });
  expect([1, 2].map(() => places.take('smtp', '2001:db8::1', false))).toEqual(['in', 'too-many']);
  places.leave('smtp', '2001:db8::9', false);
  expect([places.size, places.taken('smtp')]).toEqual([0, 0]);
  expect(places.take('smtp', '2001:db8::2', false)).toBe('in');
});

test('when all places are taken only who is free gets one, and of these there are as many again', () => {
  const places = new Places({ ...small, each: 99, eachAll: 99 });
  const take = (free: boolean) => Array.from({ length: 11 }, () => places.take('http', '192.0.2.1', free));
  expect(take(false)).toEqual([...Array<string>(10).fill('in'), 'full']);
  expect(take(true)).toEqual([...Array<string>(10).fill('in'), 'full']);
});

test('the limits are those of the notes', () => {
  expect(LIMITS).toMatchObject({
    total: { smtp: 1000, imap: 4000, http: 1000 },
    each: 30,
    eachAll: 60,
    neighbours: 3,
    connectionsPerMinute: 300,
    messagesPerMinute: 500,
    octetsPerMinute: 1e9,
    offences: { logins: 100, recipients: 35, scans: 30, loitering: 150 },
  });
});
