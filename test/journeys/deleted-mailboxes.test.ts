import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Box } from '../support/box.ts';
import { JmapClient } from '../support/jmap-client.ts';
import { http, organizationBox, tool } from '../support/mcp.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';

const command = fileURLToPath(new URL('../../bin/mailstead', import.meta.url));
const ADDRESS = 'anna@gone.test';
const PASSWORD = 'four-words-by-a-person';

interface Inbound {
  type: string;
  mailbox: string;
  message: { subject: string; attachments: { url: string }[] };
}

let box: Box;
let base: string;
let token: string;
let organizationId: string;
let receiver: WebhookReceiver<Inbound>;
beforeAll(async () => {
  receiver = await new WebhookReceiver<Inbound>().open();
  ({ box, base, token } = await organizationBox('Deleting'));
  ({ id: organizationId } = (await ask('get_organization'))['organization'] as { id: string });
  await ask('add_email_domain', { domain: 'gone.test' });
  await ask('verify_email_domain', { domain: 'gone.test' });
  await ask('provision_email', { domain: 'gone.test', localPart: 'anna' });
  await ask('set_email_inbound_webhook', { address: ADDRESS, url: receiver.url });
  mailstead(`call rotate_email_credentials address=${ADDRESS} password=${PASSWORD}`);
});
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  receiver[Symbol.dispose]();
});

async function ask(name: string, args: object = {}, secret = token): Promise<Record<string, unknown>> {
  const { status, body, text } = await tool(base, name, args, secret);
  if (status >= 300) throw new Error(text);
  return body;
}

/** The operator acts for the organization, as a person. */
function mailstead(words: string): string {
  const args = [...words.split(' '), '--org', organizationId, '--data-dir', box.dataDir];
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

async function imap(): Promise<ImapFlow> {
  const client = new ImapFlow({
    host: '127.0.0.1',
    port: box.port('imaps'),
    secure: true,
    tls: { rejectUnauthorized: false },
    auth: { user: ADDRESS, pass: PASSWORD },
    logger: false,
  });
  // Without a listener, a closed connection would be an unhandled error.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function deliver(subject: string): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  const attachments = [{ filename: 'plan.txt', content: 'the plan' }];
  await transport.sendMail({ from: 'x@elsewhere.example', to: ADDRESS, subject, text: 'Hello', attachments });
}

function submit(): Promise<unknown> {
  return createTransport({
    host: '127.0.0.1',
    port: box.port('submissions'),
    secure: true,
    auth: { user: ADDRESS, pass: PASSWORD },
    tls: { rejectUnauthorized: false },
  }).sendMail({ from: ADDRESS, to: ADDRESS, subject: 'by myself', text: 'Hello' });
}

const jmap = () => JmapClient.discover(base, { user: ADDRESS, password: PASSWORD });
const told = (n: number) => expect.poll(() => receiver.told.length, { timeout: 60_000, interval: 50 }).toBe(n);

/** Everything that a mail program stores of a mailbox. */
async function copy(): Promise<unknown> {
  const client = await imap();
  const all: unknown[] = [];
  for (const { path } of await client.list()) {
    const { uidValidity, uidNext, exists } = await client.mailboxOpen(path);
    const mails: unknown[] = [];
    if (exists > 0) {
      for await (const mail of client.fetch('1:*', { uid: true, flags: true, source: true })) {
        mails.push([mail.uid, [...(mail.flags ?? [])].toSorted(), mail.source?.toString()]);
      }
    }
    all.push([path, String(uidValidity), uidNext, mails]);
  }
  await client.logout();
  return all;
}

test('a deleted mailbox is closed on every protocol, and restored as it was', async () => {
  await deliver('one');
  await deliver('two');
  await told(2);
  const link = receiver.told[0]?.event.message.attachments[0]?.url ?? '';
  expect((await http('GET', link)).status).toBe(200);
  const client = await imap();
  await client.mailboxCreate('Projects/2026');
  await client.mailboxOpen('INBOX');
  await client.messageFlagsAdd('1', ['\\Flagged', 'important']);
  await client.messageCopy('2', 'Projects/2026');
  const before = await copy();
  const limited = await ask('create_agent_token', { name: 'reader', actions: ['read', 'mail_read'] });
  const { id: mailboxId } = ((await ask('list_emails'))['mailboxes'] as { id: string }[])[0] ?? { id: '' };
  const own = await ask('create_agent_token', { name: 'own', actions: ['mail_read'], mailboxIds: [mailboxId] });

  const closed = once(client, 'close', { signal: AbortSignal.timeout(10_000) });
  expect(mailstead(`mailbox delete ${ADDRESS}`)).toMatch(/can be restored until \d{4}-/);
  await closed;
  await expect(imap()).rejects.toThrow();
  await expect(jmap()).rejects.toThrow(/401/);
  await expect(submit()).rejects.toThrow(/535/);
  await expect(deliver('too late')).rejects.toThrow(/550 5\.2\.1/);
  expect((await http('GET', link)).status).toBe(404);
  await expect(ask('list_messages', { mailbox: mailboxId }, String(limited['secret']))).rejects.toThrow(/not_found/);
  await expect(ask('list_messages', {}, String(own['secret']))).rejects.toThrow(/unauthorized/);
  expect(mailstead('mailbox deleted')).toContain(ADDRESS);

  // A crash and a new start change nothing.
  await box.kill();
  await box.start();
  await expect(imap()).rejects.toThrow();
  expect(mailstead(`mailbox restore ${ADDRESS}`)).toContain(`${ADDRESS} is restored`);
  expect(await copy()).toEqual(before);
  expect((await jmap()).session.username).toBe(ADDRESS);
  await expect(ask('list_messages', {}, String(own['secret']))).rejects.toThrow(/unauthorized/);
  await deliver('three');
  await told(3);
  expect(receiver.told[2]?.event.message.subject).toBe('three');
  expect(await submit()).toMatchObject({ accepted: [ADDRESS] });
});

test('a mailbox that is deleted permanently is not restored, and its address is unknown', async () => {
  const pending = await ask('delete_email', { address: ADDRESS, permanently: true });
  expect(pending).toMatchObject({ status: 'pending_approval' });
  expect(mailstead(`mailbox delete ${ADDRESS} --permanently`)).toContain('is deleted permanently');
  await expect(deliver('too late')).rejects.toThrow(/550 5\.1\.1/);
  await expect(ask('restore_email', { address: ADDRESS })).rejects.toThrow(/not_found/);
  expect(mailstead('mailbox deleted')).not.toContain(ADDRESS);
});
