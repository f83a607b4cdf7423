import { expect, test } from 'vitest';
import type { Host } from '../../../mail/relay/destination.ts';
import { HostHealth } from '../../../mail/relay/host-health.ts';

const MINUTE = 60_000;
const [A, B, C] = ['9.9.9.1', '9.9.9.2', '9.9.9.3'].map((ip): Host => ({ name: `mx-${ip}`, ip, port: 25 })) as [
  Host,
  Host,
  Host,
];

function setUp(): { memory: HostHealth; pass: (ms: number) => void; chosen: () => string } {
  let now = 0;
  const memory = new HostHealth(() => now, { first: MINUTE, most: 15 * MINUTE });
  return {
    memory,
    pass: (ms) => (now += ms),
    chosen: () =>
      memory
        .choose([A, B, C])
        .hosts.map((host) => host.ip.at(-1))
        .join(''),
  };
}

test('a dead host is left out for a minute, twice as long each time, at most a quarter of an hour', () => {
  const { memory, pass, chosen } = setUp();
  for (const minutes of [1, 2, 4, 8, 15, 15]) {
    memory.dead(A, 'down');
    memory.dead(A, 'down'); // a second connection at the same time is the same failure
    pass(minutes * MINUTE - 1);
    expect(chosen()).toBe('23');
    pass(1);
    expect(chosen()).toBe('123');
  }
  memory.markWorking(A);
  memory.dead(A, 'down');
  pass(MINUTE);
  expect(chosen()).toBe('123');
});

test('a host that breaks off is tried last', () => {
  const { memory, pass, chosen } = setUp();
  memory.doubtful(A);
  expect(chosen()).toBe('231');
  memory.dead(B, 'down');
  expect(chosen()).toBe('31');
  pass(MINUTE);
  expect(chosen()).toBe('123');
});

test('when all are dead, it says why', () => {
  const { memory } = setUp();
  for (const host of [A, B, C]) memory.dead(host, `${host.ip} is down`);
  expect(memory.choose([A, B, C])).toEqual({ hosts: [], resting: A, why: '9.9.9.1 is down' });
});
