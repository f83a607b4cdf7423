import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { LoginOutcome } from '../../../mail/login/types.ts';
import { fakeReceiver, type FakeReceiver } from '../../support/fake-receiver-backend.ts';
import { Wire } from '../../support/wire.ts';

let door: FakeReceiver;
beforeAll(async () => {
  door = await fakeReceiver();
});
afterAll(() => door.receiver.close());
beforeEach(() => (door.logins.next = undefined));

async function greeted(): Promise<Wire> {
  const wire = await Wire.open(door.ports.submissions, { tls: true });
  await wire.reply();
  await wire.command('EHLO client.example');
  return wire;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
const right = base64('\0me@box.test\0secret');

describe('malformed logins', () => {
  const lines = [
    'AUTH',
    'AUTH ',
    'AUTH  PLAIN',
    'AUTH PLAIN =',
    'AUTH PLAIN ==',
    'AUTH PLAIN *',
    'AUTH PLAIN A',
    'AUTH PLAIN AA',
    'AUTH PLAIN AAAA=',
    `AUTH PLAIN ${right} x`,
    `AUTH PLAIN ${right}\t`,
    `AUTH PLAIN ${right.slice(0, -1)}`,
    `AUTH PLAIN ${right.replace('=', '')}`,
    `AUTH PLAIN  ${right}`,
    `AUTH PLAIN ${base64('me@box.test')}`,
    `AUTH PLAIN ${base64('\0me@box.test')}`,
    `AUTH PLAIN ${base64('\0me@box.test\0secret\0')}`,
    `AUTH PLAIN ${base64('\0me@box.test\0secret\r\n')}`,
    `AUTH PLAIN ${base64('\0me@box.test\0Secret')}`,
    `AUTH PLAIN ${base64('\0\0')}`,
    `AUTH PLAIN ${base64('x'.repeat(9000))}`,
    `AUTH PLAIN ${'A'.repeat(20_000)}`,
    `AUTH SCRAM-SHA-256 ${right}`,
    `AUTH ${'X'.repeat(30)}`,
    `AUTH PL\u0101IN ${right}`,
  ];
  test.each(lines.map((line) => [line.slice(0, 60), line]))('%j', async (_, line) => {
    using wire = await greeted();
    expect(await wire.command(line)).toMatch(/^5\d\d 5\./);
    expect(await wire.command('MAIL FROM:<me@box.test>')).toMatch(/^530 /);
  });

  const responses = [
    '*',
    '',
    '=',
    'A',
    'AAA',
    '!!!!',
    base64('x'),
    'MAIL FROM:<me@box.test>',
    `${right} `,
    'A'.repeat(20_000),
  ];
  test.each(responses.map((text) => [text.slice(0, 40), text]))('a response of %j', async (_, text) => {
    using wire = await greeted();
    expect(await wire.command('AUTH PLAIN')).toBe('334 ');
    expect(await wire.command(text)).toMatch(/^50[01] 5\./);
    expect(await wire.command('MAIL FROM:<me@box.test>')).toMatch(/^530 /);
  });
});

describe('outcomes', () => {
  test.each<[LoginOutcome, string]>([
    [{ kind: 'wrong' }, '535 5.7.8 Wrong user name or password'],
    [{ kind: 'throttled', retryAfter: 60 }, '454 4.7.0 Too many failed logins, try again in 60 s'],
    [{ kind: 'busy' }, '454 4.7.0 Too many logins at once, try again later'],
    [{ kind: 'malformed', why: 'no' }, '501 5.5.2 no'],
  ])('%j', async (outcome, said) => {
    door.logins.next = outcome;
    using wire = await greeted();
    expect(await wire.command(`AUTH PLAIN ${right}`)).toBe(said);
  });

  test('three failures of any kind end the session', async () => {
    using wire = await greeted();
    expect(await wire.command(`AUTH PLAIN ${base64('\0me@box.test\0x')}`)).toMatch(/^535 /);
    await wire.command('AUTH LOGIN');
    expect(await wire.command('*')).toMatch(/^501 5\.7\.0 /);
    wire.send(`AUTH PLAIN ${base64('\0nobody@box.test\0x')}\r\nAUTH PLAIN ${right}\r\n`);
    expect(await wire.all()).toBe('421 4.7.0 Too many failed logins\r\n');
  });
});

describe('a revoked login', () => {
  const revoke = () => {
    for (const end of new Set(door.logins.revocations)) end();
  };

  test('ends an idle session and a message in transfer', async () => {
    for (const inData of [false, true]) {
      using wire = await greeted();
      await wire.command(`AUTH PLAIN ${right}`);
      await wire.command('MAIL FROM:<me@box.test>');
      await wire.command('RCPT TO:<x@elsewhere.example>');
      if (inData) await wire.command('DATA');
      const before = door.backend.taken.length;
      revoke();
      wire.send('x\r\n.\r\n');
      expect(await wire.all()).toBe('421 4.7.0 This login has been revoked or has expired\r\n');
      expect(door.backend.taken).toHaveLength(before);
      expect(door.logins.revocations.size).toBe(0);
    }
  });

  test('lets a message being committed get its reply', async () => {
    let release = () => {};
    door.backend.hold = new Promise((resolve) => (release = resolve));
    using wire = await greeted();
    await wire.command(`AUTH PLAIN ${right}`);
    await wire.command('MAIL FROM:<me@box.test>');
    await wire.command('RCPT TO:<x@elsewhere.example>');
    await wire.command('DATA');
    wire.send('x\r\n.\r\n');
    while (door.backend.finishing === 0) await new Promise((resolve) => setImmediate(resolve));
    revoke();
    release();
    expect(await wire.all()).toMatch(/^250 .*\r\n421 4\.7\.0 .*\r\n$/);
  });
});

test('local mode: loopback logs in without TLS, and an exempt network does not', async () => {
  const local = await fakeReceiver({ local: true });
  const live = await fakeReceiver({ exempt: () => true });
  try {
    for (const [receiver, code] of [
      [local, '235'],
      [live, '538'],
    ] as const) {
      using wire = await Wire.open(receiver.ports.submission);
      await wire.reply();
      const offered = await wire.command('EHLO client.example');
      expect(offered.includes('AUTH PLAIN')).toBe(code === '235');
      expect((await wire.command(`AUTH PLAIN ${right}`)).slice(0, 3)).toBe(code);
    }
  } finally {
    await Promise.all([local.receiver.close(), live.receiver.close()]);
  }
});
