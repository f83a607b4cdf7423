import { describe, expect, test } from 'vitest';
import { isLoopback, networkOf } from '../../../mail/guard/network.ts';
import { commands } from '../../../mail/receiver/commands/index.ts';
import { isOverdue, type PendingEvent } from '../../../mail/receiver/deadline.ts';
import { defaultLimits } from '../../../mail/receiver/options.ts';
import { receivedField, type Hop } from '../../../mail/receiver/received.ts';
import { traceId } from '../../../mail/receiver/trace-id.ts';

describe('Received', () => {
  const hop: Hop = {
    id: 'abc',
    helo: 'client.example',
    ip: '192.0.2.1',
    hostname: 'mx.box.test',
    extended: true,
    tls: false,
    authenticated: false,
    smtputf8: false,
    recipient: undefined,
    at: Date.UTC(2026, 10, 20, 10, 5, 9),
  };

  test('is a folded field by RFC 5321 4.4', () => {
    expect(receivedField({ ...hop, recipient: { local: 'a b', domain: 'box.test' } })).toBe(
      'Received: from client.example ([192.0.2.1])\r\n' +
        '\tby mx.box.test with ESMTP id abc\r\n' +
        '\tfor <"a b"@box.test>;\r\n' +
        '\tFri, 20 Nov 2026 10:05:09 +0000\r\n',
    );
    expect(receivedField(hop)).not.toContain('for <');
    expect(receivedField({ ...hop, ip: '2001:db8::1' })).toContain('([IPv6:2001:db8::1])');
  });

  test.each<[Partial<Hop>, string]>([
    [{ extended: false, tls: true }, 'SMTP'],
    [{}, 'ESMTP'],
    [{ tls: true }, 'ESMTPS'],
    [{ authenticated: true }, 'ESMTPA'],
    [{ tls: true, authenticated: true }, 'ESMTPSA'],
    [{ smtputf8: true }, 'UTF8SMTP'],
    [{ smtputf8: true, tls: true, authenticated: true }, 'UTF8SMTPSA'],
  ])('%j with %s', (facts, protocol) => {
    expect(receivedField({ ...hop, ...facts })).toContain(` with ${protocol} id abc`);
  });
});

describe('grouping of client addresses', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1', true],
    ['192.0.2.1', '192.0.2.2', false],
    ['192.0.2.1', '::ffff:192.0.2.1', true],
    ['2001:db8::1', '2001:db8::ffff:1', true],
    ['2001:db8::1', '2001:db8:0:1::1', false],
  ])('%s and %s', (a, b, same) => expect(networkOf(a) === networkOf(b)).toBe(same));

  test.each([
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['10.0.0.1', false],
    ['not an address', false],
  ])('%s is loopback: %s', (ip, loopback) => expect(isLoopback(ip)).toBe(loopback));
});

describe('session timeouts', () => {
  const command = { for: 'command', since: 0, connected: 0, trusted: false } as const;
  test.each<[PendingEvent, number, boolean, boolean]>([
    [command, 300_000, false, false],
    [command, 300_001, false, true],
    [command, 10_001, true, true],
    [{ ...command, since: 1_790_000 }, 1_800_001, false, true],
    [{ ...command, since: 1_790_000, trusted: true }, 1_800_001, false, false],
    [{ for: 'handshake', since: 0 }, 15_000, false, false],
    [{ for: 'handshake', since: 0 }, 15_001, false, true],
    [{ for: 'octets', since: 0 }, 300_000, false, false],
    [{ for: 'octets', since: 0 }, 300_001, false, true],
    [{ for: 'octets', since: 0 }, 10_001, true, true],
    [{ for: 'reader', since: 0 }, 60_001, false, true],
    [{ for: 'end', since: 0 }, 5001, false, true],
    [{ for: 'us' }, 1e9, true, false],
  ])('%j at %d, stressed: %s', (waiting, now, stressed, overdue) => {
    expect(isOverdue(waiting, now, defaultLimits, stressed)).toBe(overdue);
  });
});

test('ids are twenty letters and digits, and never twice', () => {
  const ids = Array.from({ length: 10_000 }, traceId);
  expect(ids.every((id) => /^[a-z2-7]{20}$/.test(id))).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  // The time comes first: ids of one time are neighbors in an index.
  const times = ids.map((id) => id.slice(0, 9));
  expect(times).toEqual(times.toSorted());
  expect(new Set(times).size).toBeLessThan(ids.length);
});

test('each command is registered under its own name', () => {
  expect([...commands.keys()].sort().join(' ')).toBe(
    'AUTH BDAT DATA EHLO EXPN HELO HELP MAIL NOOP QUIT RCPT RSET STARTTLS VRFY',
  );
  for (const [name, command] of commands) expect(command.name).toBe(name);
});
