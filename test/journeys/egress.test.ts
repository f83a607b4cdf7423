import { createHash } from 'node:crypto';
import { ImapFlow } from 'imapflow';
import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jmapForm } from '../../src/core/message-ids.ts';
import { zipOf } from '../support/archives.ts';
import { type Box, startBox } from '../support/box.ts';
import { JmapClient } from '../support/jmap-client.ts';
import { tool } from '../support/mcp.ts';

type Answer = Record<string, unknown>;

const ME = 'me@home.example';
const FRIEND = 'friend@remote.example';
const PASSWORD = 'correct-horse-battery-7731';
const COLLEAGUE = 'colleague@home.example';
const PASSED = "forwards somebody else's mail";
const CODE = '482913';
const PAYROLL = Buffer.from(`%PDF-1.4 what everybody earns ${'1234 '.repeat(60)}`);
const FILE = Buffer.from(`%PDF-1.4 a stranger's file ${'x'.repeat(200)}`);

let box: Box;
let base: string;
let mailboxId: string;
let token: string;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  await box.ask('add_domain', { domain: 'home.example' });
  await box.ask('add_mailbox', { address: ME, password: PASSWORD });
  const { mailboxes } = (await box.ask('list_emails')) as { mailboxes: { id: string; address: string }[] };
  mailboxId = mailboxes.find(({ address }) => address === ME)?.id ?? '';
  const queried = { name: 'agent', actions: ['read', 'manage'], mailboxIds: [mailboxId] };
  ({ secret: token } = (await box.ask('create_agent_token', queried)) as { secret: string });
  // A password that a person chose is never revealed; this one is the agent's own choice.
  await tool(base, 'rotate_email_credentials', { mailboxId, password: PASSWORD }, token);
  await tool(base, 'reveal_email_credentials', { mailboxId, reason: 'to log in' }, token);
  await showCode();
}, 180_000);
afterAll(() => box[Symbol.asyncDispose]());

async function comes(mail: object): Promise<void> {
  const smtp = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  await smtp.sendMail({ from: 'no-reply@shop.example', to: ME, ...mail });
  smtp.close();
}

/** The agent is shown the code of a sign-up. */
async function showCode(): Promise<void> {
  const { body } = await tool(base, 'wait_for_email', { mailbox: mailboxId, timeoutSeconds: 0 }, token);
  const since = body['cursor'];
  await comes({ subject: 'Your verification code', text: `Your verification code is ${CODE}.` });
  const queried = { mailbox: mailboxId, expectFrom: 'shop.example', since, timeoutSeconds: 30 };
  expect((await tool(base, 'wait_for_code', queried, token)).body).toMatchObject({ code: CODE });
}

/** Secrets that must not leave, and the kind that the refusal names. */
const SECRETS: readonly (readonly [name: string, kind: string, text: () => string])[] = [
  ['its own token', 'token', () => token],
  ['a password that was shown', 'password', () => PASSWORD],
  ['a code that was waited for', 'code', () => CODE],
];

const packed = (secret: string): Buffer => zipOf([{ name: 'notes.txt', data: Buffer.from(`See: ${secret} .\n`) }]);

async function sendBySmtp(mail: object, user = ME): Promise<void> {
  const auth = { user, pass: PASSWORD };
  const server = { host: '127.0.0.1', port: box.port('submission'), secure: false, ignoreTLS: true };
  const smtp = createTransport({ ...server, auth });
  await smtp.sendMail({ from: ME, to: FRIEND, subject: 'Hello', text: 'Hello', ...mail });
  smtp.close();
}

async function imap(): Promise<ImapFlow> {
  const client = new ImapFlow({
    host: '127.0.0.1',
    port: box.port('imap'),
    secure: false,
    doSTARTTLS: false,
    auth: { user: ME, pass: PASSWORD },
    logger: false,
  });
  await client.connect();
  return client;
}

/** A program fetches all there is, as one does that keeps a copy. */
async function copiesAll(): Promise<void> {
  const client = await imap();
  await client.mailboxOpen('INBOX');
  for await (const { source } of client.fetch('1:*', { source: true })) expect(source).toBeDefined();
  await client.logout();
}

/** Writes a draft, and sends it; answers what was said to the sending. */
async function sendByJmap(client: JmapClient, mail: Answer, to = FRIEND): Promise<Answer> {
  const { list: boxes } = await client.call('Mailbox/get');
  const drafts = (boxes as { id: string; role: string }[]).find(({ role }) => role === 'drafts')?.id ?? '';
  const { list } = await client.call('Identity/get');
  const [{ id: identityId = '' } = {}] = list as { id?: string }[];
  const text = { textBody: [{ partId: 't', type: 'text/plain' }], bodyValues: { t: { value: 'Hello' } } };
  const draft = { mailboxIds: { [drafts]: true }, from: [{ email: ME }], to: [{ email: to }], ...text, ...mail };
  const made = await client.call('Email/set', { create: { d: draft } });
  const emailId = (made['created'] as { d: { id: string } } | null)?.d.id;
  if (emailId === undefined) throw new Error(JSON.stringify(made));
  return client.call('EmailSubmission/set', { create: { s: { identityId, emailId } } });
}

async function queued(): Promise<number> {
  return ((await box.ask('list_box_queue')) as { queue: unknown[] }).queue.length;
}

/** Why what waits for a person waits, each by its code. */
async function held(): Promise<string> {
  return JSON.stringify(await box.ask('list_outbox', { limit: 100 }));
}

/** Why the mail of this subject waits; undefined: it does not. */
async function whyHeld(subject: string): Promise<string | undefined> {
  const { items } = (await box.ask('list_outbox', { limit: 100 })) as { items: Answer[] };
  const found = items.find((one) => JSON.stringify(one).includes(subject));
  return found && JSON.stringify(found['reasons']);
}

describe.each(SECRETS)('%s', (_name, kind, text) => {
  test('does not leave by a tool, plainly or packed', async () => {
    const mail = { from: ME, to: [FRIEND], subject: 'Hello' };
    const attachments = [{ filename: 'a.docx', contentBase64: packed(text()).toString('base64') }];
    const refused = { body: { error: 'secret_in_message', kinds: [kind] } };
    expect(await tool(base, 'send_email', { ...mail, text: `It is ${text()} .` }, token)).toMatchObject(refused);
    expect(await tool(base, 'send_email', { ...mail, text: 'Hello', attachments }, token)).toMatchObject(refused);
    expect(await queued()).toBe(0);
  });

  test('does not leave by JMAP, in a text or in a file that was put there', async () => {
    const client = await JmapClient.discover(base, { token });
    const { blobId } = await client.upload(new Uint8Array(packed(text())), 'application/zip');
    const file = { attachments: [{ blobId, type: 'application/zip', name: 'a.zip' }] };
    const said = { bodyValues: { t: { value: `It is ${text()} .` } } };
    for (const mail of [file, said]) {
      const { notCreated } = await sendByJmap(client, mail);
      expect(JSON.stringify(notCreated)).toContain(kind);
    }
    expect(await queued()).toBe(0);
  });

  test('does not leave through a forward that the agent set', async () => {
    const sourceAddress = ME;
    await box.ask('set_email_forwarder', {
      sourceAddress,
      destinationAddress: 'drop@loot.example',
      keepLocalCopy: true,
    });
    const mail = { from: ME, to: [ME], subject: 'Hello', text: `It is ${text()} .` };
    expect(await tool(base, 'send_email', mail, token)).toMatchObject({ body: { error: 'secret_in_message' } });
    expect(await queued()).toBe(0);
  });

  test('does not leave in an answer that goes by itself: no agent writes one', async () => {
    const client = await JmapClient.discover(base, { token });
    const vacation = { isEnabled: false, textBody: `It is ${text()} .` };
    const said = await client.call('VacationResponse/set', { update: { singleton: vacation } });
    expect(said['notUpdated']).toMatchObject({ singleton: { type: 'forbidden' } });
    expect(JSON.stringify(await client.call('VacationResponse/get'))).not.toContain(text());
  });
});

describe('a file of a stranger', () => {
  let messageId: string;
  let attachmentId: string;

  beforeAll(async () => {
    const mail = { subject: 'The contract', text: 'See the file', attachments: [{ filename: 'c.bin', content: FILE }] };
    await comes(mail);
    const { body } = await tool(base, 'list_messages', { mailbox: ME }, token);
    messageId = (body['messages'] as { id: string }[])[0]?.id ?? '';
    const read = await tool(base, 'get_message', { mailbox: ME, messageId }, token);
    const { attachments } = read.body['message'] as { attachments: { id: string }[] };
    attachmentId = attachments[0]?.id ?? '';
    await box.ask('send_email', { from: ME, to: [FRIEND], subject: 'Before', text: 'Before' });
  });

  const mail = (subject: string, attachments: readonly object[]): object => ({
    from: ME,
    to: [FRIEND],
    subject,
    text: 'Here it is',
    attachments,
  });

  test('is passed on by its id only when a person lets it', async () => {
    const { body } = await tool(base, 'send_email', mail('by id', [{ attachmentId }]), token);
    expect(body).toMatchObject({ status: 'pending_approval' });
    expect(await held()).toContain("forwards somebody else's mail");
  });

  test('is known by its octets, however they came into the message', async () => {
    const again = { filename: 'mine.dat', contentBase64: FILE.toString('base64') };
    const { body } = await tool(base, 'send_email', mail('by octets', [again]), token);
    expect(body).toMatchObject({ status: 'pending_approval' });
    expect(JSON.stringify(body['reasons'])).toContain("forwards somebody else's mail");
    const other = { filename: 'mine.dat', contentBase64: Buffer.from(FILE).fill(0x79, 60).toString('base64') };
    const free = await tool(base, 'send_email', mail('of the same length', [other]), token);
    expect(JSON.stringify(free.body['reasons'])).not.toContain("forwards somebody else's mail");
  });

  test('is known when JMAP put it there', async () => {
    const client = await JmapClient.discover(base, { token });
    const { blobId } = await client.upload(new Uint8Array(FILE), 'application/octet-stream');
    for (const id of [blobId, jmapForm(attachmentId)]) {
      const file = { blobId: id, type: 'application/octet-stream', name: 'x.bin' };
      const subject = `JMAP ${id}`;
      await sendByJmap(client, { attachments: [file], subject });
      const { items } = (await box.ask('list_outbox', { limit: 100 })) as { items: Answer[] };
      const found = items.find((one) => JSON.stringify(one).includes(subject));
      expect(JSON.stringify(found?.['reasons'] ?? items)).toContain("forwards somebody else's mail");
    }
  });
});

describe('mail of the organization', () => {
  beforeAll(async () => {
    await box.ask('add_mailbox', { address: COLLEAGUE, password: PASSWORD });
    const attachments = [{ filename: 'payroll.pdf', content: PAYROLL }];
    await sendBySmtp({ from: COLLEAGUE, to: ME, subject: 'Payroll', text: 'See the file', attachments }, COLLEAGUE);
  });

  async function payroll(client: JmapClient): Promise<string> {
    const { ids } = await client.call('Email/query', { filter: { subject: 'Payroll' } });
    return (ids as string[])[0] ?? '';
  }

  test('is known when JMAP makes a part of it one of a message, and nothing was read', async () => {
    const client = await JmapClient.discover(base, { token });
    const blobId = `${await payroll(client)}-2`;
    const attachments = [{ blobId, type: 'application/octet-stream', name: 'x.bin' }];
    await sendByJmap(client, { attachments, subject: 'By its id' });
    expect(await whyHeld('By its id')).toContain(PASSED);
  });

  test('is known as a whole, whatever it is called', async () => {
    const client = await JmapClient.discover(base, { token });
    const attachments = [{ blobId: await payroll(client), type: 'text/plain', name: 'm.txt' }];
    await sendByJmap(client, { attachments, subject: 'As a whole' });
    expect(await whyHeld('As a whole')).toContain(PASSED);
  });

  test('is known when JMAP sends one that a person wrote, and nothing was read', async () => {
    const offer = `%PDF-1.4 what it costs others ${'4321 '.repeat(60)}`;
    const kept = `From: ${ME}\r\nTo: ${FRIEND}\r\nSubject: An offer\r\nContent-Type: application/pdf\r\n\r\n${offer}`;
    const client = await imap();
    await client.append('Sent', kept, ['\\Seen']);
    await client.logout();
    const jmap = await JmapClient.discover(base, { token });
    const { ids } = await jmap.call('Email/query', { filter: { subject: 'An offer' } });
    const { list } = await jmap.call('Identity/get');
    const [{ id: identityId = '' } = {}] = list as { id?: string }[];
    await jmap.call('EmailSubmission/set', { create: { s: { identityId, emailId: (ids as string[])[0] } } });
    expect(await whyHeld('An offer')).toContain(PASSED);
  });

  test('is known when it was put up again, after lists of other mail', async () => {
    const client = await JmapClient.discover(base, { token });
    const attachmentId = `${await payroll(client)}-2`;
    await tool(base, 'get_attachment', { mailbox: ME, attachmentId, mode: 'link' }, token);
    for (const folder of ['inbox', 'drafts']) await tool(base, 'list_messages', { mailbox: ME, folder }, token);
    const sha256 = createHash('sha256').update(PAYROLL).digest('hex');
    const queried = { filename: 'mine.dat', contentType: 'application/pdf', sizeBytes: PAYROLL.length, sha256 };
    const { body: link } = await tool(base, 'upload_attachment_url', queried, token);
    await fetch(String(link['putUrl']), { method: 'PUT', body: new Uint8Array(PAYROLL) });
    const attachments = [{ uploadId: link['uploadId'] }];
    const mail = { from: ME, to: [FRIEND], subject: 'Put up', text: 'Here', attachments };
    const { body } = await tool(base, 'send_email', mail, token);
    expect(JSON.stringify(body['reasons'])).toContain(PASSED);
  });
});

describe('the password of a mailbox under a policy', () => {
  beforeAll(() => box.ask('save_agent_policy', { mailboxId, preset: 'custom' }));

  test.each(SECRETS)('sends nothing with %s by SMTP', async (_name, kind, text) => {
    const before = await queued();
    const attachments = [{ filename: 'a.zip', content: packed(text()) }];
    await expect(sendBySmtp({ text: `It is ${text()} .` })).rejects.toThrow(kind);
    await expect(sendBySmtp({ attachments })).rejects.toThrow(kind);
    expect(await queued()).toBe(before);
  });

  test('hands on no mail of the organization that a program copied with it', async () => {
    const attachments = [{ filename: 'plan.pdf', content: Buffer.from(PAYROLL).fill(0x79, 60) }];
    await sendBySmtp({ from: COLLEAGUE, to: ME, subject: 'Plan', text: 'See the file', attachments }, COLLEAGUE);
    await sendBySmtp({ subject: 'not read', attachments });
    expect(await whyHeld('not read')).not.toContain(PASSED);
    await copiesAll();
    await sendBySmtp({ subject: 'copied', attachments });
    expect(await whyHeld('copied')).toContain(PASSED);
  });

  test('has what cannot be looked into wait', async () => {
    const locked = zipOf([{ name: 'a', data: Buffer.from('nothing'), locked: true }]);
    await sendBySmtp({ subject: 'locked', attachments: [{ filename: 'a.zip', content: locked }] });
    expect(await held()).toContain('cannot be scanned');
  });
});
