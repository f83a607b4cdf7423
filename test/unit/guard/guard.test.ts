import { beforeEach, describe, expect, test } from 'vitest';
import { Guard } from '../../../mail/guard/guard.ts';
import { GUARD_LIMITS } from '../../../mail/guard/limits.ts';
import { Offences } from '../../../mail/guard/offences.ts';
import { refusalText } from '../../../mail/guard/refusal-text.ts';
import type { Offence } from '../../../mail/guard/types.ts';
import { firstBan, type Offender } from '../../../mail/store/limit/ban.ts';
import { quiet } from '../../../mail/log.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const FOE = '192.0.2.7';

let now: number;
let kept: Offender[];
let guard: Guard;
let lasts: number;

beforeEach(() => {
  now = Date.UTC(2026, 0, 1);
  kept = [];
  lasts = 15 * MINUTE;
  guard = new Guard({
    clock: () => now,
    isExempt: (ip) => ip === '198.51.100.1',
    saveBan: (offender) => {
      kept.push(offender);
      return Promise.resolve({ ...firstBan(offender, now), until: now + lasts });
    },
    log: quiet,
    meter: quiet,
  });
});

const offend = (count: number, offence: Offence = 'logins', ip = FOE): void => {
  for (let i = 0; i < count; i++) guard.addOffence(ip, offence);
};
const enter = (ip = FOE) => {
  const entry = guard.enter('imap', ip);
  if (entry.kind === 'in') guard.leave('imap', ip);
  return entry.kind;
};

describe('a ban', () => {
  test.each([
    ['logins', 100],
    ['recipients', 35],
    ['scans', 30],
    ['loitering', 150],
  ] as const)('follows %s, %d of them in a day', (offence, most) => {
    offend(most - 1, offence);
    expect(enter()).toBe('in');
    offend(1, offence);
    expect(enter()).toBe('banned');
    expect(kept).toEqual([{ network: FOE, offence, count: most }]);
  });

  test('is for the network, at every endpoint but HTTP, which says it at the request', () => {
    offend(30, 'scans', '2001:db8::1');
    expect(guard.enter('smtp', '2001:db8::ffff').kind).toBe('banned');
    expect(guard.enter('http', '2001:db8::ffff').kind).toBe('in');
    expect(guard.banned('2001:db8::ffff')).toMatchObject({ network: '2001:db8:0:0::/64', offence: 'scans' });
    expect(enter('2001:db8:0:1::1')).toBe('in');
  });

  test('holds at once, as long as whoever keeps it says, and then the count begins anew', async () => {
    lasts = 60 * MINUTE;
    offend(100);
    expect(enter()).toBe('banned');
    await Promise.resolve();
    now += 59 * MINUTE;
    expect(enter()).toBe('banned');
    now += MINUTE;
    expect(enter()).toBe('in');
    offend(99);
    expect(enter()).toBe('in');
    offend(1);
    expect(kept).toHaveLength(2);
  });

  test('that cannot be kept holds for a quarter of an hour', async () => {
    const broken = new Guard({
      clock: () => now,
      isExempt: () => false,
      saveBan: () => Promise.reject(new Error('the disk is full')),
      log: quiet,
      meter: quiet,
    });
    for (let i = 0; i < 100; i++) broken.addOffence(FOE, 'logins');
    await Promise.resolve();
    expect(broken.enter('smtp', FOE).kind).toBe('banned');
    now += 15 * MINUTE;
    expect(broken.enter('smtp', FOE).kind).toBe('in');
  });

  test('is never for who is free, nor where somebody who belongs here logged in within a day', () => {
    offend(1000, 'logins', '198.51.100.1');
    expect(enter('198.51.100.1')).toBe('in');
    guard.welcome(FOE);
    offend(1000);
    expect(enter()).toBe('in');
    now += DAY;
    offend(100);
    expect(enter()).toBe('banned');
  });

  test('is not kept again for what goes on while it holds', () => {
    offend(1000);
    expect(kept).toHaveLength(1);
  });

  test('that is lifted is over, with what it was for', () => {
    offend(100);
    guard.liftBan(FOE);
    expect(enter()).toBe('in');
    offend(99);
    expect(enter()).toBe('in');
  });

  test('lifted before it was kept stays lifted', async () => {
    offend(100);
    guard.liftBan(FOE);
    await Promise.resolve();
    expect(enter()).toBe('in');
  });

  test('of before a restart is taken up', () => {
    guard.restoreBans([firstBan({ network: FOE, offence: 'scans', count: 31 }, now)]);
    const entry = guard.enter('smtp', FOE);
    expect(entry.kind === 'banned' && refusalText(entry)).toBe(
      `${FOE} is banned until 2026-01-01T00:15:00.000Z: 31 vulnerability scans in a day. The operator can lift the ban`,
    );
  });
});

describe('who guesses addresses', () => {
  test('and brings good mail may be wrong ten times more for each message', () => {
    for (let i = 0; i < 3; i++) guard.countMessage(FOE, 1000, true);
    guard.countMessage(FOE, 1000, false);
    offend(64, 'recipients');
    expect(enter()).toBe('in');
    offend(1, 'recipients');
    expect(enter()).toBe('banned');
  });

  test('is counted anew each day', () => {
    offend(34, 'recipients');
    now += DAY;
    offend(34, 'recipients');
    expect(enter()).toBe('in');
  });
});

describe('the pace', () => {
  test('of connections: 300 a minute, at all endpoints together', () => {
    const endpoints = ['smtp', 'imap', 'http'] as const;
    for (let i = 0; i < 300; i++) {
      const door = endpoints[i % 3] ?? 'smtp';
      expect(guard.enter(door, FOE).kind).toBe('in');
      guard.leave(door, FOE);
    }
    now += 20_000;
    expect(guard.enter('smtp', FOE)).toEqual({ kind: 'too-fast', retryAfter: 40 });
    expect(guard.enter('smtp', '198.51.100.1')).toEqual({ kind: 'in' });
    now += 40_000;
    expect(guard.enter('smtp', FOE)).toEqual({ kind: 'in' });
  });

  test('of mail: 500 messages, or a gigabyte, a minute', () => {
    for (let i = 0; i < 499; i++) guard.countMessage(FOE, 10, true);
    expect(guard.retryAfter(FOE)).toBe(0);
    guard.countMessage(FOE, 10, false);
    expect(guard.retryAfter(FOE)).toBe(60);
    for (let i = 0; i < 40; i++) guard.countMessage('192.0.2.8', 25_000_000, true);
    expect([guard.retryAfter('192.0.2.8'), guard.retryAfter('192.0.2.9')]).toEqual([60, 0]);
    now += MINUTE;
    expect([guard.retryAfter(FOE), guard.retryAfter('192.0.2.8')]).toEqual([0, 0]);
  });
});

test('a million networks stay within the bound', () => {
  const offences = new Offences(GUARD_LIMITS.offences, 80_000);
  for (let i = 0; i < 1_000_000; i++) offences.add(`n${i}`, 'scans', now);
  expect(offences.size).toBeLessThanOrEqual(80_000);
});
