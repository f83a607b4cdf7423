import { afterEach, describe, expect, test } from 'vitest';
import type { Meter } from '../../../mail/log.ts';
import { metrics } from '../../../mail/receiver/metrics.ts';
import type { ReceiverOptions } from '../../../mail/receiver/options.ts';
import { fakeReceiver, type FakeReceiver } from '../../support/fake-receiver-backend.ts';
import { testGuard } from '../../support/guard.ts';
import { Wire } from '../../support/wire.ts';

let door: FakeReceiver;
const total = (smtp: number) => ({ smtp, imap: 1, http: 1 });
afterEach(() => door.receiver.close());

async function open(options: Partial<ReceiverOptions> = {}): Promise<void> {
  door = await fakeReceiver(options);
}

async function greeted(port = door.ports.mx): Promise<Wire> {
  const wire = await Wire.open(port);
  await wire.reply();
  await wire.command('EHLO client.example');
  return wire;
}

/** A session up to the 354, or to where BDAT may come. */
async function ready(command = 'DATA'): Promise<Wire> {
  const wire = await greeted();
  await wire.command('MAIL FROM:<a@remote.example>');
  await wire.command('RCPT TO:<me@box.test>');
  if (command !== '') await wire.command(command);
  return wire;
}

/** Waits for what the other end of a socket sees a moment later. */
async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1000 && !holds(); turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(holds()).toBe(true);
}

describe('connections', () => {
  test('over the limit of one address: 421, and open sessions stay', async () => {
    await open({ guard: testGuard({ perNetwork: 2 }) });
    using first = await greeted();
    using _second = await greeted();
    using third = await Wire.open(door.ports.mx);
    expect(await third.all()).toBe('421 4.7.0 Too many connections, try again later\r\n');
    using other = await Wire.open(door.ports.mx, { from: '127.0.0.9' });
    expect(await other.reply()).toMatch(/^220 /);
    expect(await first.command('NOOP')).toMatch(/^250 /);
    first[Symbol.dispose]();
    await until(() => door.receiver.sessions === 2);
    using again = await Wire.open(door.ports.mx);
    expect(await again.reply()).toMatch(/^220 /);
  });

  test('those who are logged in do not count by address', async () => {
    await open({ guard: testGuard({ perNetwork: 2 }) });
    const login = `AUTH PLAIN ${Buffer.from('\0me@box.test\0secret').toString('base64')}`;
    using wires = new DisposableStack();
    for (let n = 0; n < 6; n += 1) {
      const wire = wires.use(await Wire.open(door.ports.submissions, { tls: true }));
      expect(await wire.reply()).toMatch(/^220 /);
      await wire.command('EHLO client.example');
      expect(await wire.command(login)).toMatch(/^235 /);
    }
    for (let n = 0; n < 2; n += 1) expect(await wires.use(await Wire.open(door.ports.mx)).reply()).toMatch(/^220 /);
    using third = await Wire.open(door.ports.mx);
    expect(await third.all()).toBe('421 4.7.0 Too many connections, try again later\r\n');
    wires.dispose();
    await until(() => door.receiver.sessions === 0);
    using again = await Wire.open(door.ports.mx);
    expect(await again.reply()).toMatch(/^220 /);
  });

  test('over the limit of all: 421', async () => {
    await open({ guard: testGuard({ total: total(3) }) });
    using a = await Wire.open(door.ports.mx, { from: '127.0.0.2' });
    using b = await Wire.open(door.ports.submission, { from: '127.0.0.3' });
    using c = await Wire.open(door.ports.mx, { from: '127.0.0.4' });
    using d = await Wire.open(door.ports.mx, { from: '127.0.0.5' });
    expect(await d.all()).toMatch(/^421 4\.7\.0 /);
    for (const wire of [a, b, c]) expect(await wire.reply()).toMatch(/^220 /);
  });

  test('exempt peers do not count', async () => {
    await open({
      guard: testGuard({ total: total(3), perNetwork: 1 }, { isExempt: () => true }),
      exempt: (ip) => ip === '127.0.0.1',
    });
    for (let i = 0; i < 5; i += 1) expect(await (await Wire.open(door.ports.mx)).reply()).toMatch(/^220 /);
  });

  test('a client that talks before the banner is rejected', async () => {
    await open({ limits: { bannerDelayMs: 100_000 } });
    using wire = await Wire.open(door.ports.mx);
    wire.send('EHLO client.example\r\nMAIL FROM:<a@remote.example>\r\n');
    expect(await wire.all()).toBe('554 5.5.1 Wait for the banner\r\n');
  });
});

describe('time', () => {
  test('a command may take five minutes, even octet by octet', async () => {
    await open();
    using wire = await greeted();
    for (let minute = 0; minute < 4; minute += 1) {
      wire.send('N');
      door.pass(60_000);
    }
    door.pass(61_000);
    expect(await wire.all()).toBe('421 4.4.2 Timeout, closing\r\n');
  });

  test('and ten seconds when most connections are taken', async () => {
    await open({ guard: testGuard({ total: total(2) }) });
    using wire = await greeted();
    using _other = await greeted();
    door.pass(9000);
    expect(await wire.command('NOOP')).toMatch(/^250 /);
    door.pass(11_000);
    expect(await wire.all()).toMatch(/^421 4\.4\.2 /);
  });

  test('a handshake may take fifteen seconds', async () => {
    await open();
    using wire = await Wire.open(door.ports.submissions, {});
    await until(() => door.receiver.sessions === 1);
    door.pass(14_000);
    expect(door.receiver.sessions).toBe(1);
    door.pass(2000);
    expect(await wire.all()).toBe('');
  });

  test('a message must arrive with 500 octets a second', async () => {
    await open();
    using wire = await ready();
    const part = `${'x'.repeat(998)}\r\n`.repeat(50);
    wire.send(part);
    await until(() => door.backend.written >= 50_000);
    door.pass(299_000);
    // 50,000 octets buy another 100 seconds.
    wire.send(part);
    await until(() => door.backend.written >= 100_000);
    door.pass(99_000);
    wire.send('end\r\n.\r\n');
    expect(await wire.reply()).toMatch(/^250 /);
    using slow = await ready();
    slow.send('x');
    door.pass(301_000);
    expect(await slow.all()).toMatch(/^421 4\.4\.2 /);
    expect(door.backend.aborted).toBe(1);
  });

  test('a silent client after much data has the same timeout', async () => {
    await open();
    using wire = await ready();
    wire.send(`${'x'.repeat(998)}\r\n`.repeat(900));
    await until(() => door.backend.written >= 900_000);
    door.pass(301_000);
    expect(await wire.all()).toMatch(/^421 4\.4\.2 /);
  });

  test('tiny BDAT chunks do not extend the timeout', async () => {
    await open();
    using wire = await ready('');
    for (let chunk = 0; chunk < 3; chunk += 1) {
      expect(await wire.command('BDAT 3\r\nx')).toMatch(/^250 /);
      door.pass(99_000);
    }
    expect(await wire.command('BDAT 3\r\nx')).toMatch(/^250 /);
    door.pass(5000);
    expect(await wire.all()).toMatch(/^421 4\.4\.2 /);
  });

  test('a session ends after half an hour, but not for exempt peers', async () => {
    await open({ exempt: (ip) => ip === '127.0.0.9' });
    using wire = await greeted();
    using exempt = await Wire.open(door.ports.mx, { from: '127.0.0.9' });
    await exempt.reply();
    for (let part = 0; part < 7; part += 1) {
      door.pass(250_000);
      await wire.command('MAIL FROM:<>');
      await wire.command('RSET');
      expect(await exempt.command('NOOP')).toMatch(/^250 /);
    }
    door.pass(51_000);
    expect(await wire.all()).toMatch(/^421 4\.4\.2 /);
    expect(await exempt.command('NOOP')).toMatch(/^250 /);
  });

  test('waiting for our own store does not count against the client', async () => {
    await open();
    using wire = await ready();
    let release = () => {};
    door.backend.hold = new Promise((resolve) => (release = resolve));
    wire.send('x\r\n.\r\n');
    await until(() => door.backend.finishing === 1);
    door.pass(3_600_000);
    release();
    expect(await wire.reply()).toMatch(/^250 /);
  });

  test('a client that does not read is disconnected and uses little memory', async () => {
    await open({ exempt: () => true });
    using wire = await greeted();
    wire.deaf();
    const noops = 'NOOP\r\n'.repeat(10_000);
    for (let i = 0; i < 400; i += 1) wire.send(noops);
    await until(() => door.receiver.sessions === 1);
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    door.pass(61_000);
    await until(() => door.receiver.sessions === 0);
  });
});

describe('size', () => {
  test('an oversized SIZE is rejected at MAIL, a false one at the end', async () => {
    await open();
    using wire = await greeted();
    expect(await wire.command('MAIL FROM:<> SIZE=1000001')).toMatch(/^552 5\.3\.4 /);
    await wire.command('MAIL FROM:<> SIZE=1');
    await wire.command('RCPT TO:<me@box.test>');
    await wire.command('DATA');
    const before = process.memoryUsage().rss;
    for (let part = 0; part < 40; part += 1) {
      wire.send(`${'x'.repeat(98)}\r\n`.repeat(2000));
      await new Promise((resolve) => setImmediate(resolve));
    }
    wire.send('.\r\n');
    expect(await wire.reply()).toBe('552 5.3.4 The message is larger than 1000000 octets');
    expect(process.memoryUsage().rss - before).toBeLessThan(64e6);
    expect([door.backend.taken.length, door.backend.aborted]).toEqual([0, 1]);
    expect(await wire.command('NOOP')).toMatch(/^250 /);
  });

  test('a message sent octet by octet does not cost a buffer each', async () => {
    await open();
    using wire = await ready();
    const text = 'one octet after the other\r\n'.repeat(200);
    await wire.sendInPieces([...Buffer.from(text)].map((octet) => Buffer.from([octet])));
    wire.send('.\r\n');
    expect(await wire.reply()).toMatch(/^250 /);
    expect(door.backend.taken[0]?.octets.toString()).toBe(text);
    expect(door.backend.writes).toBeLessThan(5);
  });

  test('an octet under and over the limit', async () => {
    await open({ maxMessageBytes: 100 });
    using wire = await greeted();
    for (const [octets, code] of [
      [100, '250'],
      [101, '552'],
    ] as const) {
      await wire.command('MAIL FROM:<>');
      await wire.command('RCPT TO:<me@box.test>');
      await wire.command('DATA');
      expect((await wire.command(`${'x'.repeat(octets - 2)}\r\n.`)).slice(0, 3)).toBe(code);
    }
    expect(door.backend.taken.map((message) => message.octets.length)).toEqual([100]);
  });

  test('chunks count together', async () => {
    await open({ maxMessageBytes: 100 });
    using wire = await ready('');
    expect(await wire.command(`BDAT 60\r\n${'x'.repeat(58)}`)).toMatch(/^250 /);
    expect(await wire.command(`BDAT 60\r\n${'x'.repeat(58)}`)).toMatch(/^552 5\.3\.4 /);
    expect(await wire.command('BDAT 2 LAST\r\n')).toMatch(/^503 /);
    expect([door.backend.taken.length, door.backend.aborted]).toEqual([0, 1]);
  });

  test('a client that continues a rejected message without end is disconnected', async () => {
    await open({ maxMessageBytes: 1000 });
    using wire = await ready();
    wire.send(`${'x'.repeat(98)}\r\n`.repeat(200));
    await until(() => door.backend.aborted === 1);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    door.pass(1);
    expect(await wire.all()).toMatch(/^421 /);
  });

  test('a hundred recipients', async () => {
    await open();
    using wire = await greeted();
    await wire.command('MAIL FROM:<>');
    for (let i = 0; i < 100; i += 1) expect(await wire.command('RCPT TO:<me@box.test>')).toMatch(/^250 /);
    expect(await wire.command('RCPT TO:<me@box.test>')).toMatch(/^452 4\.5\.3 /);
    await wire.command('DATA');
    expect(await wire.command('x\r\n.')).toMatch(/^250 /);
    expect(door.backend.taken[0]?.envelope.recipients).toHaveLength(100);
  });

  test('lines: 2,048 octets, AUTH 12,288, 64 KiB without an end', async () => {
    await open();
    using wire = await greeted();
    expect(await wire.command(`NOOP ${'x'.repeat(2041)}`)).toMatch(/^250 /);
    expect(await wire.command(`NOOP ${'x'.repeat(2042)}`)).toBe('500 5.5.2 The line is too long');
    expect(await wire.command(`NOOP ${'x'.repeat(60_000)}`)).toBe('500 5.5.2 The line is too long');
    wire.send('x'.repeat(70_000));
    expect(await wire.all()).toBe('500 5.5.2 The line does not end\r\n');
    using login = await greeted(door.ports.submission);
    expect(await login.command(`NOOP ${'x'.repeat(2042)}`)).toBe('500 5.5.2 The line is too long');
    expect(await login.command(`AUTH PLAIN ${'A'.repeat(12_272)}`)).toMatch(/^538 /);
    expect(await login.command(`AUTH PLAIN ${'A'.repeat(12_276)}`)).toBe('500 5.5.2 The line is too long');
  });
});

describe('refusals of the store', () => {
  const full = { kind: 'refused', code: 452, enhanced: '4.3.1', text: 'No room now' } as const;

  test('a full disk is reported at MAIL and at DATA', async () => {
    await open();
    using wire = await ready('');
    door.backend.refusal = full;
    expect(await wire.command('DATA')).toBe('452 4.3.1 No room now');
    expect(await wire.command('BDAT 3 LAST\r\nx')).toBe('452 4.3.1 No room now');
    await wire.command('RSET');
    expect(await wire.command('MAIL FROM:<>')).toBe('452 4.3.1 No room now');
    door.backend.refusal = undefined;
    expect(await wire.command('MAIL FROM:<>')).toMatch(/^250 /);
    expect(door.backend.opened).toBe(0);
  });

  test('a verdict determines the reply; a failure defers', async () => {
    await open();
    using wire = await ready();
    door.backend.verdict = { kind: 'refused', code: 554, enhanced: '5.6.0', text: 'Not this' };
    expect(await wire.command('x\r\n.')).toBe('554 5.6.0 Not this');
    door.backend.verdict = undefined;
    door.backend.failure = new Error('fsync');
    await wire.command('MAIL FROM:<>');
    await wire.command('RCPT TO:<me@box.test>');
    await wire.command('DATA');
    expect(await wire.command('x\r\n.')).toMatch(/^451 4\.3\.0 /);
    expect(await wire.command('NOOP')).toMatch(/^250 /);
  });
});

describe('going down', () => {
  test('idle sessions get 421, a message in progress gets its reply, new connections are refused', async () => {
    await open();
    using idle = await greeted();
    using half = await ready('');
    using busy = await ready();
    using chunks = await ready('');
    await chunks.command('BDAT 3\r\nx');
    const closed = door.receiver.close();
    for (const wire of [idle, half])
      expect(await wire.all()).toBe('421 4.3.2 Server is shutting down, try again later\r\n');
    await expect(Wire.open(door.ports.mx)).rejects.toThrow(/ECONNREFUSED/);
    busy.send('x\r\n.\r\nMAIL FROM:<>\r\n');
    expect(await busy.all()).toMatch(/^250 .*\r\n421 4\.3\.2 .*\r\n$/);
    chunks.send('BDAT 3 LAST\r\ny\r\n');
    expect(await chunks.all()).toMatch(/^250 .*\r\n421 4\.3\.2 .*\r\n$/);
    for (const wire of [idle, half, busy, chunks]) wire[Symbol.dispose]();
    await closed;
    expect(door.backend.taken).toHaveLength(2);
  });

  test('ends after the grace period', async () => {
    await open({ limits: { closeMs: 20 } });
    using busy = await ready();
    await door.receiver.close();
    expect(await busy.all()).toBe('');
    expect(door.receiver.sessions).toBe(0);
    expect(door.backend.aborted).toBe(1);
  });
});

describe('octets of an aborted message count against the rate of its network', () => {
  test.each([
    ['RSET between its chunks', async (wire: Wire) => void (await wire.command('RSET'))],
    ['EHLO between its chunks', async (wire: Wire) => void (await wire.command('EHLO again.example'))],
    ['QUIT', async (wire: Wire) => void (await wire.command('QUIT'))],
    ['a connection that goes away', async (wire: Wire) => wire[Symbol.dispose]()],
  ])('by %s', async (_, giveUp) => {
    const guard = testGuard({ octetsPerMinute: 1000 });
    await open({ guard });
    using wire = await ready('');
    expect(await wire.command(`BDAT 1000\r\n${'x'.repeat(998)}`)).toMatch(/^250 /);
    expect(guard.retryAfter('127.0.0.1')).toBe(0);
    await giveUp(wire);
    await until(() => guard.retryAfter('127.0.0.1') > 0);
    using again = await greeted();
    expect(await again.command('MAIL FROM:<a@remote.example>')).toMatch(/^451 4\.7\.0 Too much mail/);
  });

  test('in the middle of DATA, and as one message', async () => {
    const arrived: [number, boolean][] = [];
    const guard = testGuard();
    guard.countMessage = (_ip, octets, taken) => void arrived.push([octets, taken]);
    await open({ guard });
    const wire = await ready();
    wire.send(`${'x'.repeat(500)}\r\n`);
    await until(() => door.receiver.sessions === 1);
    wire[Symbol.dispose]();
    await until(() => door.receiver.sessions === 0);
    expect(arrived).toEqual([[502, false]]);
  });

  test('once, and not where nothing came', async () => {
    const guard = testGuard({ messagesPerMinute: 2 });
    await open({ guard });
    using wire = await ready();
    expect(await wire.command('x\r\n.')).toMatch(/^250 /);
    await wire.command('MAIL FROM:<a@remote.example>');
    await wire.command('RSET');
    await wire.command('RSET');
    const silent = await ready();
    silent[Symbol.dispose]();
    await until(() => door.receiver.sessions === 1);
    expect(guard.retryAfter('127.0.0.1')).toBe(0);
  });
});

test('every counter is in the list of metrics', async () => {
  const names = new Set<string>();
  const note = (name: string) => void names.add(name);
  const meter: Meter = { count: note, gauge: note, observe: note };
  await open({ meter, guard: testGuard({ perNetwork: 1 }) });
  using wire = await ready();
  using _refused = await Wire.open(door.ports.mx);
  expect(await wire.command('x\r\n.')).toMatch(/^250 /);
  await wire.command('MAIL FROM:<>');
  await wire.command('RCPT TO:<nobody@box.test>');
  await wire.command('STARTTLS');
  await wire.encrypt();
  await wire.command('EHLO client.example');
  door.pass(301_000);
  expect([...names].filter((name) => !(name in metrics))).toEqual([]);
  expect(names.size).toBe(Object.keys(metrics).length - 1); // no login on this listener
});
