import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ImapFlow } from 'imapflow';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { type RemoteHost, remoteHost } from '../support/remote-host.ts';

// One story, on the real thing: what local mode promises to somebody who tries it for the first time.

const COMMAND = join(import.meta.dirname, '../../bin/mailstead');
const ANN = 'ann@remote.example';

let remote: RemoteHost;
let box: Box;
beforeAll(async () => {
  remote = await remoteHost();
  box = await startBox({ settings: { RESOLVERS: remote.dns.address, OUTBOUND_PORT: String(remote.port) } });
});
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  await remote[Symbol.asyncDispose]();
});

interface Letter {
  from: string;
  to: string;
  text: string;
}

/** Sends as nodemailer does it; with a password through submission, else as a stranger does. */
async function send({ from, to, text }: Letter, password?: string): Promise<void> {
  const door = password === undefined ? 'smtp' : 'submissions';
  const connection = new SMTPConnection({
    host: '127.0.0.1',
    port: box.port(door),
    secure: door === 'submissions',
    tls: { rejectUnauthorized: false },
  });
  const failed = new Promise<never>((_, reject) => connection.once('error', reject));
  failed.catch(() => {}); // reported by the race below
  const step = <T>(run: (done: (error: Error | null, value?: T) => void) => void): Promise<T | undefined> =>
    Promise.race([
      failed,
      new Promise<T | undefined>((resolve, reject) => run((e, v) => (e ? reject(e) : resolve(v)))),
    ]);
  try {
    await step((done) => connection.connect((error) => done(error ?? null)));
    if (password !== undefined) {
      await step((done) => connection.login({ user: from, pass: password }, (error) => done(error)));
    }
    await step((done) => connection.send({ from, to: [to] }, text, (error) => done(error)));
  } finally {
    connection.quit();
  }
}

async function imap(): Promise<ImapFlow> {
  const client = new ImapFlow({
    host: '127.0.0.1',
    port: box.port('imaps'),
    secure: true,
    auth: { user: box.address, pass: box.password },
    tls: { rejectUnauthorized: false },
    logger: false,
  });
  await client.connect();
  await client.mailboxOpen('INBOX');
  return client;
}

/** Subjects in the inbox. */
async function inbox(): Promise<string[]> {
  const client = await imap();
  const messages = await client.fetchAll('1:*', { envelope: true });
  await client.logout();
  return messages.map(({ envelope }) => envelope?.subject ?? '');
}

/** Runs a command of the operator. */
async function operator(...words: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)(COMMAND, [...words, '--json'], { env: box.env });
  return JSON.parse(stdout);
}

interface Queue {
  queue: { id: number; to: string; heldBecause: string | null }[];
}

const letter = (from: string, to: string, subject: string): Letter => ({
  from,
  to,
  text: `From: ${from}\r\nTo: ${to}\r\nSubject: ${subject}\r\n\r\nHello\r\n.a dot first\r\n`,
});

test('mail comes in over SMTP and is there for who reads', async () => {
  await send(letter(ANN, box.address, 'Hello from outside'));
  const client = await imap();
  const message = await client.fetchOne('1', { envelope: true, source: true, flags: true });
  await client.messageFlagsAdd('1', ['\\Seen', '\\Flagged']);
  await client.logout();
  if (!message) throw new Error('nothing came');
  expect(message.envelope).toMatchObject({ subject: 'Hello from outside', from: [{ address: ANN }] });
  const source = message.source?.toString() ?? '';
  expect(source).toMatch(
    /^Return-Path: <ann@remote\.example>\r\nDelivered-To: me@box\.test\r\nAuthentication-Results: box\.test;[\s\S]*?\r\nReceived: from /,
  );
  expect(source.endsWith(letter(ANN, box.address, 'Hello from outside').text)).toBe(true);
});

test('who does not live here, or writes as somebody else, is turned away', async () => {
  await expect(send(letter(ANN, 'nobody@box.test', 'x'))).rejects.toThrow('550');
  await expect(send(letter(ANN, 'x@elsewhere.example', 'x'))).rejects.toThrow('550');
  await expect(send({ ...letter(ANN, ANN, 'x'), from: box.address }, box.password)).rejects.toThrow('550');
});

test('what is sent to the world is held, and the reason given', async () => {
  await send(letter(box.address, ANN, 'An answer'), box.password);
  await send(letter(box.address, 'bob@remote.example', 'Never mind'), box.password);
  const { queue } = (await operator('queue', 'list')) as Queue;
  expect(queue.map(({ to }) => to)).toEqual([ANN, 'bob@remote.example']);
  expect(queue.map(({ heldBecause }) => heldBecause)).toEqual(Array(2).fill(expect.stringContaining('local mode')));
  expect(remote.mails).toEqual([]);
});

test('a crash loses nothing of it', async () => {
  await box.kill();
  await box.restart();
  expect(await inbox()).toEqual(['Hello from outside']);
  const client = await imap();
  const message = await client.fetchOne('1', { flags: true });
  await client.logout();
  expect([...((message && message.flags) || [])].sort()).toEqual(['\\Flagged', '\\Seen']);
  expect(((await operator('queue', 'list')) as Queue).queue).toHaveLength(2);
  expect(remote.mails).toEqual([]);
});

test('the operator lets one go and cancels the other; it arrives once, signed', async () => {
  const { queue } = (await operator('queue', 'list')) as Queue;
  await operator('queue', 'cancel', String(queue.find(({ to }) => to !== ANN)?.id));
  await operator('queue', 'release', String(queue.find(({ to }) => to === ANN)?.id));
  const [mail] = await remote.received(1);
  expect(mail?.from.replace(/\+r[0-9a-z]+-[a-z2-7]{12}@/, '@')).toBe(box.address);
  expect(mail?.to).toEqual([ANN]);
  expect(mail?.text.match(/^DKIM-Signature: .*d=box\.test;/gm)).toHaveLength(2);
  expect(mail?.text).toMatch(/^Message-ID: <[^>]+@box\.test>\r$/m);
  expect(mail?.text).toMatch(/^Date: .+\r$/m);
  expect(mail?.text.endsWith('\r\n\r\nHello\r\n.a dot first\r\n')).toBe(true);
  await expect.poll(() => operator('queue', 'list')).toEqual({ queue: [] });

  await box.kill();
  await box.restart();
  await send(letter(ANN, box.address, 'Thank you'));
  expect(await inbox()).toEqual(['Hello from outside', 'Thank you']);
  await box.stop();
  expect(remote.mails).toHaveLength(1);
});
