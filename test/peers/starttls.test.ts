import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { Wire } from '../support/wire.ts';

let box: Box;
let login: string;
beforeAll(async () => {
  box = await startBox({ hostname: 'mail.box.test', settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  await box.ask('add_domain', { domain: 'box.test' });
  const { password } = (await box.ask('add_mailbox', { address: 'me@box.test' })) as { password: string };
  login = Buffer.from(`\0me@box.test\0${password}`).toString('base64');
});
afterAll(() => box[Symbol.asyncDispose]());

// CVE-2011-0411 and the "NO STARTTLS" papers: what stands behind STARTTLS in the clear is not answered inside TLS.
const smtp = [
  () => 'NOOP\r\n',
  () => 'NOOP',
  () => '\r\n',
  () => 'EHLO evil.example\r\n',
  () => 'EHLO evil.example\r\nMAIL FROM:<a@evil.example>\r\n',
  () => `AUTH PLAIN ${login}\r\n`,
  () => 'RSET\r\nMAIL FROM:<a@evil.example>\r\nRCPT TO:<me@box.test>\r\nDATA\r\nx\r\n.\r\n',
  () => 'STARTTLS\r\n',
  () => 'QUIT\r\n',
  () => 'NOOP\r\n'.repeat(17_000),
];

describe.each(['smtp', 'submission'] as const)('%s', (door) => {
  async function begin(): Promise<Wire> {
    const wire = await Wire.open(box.port(door));
    await wire.reply();
    await wire.command('EHLO client.example');
    return wire;
  }

  test.each(smtp)('nothing injected behind STARTTLS is done (%#)', async (injected) => {
    using wire = await begin();
    wire.send(`STARTTLS\r\n${injected()}`);
    expect(await wire.all()).toMatch(/^(?:554 [^\n]*\n)?$/);
  });

  test('plaintext after the 220 is no handshake', async () => {
    using wire = await begin();
    expect(await wire.command('STARTTLS')).toMatch(/^220 /);
    wire.send('EHLO client.example\r\nNOOP\r\n');
    expect(await wire.all()).not.toMatch(/^250/m);
  });

  test('the session begins anew, and STARTTLS is not offered again', async () => {
    using wire = await begin();
    await wire.command('MAIL FROM:<a@example.org>');
    await wire.command('STARTTLS');
    await wire.encrypt();
    expect(await wire.command('RCPT TO:<me@box.test>')).toMatch(/^5\d\d /);
    expect(await wire.command('EHLO client.example')).not.toContain('STARTTLS');
    expect(await wire.command('STARTTLS')).toMatch(/^5\d\d /);
  });

  test('no login before TLS', async () => {
    using wire = await begin();
    expect(await wire.command('EHLO client.example')).not.toContain('AUTH');
    expect(await wire.command(`AUTH PLAIN ${login}`)).toMatch(/^5\d\d /);
  });
});

/** Discarded input is not answered; a failed handshake is equally safe. */
async function talkOverTls(wire: Wire): Promise<void> {
  try {
    await wire.encrypt();
  } catch {
    return;
  }
  wire.send('c LOGOUT\r\n');
  expect(await wire.all()).toMatch(/^\* BYE [^\n]*\nc OK [^\n]*\n$/);
}

describe('imap', () => {
  const imap = [
    () => 'b NOOP\r\n',
    () => 'b NOOP',
    () => `b AUTHENTICATE PLAIN ${login}\r\n`,
    () => 'b LOGIN me@box.test x\r\n',
    () => 'b CAPABILITY\r\nb LOGOUT\r\n',
    () => 'b STARTTLS\r\n',
    () => '\r\n',
    () => 'b LOGIN {11+}\r\nme@box.test {1+}\r\nx\r\n',
    () => 'b NOOP\r\n'.repeat(17_000),
  ];

  test.each(imap)('nothing injected behind STARTTLS is done (%#)', async (injected) => {
    using wire = await Wire.open(box.port('imap'));
    await wire.line();
    wire.send(`a STARTTLS\r\n${injected()}`);
    const answer = (await wire.line()) ?? '';
    if (answer.startsWith('a OK ')) await talkOverTls(wire);
    else expect(answer).toMatch(/^(?:a BAD |\* BYE |$)/);
  });

  test('plaintext after the OK is no handshake', async () => {
    using wire = await Wire.open(box.port('imap'));
    await wire.line();
    wire.send('a STARTTLS\r\n');
    expect(await wire.line()).toMatch(/^a OK /);
    wire.send('b NOOP\r\n');
    expect(await wire.all()).not.toMatch(/^b /m);
  });

  test('no login before TLS, and what was said before is asked again', async () => {
    using wire = await Wire.open(box.port('imap'));
    const greeting = await wire.line();
    expect(greeting).toContain('LOGINDISABLED');
    expect(greeting).not.toContain('AUTH=');
    for (const command of ['LOGIN me@box.test x', `AUTHENTICATE PLAIN ${login}`]) {
      wire.send(`a ${command}\r\n`);
      expect(await wire.line()).toMatch(/^a (?:NO|BAD) /);
    }
    wire.send('b STARTTLS\r\n');
    expect(await wire.line()).toMatch(/^b OK (?!\[CAPABILITY)/);
    await wire.encrypt();
    wire.send('c CAPABILITY\r\n');
    expect(await wire.line()).not.toMatch(/STARTTLS|LOGINDISABLED/);
    expect(await wire.line()).toMatch(/^c OK /);
    wire.send(`d AUTHENTICATE PLAIN ${login}\r\n`);
    expect(await wire.line()).toMatch(/^d OK /);
  });
});
