import { createTransport } from 'nodemailer';
import { ImapFlow } from 'imapflow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { type DnsServer, dnsServer } from '../support/dns-server.ts';
import { http, tool } from '../support/mcp.ts';
import { type ScriptedServer, scriptedServer } from '../support/scripted-smtp.ts';
import { Wire } from '../support/wire.ts';

const ME = 'me@home.example';
const YOU = 'you@remote.example';
let remote: ScriptedServer;
let dns: DnsServer;
let box: Box;
let base: string;
let token: string;
let key: string;
let password: string;

beforeAll(async () => {
  remote = await scriptedServer();
  dns = await dnsServer({ 'MX remote.example': ['10 mx.remote.example'], 'A mx.remote.example': ['127.0.0.1'] });
  const settings = { RESOLVERS: dns.address, OUTBOUND_PORT: String(remote.port), EXEMPT_NETWORKS: '127.0.0.0/8' };
  box = await startBox({ hostname: 'mail.home.example', settings });
  base = `http://127.0.0.1:${box.port('http')}`;
  await box.ask('add_domain', { domain: 'home.example' });
  ({ secret: token } = (await box.ask('create_agent_token', { name: 'test', actions: ['read', 'manage'] })) as {
    secret: string;
  });
  ({ password } = (await box.ask('add_mailbox', { address: ME })) as { password: string });
  key = String((await tool(base, 'create_email_api_key', { name: 'shop' }, token)).body['secret']);
});
afterAll(async () => {
  for (const one of [box, dns, remote]) await one[Symbol.asyncDispose]();
});

const headers = () => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });
const send = (to: string) => {
  const body = { from: 'orders@home.example', to, subject: 'Order', text: 'Thank you' };
  return http('POST', `${base}/api/email/send`, headers(), JSON.stringify(body));
};
const status = async (id: unknown) =>
  (await http('GET', `${base}/api/email/messages/${String(id)}`, headers())).json ?? {};

/** Hands a message over as another server does; answers the last reply. */
async function passOn(from: string, to: string, message: string): Promise<string> {
  using wire = await Wire.open(box.port('smtp'));
  await wire.reply();
  await wire.command('EHLO mx.remote.example');
  await wire.command(`MAIL FROM:<${from}>`);
  const taken = await wire.command(`RCPT TO:<${to}>`);
  if (!taken.startsWith('250')) return taken;
  await wire.command('DATA');
  wire.send(Buffer.from(`${message.replace(/\r?\n/g, '\r\n')}\r\n.\r\n`));
  return await wire.reply(); // before the connection goes
}

const gone = (about: string): string => `From: MAILER-DAEMON@remote.example
Subject: Undelivered
Auto-Submitted: auto-replied
Message-ID: <1@remote.example>
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b

It failed.
--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.remote.example

Final-Recipient: rfc822; ${about}
Action: failed
Status: 5.1.1
Diagnostic-Code: smtp; 550 5.1.1 \x1b[31mno such\x07 user

--b--
`;

test('what a program sent turns out to be for nobody: its status, the list, and the next send say so', async () => {
  const sent = await send(YOU);
  const id = sent.json?.['id'];
  const [mail] = await remote.received(1);
  await expect.poll(async () => (await status(id))['status']).toBe('delivered');
  // orders@ has no mailbox: its plain address is nobody, and so is one that nobody here made.
  expect(await passOn('', 'orders@home.example', gone(YOU))).toMatch(/^550 5\.1\.1/);
  expect(await passOn('', `orders+r1-aaaaaaaaaaaa@home.example`, gone(YOU))).toMatch(/^550 5\.1\.1/);
  for (let time = 0; time < 3; time++) expect(await passOn('', mail?.from ?? '', gone(YOU))).toMatch(/^250/);
  expect(await status(id)).toMatchObject({
    status: 'bounced',
    recipients: [{ address: YOU, state: 'bounced', lastStatus: '5.1.1', lastText: '550 5.1.1 [31mno such user' }],
  });
  expect((await tool(base, 'list_suppressions', {}, token)).body).toMatchObject({
    suppressions: [
      {
        address: YOU,
        reason: 'hard_bounce',
        untrusted: { said: expect.stringMatching(/^550 5\.1\.1 .*no such user$/) as string },
        messageId: expect.any(String) as string,
      },
    ],
  });
  expect((await send(YOU)).json).toMatchObject({ error: 'recipient_blocked' });
});

test('success is reported also by a box that is both ends', async () => {
  const transport = createTransport({
    host: '127.0.0.1',
    port: box.port('submissions'),
    secure: true,
    auth: { user: ME, pass: password },
    tls: { rejectUnauthorized: false },
  });
  await transport.sendMail({
    envelope: { from: ME, to: 'me+notes@home.example' },
    dsn: { id: 'note 1', return: 'headers', notify: ['success'], recipient: 'me+notes@home.example' },
    from: ME,
    to: 'me+notes@home.example',
    subject: 'to myself',
    text: 'remember',
  });
  transport.close();
  const auth = { user: ME, pass: password };
  const tls = { rejectUnauthorized: false };
  const client = new ImapFlow({ host: '127.0.0.1', port: box.port('imaps'), secure: true, auth, tls, logger: false });
  await client.connect();
  await client.mailboxOpen('INBOX');
  const all: string[] = [];
  for await (const { source } of client.fetch('1:*', { source: true })) all.push(String(source));
  await client.logout();
  expect(all).toHaveLength(2);
  const report = all.find((one) => one.includes('multipart/report')) ?? '';
  expect(report).toContain('Return-Path: <>');
  expect(report).toContain('Action: delivered');
  expect(report).toContain('Status: 2.1.5');
  expect(report).toContain('Original-Envelope-Id: note 1');
  expect(report).toContain('Original-Recipient: rfc822;me+notes@home.example');
  expect(report).toContain('Final-Recipient: rfc822; me+notes@home.example');
  expect(report).toContain('Subject: to myself');
});
