import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';
import { http } from '../support/mcp.ts';

const ME = 'me@home.example';
const PASSWORD = 'correct-horse-battery';
const STOPPED = /All agents are stopped/;

let box: Box;
let mailboxId: string;
let person: { password: string };
beforeAll(async () => {
  box = await startBox({});
  await box.ask('add_domain', { domain: 'home.example' });
  await box.ask('add_mailbox', { address: ME, password: PASSWORD });
  const { mailboxes } = (await box.ask('list_emails')) as { mailboxes: { id: string; address: string }[] };
  mailboxId = mailboxes.find(({ address }) => address === ME)?.id ?? '';
  person = (await box.ask('create_app_password', { mailboxId, name: 'phone', person: true })) as typeof person;
  await box.ask('save_agent_policy', { mailboxId, preset: 'custom' });
  const smtp = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  await smtp.sendMail({ from: 'you@remote.example', to: ME, subject: 'Hi', text: 'Hello' });
  smtp.close();
});
afterAll(() => box[Symbol.asyncDispose]());

const imap = (password: string): Promise<MailboxReader> => MailboxReader.open(box.port('imap'), ME, password);

async function submit(pass: string): Promise<unknown> {
  const at = { host: '127.0.0.1', port: box.port('submission'), secure: false, ignoreTLS: true };
  const smtp = createTransport({ ...at, auth: { user: ME, pass } });
  return smtp.verify().finally(() => smtp.close());
}

async function jmap(pass: string): Promise<{ status: number; text: string }> {
  const authorization = `Basic ${Buffer.from(`${ME}:${pass}`).toString('base64')}`;
  const { status, text } = await http('GET', `http://127.0.0.1:${box.port('http')}/.well-known/jmap`, {
    authorization,
  });
  return { status, text };
}

test('a password of an agent opens nothing while all agents are stopped, and a person goes on', async () => {
  using open = await imap(PASSWORD);
  using own = await imap(person.password);
  await open.command('SELECT INBOX');
  await box.ask('stop_agents');
  await expect(open.command('FETCH 1 BODY[]')).rejects.toThrow();
  for (let i = 0; i < 12; i++)
    await expect(imap(PASSWORD)).rejects.toThrow(/NO \[UNAVAILABLE\] All agents are stopped/);
  await expect(submit(PASSWORD)).rejects.toThrow(/454 4\.7\.0 All agents are stopped/);
  const refused = await jmap(PASSWORD);
  expect(refused.status).toBe(403);
  expect(refused.text).toMatch(STOPPED);
  expect((await own.command('SELECT INBOX')).toString('latin1')).toContain('OK [READ-WRITE]');
  await expect(submit(person.password)).resolves.toBe(true);
  expect((await jmap(person.password)).status).toBe(200);
  await box.ask('start_agents');
  // Nothing of it was a failed login.
  using again = await imap(PASSWORD);
  expect((await again.command('SELECT INBOX')).toString('latin1')).toContain('1 EXISTS');
});

test('what was done with it is undone by its id', async () => {
  const since = new Date(Date.now() - 60_000).toISOString();
  using reader = await imap(PASSWORD);
  await reader.command('SELECT INBOX');
  await reader.command('STORE 1 +FLAGS.SILENT (\\Flagged \\Deleted)');
  await reader.command('EXPUNGE');
  expect((await reader.command('STATUS INBOX (MESSAGES)')).toString('latin1')).toContain('MESSAGES 0');
  const ask = { passwordId: mailboxId, since };
  expect(await box.ask('undo_changes', ask)).toMatchObject({ undone: 1, kept: [] });
  await reader.command('NOOP');
  const fetched = (await reader.command('FETCH 1 FLAGS')).toString('latin1');
  expect(fetched).toContain('FLAGS (\\Recent)');
});

test('its answer gives way to what a person has begun, and not to its own drafts', async () => {
  const inbound = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  const messageId = '<ask@remote.example>';
  await inbound.sendMail({ from: 'you@remote.example', to: ME, subject: 'How', text: 'How?', messageId });
  inbound.close();
  const at = { host: '127.0.0.1', port: box.port('submission'), secure: false, ignoreTLS: true };
  const smtp = createTransport({ ...at, auth: { user: ME, pass: PASSWORD } });
  const answer = () =>
    smtp.sendMail({ from: ME, to: 'you@remote.example', subject: 'Re: How', text: 'So', inReplyTo: messageId });
  await draft(PASSWORD, messageId);
  await expect(answer()).resolves.toMatchObject({ accepted: ['you@remote.example'] });
  await draft(person.password, messageId);
  await expect(answer()).rejects.toThrow(/550 5\.7\.1 A person has a draft reply in this conversation/);
  smtp.close();
});

async function draft(pass: string, to: string): Promise<void> {
  const auth = { user: ME, pass };
  const at = { host: '127.0.0.1', port: box.port('imap'), secure: false, tls: { rejectUnauthorized: false } };
  const mailbox = new ImapFlow({ ...at, auth, logger: false });
  await mailbox.connect();
  const text = `From: <${ME}>\r\nIn-Reply-To: ${to}\r\nReferences: ${to}\r\nSubject: Re: How\r\n\r\nSo\r\n`;
  await mailbox.append('Drafts', text, ['\\Draft']);
  await mailbox.logout();
}
