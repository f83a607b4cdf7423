import { jmapForm } from '../../src/core/message-ids.ts';
import { ImapFlow } from 'imapflow';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { type DnsServer, dnsServer } from '../support/dns-server.ts';
import { tool } from '../support/mcp.ts';

let dns: DnsServer;
let box: Box;
let base: string;
let token: string;
let password: string;

beforeAll(async () => {
  dns = await dnsServer({
    'TXT good.example': ['v=spf1 ip4:127.0.0.0/8 -all'],
    'TXT _dmarc.good.example': ['v=DMARC1; p=reject'],
    'TXT bank.example': ['v=spf1 -all'],
    'TXT _dmarc.bank.example': ['v=DMARC1; p=reject'],
    'TXT _dmarc.shop.example': ['v=DMARC1; p=quarantine'],
  });
  const settings = { RESOLVERS: dns.address, EXEMPT_NETWORKS: '127.0.0.0/8' };
  box = await startBox({ hostname: 'mail.home.example', settings });
  base = `http://127.0.0.1:${box.port('http')}`;
  await box.ask('add_domain', { domain: 'home.example' });
  const made = await box.ask('create_agent_token', { name: 'test', actions: ['read', 'manage'] });
  token = (made as { secret: string }).secret;
  password = ((await box.ask('add_mailbox', { address: 'me@home.example' })) as { password: string }).password;
});
afterAll(async () => {
  for (const one of [box, dns]) await one[Symbol.asyncDispose]();
});

function deliver(from: string, subject: string, more: SendMailOptions = {}): Promise<string> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  return transport.sendMail({ from, to: 'me@home.example', subject, text: 'Hello there', ...more }).then(
    () => 'accepted',
    (error: Error) => error.message,
  );
}

interface Found {
  mailbox: string;
  flags: string[];
  source: string;
}

/** Where a message is, in any mailbox. */
async function find(subject: string): Promise<Found | undefined> {
  const auth = { user: 'me@home.example', pass: password };
  const tls = { rejectUnauthorized: false };
  const client = new ImapFlow({ host: '127.0.0.1', port: box.port('imaps'), secure: true, auth, tls, logger: false });
  await client.connect();
  try {
    for (const { path } of await client.list()) {
      const { exists } = await client.mailboxOpen(path, { readOnly: true });
      if (exists === 0) continue;
      for await (const one of client.fetch('1:*', { envelope: true, flags: true, source: true })) {
        if (one.envelope?.subject !== subject) continue;
        return { mailbox: path, flags: [...(one.flags ?? [])], source: one.source?.toString() ?? '' };
      }
    }
    return undefined;
  } finally {
    await client.logout();
  }
}

test('who wrote it is found out and stands in its header, and nothing that claims to', async () => {
  const headers = { 'Authentication-Results': 'mail.home.example; dmarc=fail header.from=good.example' };
  expect(await deliver('anna@good.example', 'true', { headers })).toBe('accepted');
  const found = await find('true');
  expect(found?.mailbox).toBe('INBOX');
  const results = found?.source.match(/^Authentication-Results: [^]*?\r\n(?!\s)/gm) ?? [];
  expect(results).toHaveLength(1);
  expect(results[0]).toMatch(/spf=pass[^]*dmarc=pass[^]*header\.from=good\.example/);
});

test('a forgery is refused as its domain asks, with a sentence, and can be looked at', async () => {
  const answer = await deliver('support@bank.example', 'forged');
  expect(answer).toMatch(/550[ -]5\.7\.1/);
  expect(answer).toContain('bank.example');
  expect(answer).not.toMatch(/https?:/);
  expect(await find('forged')).toMatchObject({ mailbox: 'Rejects' });
});

test('what its domain wants apart is in Junk, and says so to who looks with any client', async () => {
  expect(await deliver('news@shop.example', 'apart')).toBe('accepted');
  const found = await find('apart');
  expect(found).toMatchObject({ mailbox: 'Junk' });
  expect(found?.flags).toContain('$Junk');
});

test('the story of a message reports why it went where it went', async () => {
  const about = { address: 'me@home.example', since: '2020-01-01T00:00:00Z' };
  const { text } = await tool(base, 'trace_message', about, token);
  expect(text).toMatch(/Filter score [\d.]+ \(5 is junk\)[^"]*shop\.example/);
});

test('and it counts as junk, not as received', async () => {
  const headers = { authorization: `Bearer ${token}` };
  const queried = new URLSearchParams({ from: new Date(Date.now() - 3_600_000).toISOString(), bucket: 'hour' });
  const answer = await fetch(`${base}/api/email/stats?${queried.toString()}`, { headers });
  const { totals } = (await answer.json()) as { totals: Record<string, number> };
  const listed = await tool(base, 'list_messages', { mailbox: 'me@home.example', folder: 'junk' }, token);
  expect(totals['junk']).toBe((listed.json as { messages: unknown[] }).messages.length);
});

test('and is found by the id that lists of mail give it', async () => {
  const mailbox = 'me@home.example';
  const listed = await tool(base, 'list_messages', { mailbox, folder: 'junk' }, token);
  const [{ id: messageId } = { id: '' }] = (listed.json as { messages: { id: string }[] }).messages;
  const { json, text } = await tool(base, 'trace_message', { mailbox, messageId }, token);
  expect(text).toMatch(/Filter score [\d.]+ \(5 is junk\)/);
  expect(json).toMatchObject({
    message: { direction: 'received', mailboxMessageIds: [expect.stringMatching(/^msg_/)] },
  });
  // An id of JMAP does not name its mailbox.
  for (const [id, answer] of [
    [messageId, { message: { direction: 'received' } }],
    [jmapForm(messageId), { error: 'invalid_arguments', issues: [{ path: 'mailbox' }] }],
  ] as const) {
    expect((await tool(base, 'trace_message', { messageId: id }, token)).json).toMatchObject(answer);
  }
});

test('an organization may want forgeries only marked', async () => {
  await tool(base, 'update_mail_policy', { dmarc: 'mark' }, token);
  const { json } = await tool(base, 'get_mail_policy', {}, token);
  expect(json).toMatchObject({ dmarc: 'mark', keepRejects: true });
  expect(await deliver('support@bank.example', 'marked')).toBe('accepted');
  expect(await find('marked')).toMatchObject({ mailbox: 'INBOX' });
  await tool(base, 'update_mail_policy', { dmarc: 'follow' }, token);
});

test('mail for an address that only leads to a mailbox here is filtered by the rules of that mailbox', async () => {
  const to = 'team@home.example';
  const led = { sourceAddress: to, destinationAddress: 'me@home.example' };
  await tool(base, 'set_email_forwarder', led, token);
  expect(await deliver('news@shop.example', 'led apart', { to })).toBe('accepted');
  expect(await find('led apart')).toMatchObject({ mailbox: 'Junk' });
  const allow = await tool(base, 'add_sender_rule', { kind: 'allow', pattern: '127.0.0.0/8' }, token);
  expect(await deliver('news@shop.example', 'led in', { to })).toBe('accepted');
  expect(await find('led in')).toMatchObject({ mailbox: 'INBOX' });
  await tool(base, 'add_sender_rule', { kind: 'block', pattern: 'news@good.example' }, token);
  expect(await deliver('news@good.example', 'led nowhere', { to })).toMatch(
    /550 5\.7\.1 .*news@good\.example is blocked/,
  );
  expect(await find('led nowhere')).toBeUndefined();
  // Whoever is allowed, and by whichever rule: its author asks for refusal, and it brings a program.
  const attachments = [{ filename: 'bill.pdf.exe', content: 'MZ' }];
  const answer = await deliver('support@bank.example', 'led with a program', { to, attachments });
  expect(answer).toMatch(/550 5\.7\.1 .*bill\.pdf\.exe is a program/);
  const { rule } = allow.body as { rule: { id: string } };
  expect((await tool(base, 'remove_sender_rule', { ruleId: rule.id }, token)).body).toEqual({ removed: true });
});

test('a message with two authors is refused', async () => {
  const raw = 'From: anna@good.example\r\nFrom: eve@evil.example\r\nTo: me@home.example\r\nSubject: two\r\n\r\nx\r\n';
  const envelope = { from: 'anna@good.example', to: 'me@home.example' };
  expect(await deliver('anna@good.example', 'two', { raw, envelope })).toMatch(/550/);
});

test('a letter that is lost in the filter leaves nothing behind, and the next one is filtered', async () => {
  expect(await deliver('anna@good.example', 'one of many')).toBe('accepted');
  await box.restart();
  expect(await deliver('anna@good.example', 'after a restart')).toBe('accepted');
  expect(await find('after a restart')).toMatchObject({ mailbox: 'INBOX' });
});
