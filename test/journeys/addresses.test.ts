import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { type DnsServer, dnsServer } from '../support/dns-server.ts';
import { tool } from '../support/mcp.ts';
import { Wire } from '../support/wire.ts';

let dns: DnsServer;
let box: Box;
let base: string;
let token: string;
let mailboxIds: string[];

beforeAll(async () => {
  dns = await dnsServer({ 'TXT good.example': ['v=spf1 ip4:127.0.0.0/8 -all'] });
  const settings = { RESOLVERS: dns.address, EXEMPT_NETWORKS: '127.0.0.0/8' };
  box = await startBox({ hostname: 'mail.home.example', settings });
  base = `http://127.0.0.1:${box.port('http')}`;
  await box.ask('add_domain', { domain: 'home.example' });
  for (const name of ['anna', 'bert']) await box.ask('add_mailbox', { address: `${name}@home.example` });
  const made = await box.ask('create_agent_token', { name: 'test', actions: ['read', 'manage'] });
  token = (made as { secret: string }).secret;
  mailboxIds = ((await call('list_emails', {}))['mailboxes'] as { id: string }[]).map(({ id }) => id);
});
afterAll(async () => {
  for (const one of [box, dns]) await one[Symbol.asyncDispose]();
});

const call = async (name: string, args: object): Promise<Record<string, unknown>> => {
  const { status, text, body } = await tool(base, name, args, token);
  if (status >= 400) throw new Error(text);
  return body;
};

function send(to: string, { from, sender }: { from?: string; sender?: string } = {}): Promise<string> {
  const author = from ?? 'ann@good.example';
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  const mail = { from: author, to, subject: 'Hello', text: 'Hello', envelope: { from: sender ?? author, to } };
  return transport.sendMail(mail).then(
    () => 'accepted',
    (error: Error) => error.message,
  );
}

const used = async (): Promise<number[]> =>
  ((await call('list_emails', {}))['mailboxes'] as { usedBytes: number }[]).map(({ usedBytes }) => usedBytes);

interface Shown {
  id: string;
  address: string;
  messages: number;
  firstSenderDomain: string;
  state: string;
}

test('an address for one sign-up takes what it was made for, reports it, and ends', async () => {
  const { alias } = (await call('create_alias', { mailboxIds: [mailboxIds[0]], maxMessages: 2, note: 'shop' })) as {
    alias: Shown;
  };
  expect(await send(alias.address)).toBe('accepted');
  expect(await send(alias.address, { from: 'x@other.example' })).toBe('accepted');
  expect(await send(alias.address)).toMatch(/550 5\.2\.1 .* has expired and accepts no more mail/);
  await box.restart();
  base = `http://127.0.0.1:${box.port('http')}`;
  const { aliases } = (await call('list_aliases', {})) as { aliases: Shown[] };
  expect(aliases).toMatchObject([{ messages: 2, firstSenderDomain: 'good.example', state: 'used_up' }]);
  await call('update_alias', { aliasId: alias.id, maxMessages: null });
  expect(await send(alias.address)).toBe('accepted');
  await call('remove_alias', { aliasId: alias.id });
  expect(await send(alias.address)).toMatch(/550 5\.1\.1/);
});

test('a wildcard to two mailboxes reaches both', async () => {
  await call('create_alias', { mailboxIds, domain: 'home.example', localPart: 'sales-*' });
  const before = await used();
  expect(await send('sales-2026@home.example')).toBe('accepted');
  expect(await send('sale@home.example')).toMatch(/550 5\.1\.1/);
  const after = await used();
  expect(after.every((bytes, i) => bytes > (before[i] ?? 0))).toBe(true);
});

test('who is blocked is informed before the message, or at its end where only the author says it', async () => {
  await call('add_sender_rule', { kind: 'block', pattern: '*.casino.example', mailboxId: mailboxIds[0] });
  expect(await send('anna@home.example', { from: 'win@big.casino.example' })).toMatch(
    /550 5\.7\.1 anna@home\.example takes no mail from win@big\.casino\.example/,
  );
  expect(await send('anna@home.example', { from: 'win@big.casino.example', sender: 'b@good.example' })).toMatch(
    /550 5\.7\.1 .*\*\.casino\.example is blocked by the mailbox/,
  );
  expect(await send('bert@home.example', { from: 'win@big.casino.example' })).toBe('accepted');
});

test('a mailbox without the room that SIZE asks for says so at RCPT, and at the end where SIZE was not said', async () => {
  await call('update_email', { mailboxId: mailboxIds[1], quotaBytes: 1_000_000 });
  using wire = await Wire.open(box.port('smtp'));
  const said = async (line: string): Promise<string | undefined> => {
    wire.send(`${line}\r\n`);
    for (;;) {
      const answer = await wire.line();
      if (answer?.[3] !== '-') return answer;
    }
  };
  await wire.line();
  await said('EHLO client.example');
  await said('MAIL FROM:<ann@good.example> SIZE=2000000');
  expect(await said('RCPT TO:<bert@home.example>')).toBe('452 4.2.2 The mailbox of bert@home.example is full');
  expect(await said('RCPT TO:<anna@home.example>')).toBe('250 2.1.5 Ok');
  await said('RSET');
  await said('MAIL FROM:<ann@good.example>');
  expect(await said('RCPT TO:<bert@home.example>')).toBe('250 2.1.5 Ok');
  expect(await said('DATA')).toMatch(/^354/);
  wire.send(`From: ann@good.example\r\nSubject: long\r\n\r\n${`${'x'.repeat(998)}\r\n`.repeat(1100)}`);
  expect(await said('.')).toBe('452 4.2.2 The mailbox of bert@home.example is full');
});
