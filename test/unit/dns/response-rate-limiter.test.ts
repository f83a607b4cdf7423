import { expect, test } from 'vitest';
import { ResponseRateLimiter } from '../../../src/name-server/server.ts';

function paced(): { clock: { now: number }; take: (ip: string, times: number) => Record<string, number> } {
  const clock = { now: 0 };
  const limiter = new ResponseRateLimiter(() => clock.now);
  return {
    clock,
    take(ip, times) {
      const counts = { answer: 0, truncate: 0, drop: 0 };
      for (let i = 0; i < times; i++) counts[limiter.take(ip)]++;
      return counts;
    },
  };
}

test('two hundred at once, then a hundred a second; of those above it every fourth may come over TCP', () => {
  const { clock, take } = paced();
  expect(take('192.0.2.1', 600)).toEqual({ answer: 200, truncate: 100, drop: 300 });
  clock.now += 1_000;
  expect(take('192.0.2.1', 200)).toMatchObject({ answer: 100 });
  clock.now += 3_600_000;
  expect(take('192.0.2.1', 400)).toMatchObject({ answer: 200 });
});

test.each([
  ['192.0.2.1', '192.0.2.255', true],
  ['192.0.2.1', '192.0.3.1', false],
  ['192.0.2.1', '::ffff:192.0.2.77', true],
  ['2001:db8:1:200::1', '2001:db8:1:2ff:ffff:ffff:ffff:ffff', true],
  ['2001:db8:1:200::1', '2001:db8:1:300::1', false],
  ['2001:db8::1', '2001:db8:0:0:1::1', true],
  ['2001:db8::1', '2001:0db8:0000:0000:0000:0000:0000:0002', true],
  ['::1', '::2', true],
  ['::1', '0:0:0:100::', false],
  ['fe80::1%eth0', 'fe80::2%eth1', true],
  ['2001:db8:1:2:3:4:5::', '2001:db8:1:2::', true],
])('%s and %s are one network: %s', (one, other, same) => {
  const { take } = paced();
  expect(take(one, 200)).toMatchObject({ answer: 200 });
  expect(take(other, 1)).toMatchObject({ answer: same ? 0 : 1 });
});

test('a flood from 300,000 forged networks leaves others their pace, and the limiter remembers a bounded number', () => {
  const { take } = paced();
  take('198.51.100.1', 300);
  expect(take('198.51.100.1', 1)).toMatchObject({ answer: 0 });
  for (let i = 0; i < 300_000; i++) take(`${i & 127}.${(i >> 7) & 255}.${(i >> 15) & 255}.1`, 1);
  expect(take('203.0.113.1', 200)).toMatchObject({ answer: 200 });
  // The clock stands: it is answered again since the limiter no longer knows it.
  expect(take('198.51.100.1', 1)).toMatchObject({ answer: 1 });
});
