import { afterAll, beforeAll, expect, test } from 'vitest';
import { fakeReceiver, type FakeReceiver } from '../../support/fake-receiver-backend.ts';
import { Wire } from '../../support/wire.ts';

let door: FakeReceiver;
beforeAll(async () => {
  door = await fakeReceiver();
});
afterAll(() => door.receiver.close());

// CVE-2011-0411 and the "NO STARTTLS" papers: what stands behind STARTTLS in the clear is answered inside TLS.
const injected = [
  'NOOP\r\n',
  'NOOP',
  '\r\n',
  'EHLO evil.example\r\n',
  'EHLO evil.example\r\nMAIL FROM:<a@evil.example>\r\n',
  'AUTH PLAIN AG1lQGJveC50ZXN0AHNlY3JldA==\r\n',
  'RSET\r\nMAIL FROM:<a@evil.example>\r\nRCPT TO:<me@box.test>\r\nDATA\r\nx\r\n.\r\n',
  'STARTTLS\r\n',
  'QUIT\r\n',
  'NOOP\r\n'.repeat(17_000),
];

for (const name of ['mx', 'submission'] as const) {
  test.each(injected.map((text) => [text.slice(0, 40), text]))(
    `${name}: STARTTLS with %j behind it`,
    async (_, text) => {
      using wire = await Wire.open(door.ports[name]);
      await wire.reply();
      await wire.command('EHLO client.example');
      wire.send(`STARTTLS\r\n${text}`);
      expect(await wire.all()).toBe('554 5.5.1 Wait for the response to STARTTLS\r\n');
    },
  );

  test(`${name}: STARTTLS ended by LF, or with parameters, begins nothing`, async () => {
    using wire = await Wire.open(door.ports[name]);
    await wire.reply();
    wire.send('STARTTLS\n');
    expect(await wire.reply()).toMatch(/^500 /);
    expect(await wire.command('STARTTLS x')).toMatch(/^501 /);
    expect(await wire.command('NOOP')).toMatch(/^250 /);
  });

  test(`${name}: plaintext after the reply is no handshake`, async () => {
    using wire = await Wire.open(door.ports[name]);
    await wire.reply();
    await wire.command('STARTTLS');
    wire.send('EHLO client.example\r\nNOOP\r\n');
    expect(await wire.all()).not.toMatch(/^250/m);
  });
}

test('STARTTLS resets the session and its message', async () => {
  using wire = await Wire.open(door.ports.mx);
  await wire.reply();
  await wire.command('EHLO client.example');
  await wire.command('MAIL FROM:<a@remote.example>');
  await wire.command('RCPT TO:<me@box.test>');
  await wire.command('STARTTLS');
  await wire.encrypt();
  expect(await wire.command('DATA')).toBe('503 5.5.1 Send EHLO first');
  expect(await wire.command('EHLO client.example')).not.toContain('STARTTLS');
  expect(await wire.command('DATA')).toBe('503 5.5.1 Send MAIL first');
});

test('a message over TLS says so in Received', async () => {
  using wire = await Wire.open(door.ports.mx);
  await wire.reply();
  await wire.command('STARTTLS');
  await wire.encrypt();
  await wire.command('EHLO client.example');
  await wire.command('MAIL FROM:<a@remote.example>');
  await wire.command('RCPT TO:<me@box.test>');
  await wire.command('DATA');
  expect(await wire.command('x\r\n.')).toMatch(/^250/);
  const { envelope } = door.backend.taken.at(-1)!;
  expect(envelope.received).toContain('with ESMTPS id ');
  expect(envelope.peer).toMatchObject({ ip: '127.0.0.1', tls: true, helo: 'client.example' });
});
