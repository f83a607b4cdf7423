import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { flow, sources } from './flow.ts';
import { neomutt } from './neomutt.ts';
import { succeed } from './run.ts';

const HERE = import.meta.dirname;
const REPOSITORY = join(HERE, '../..');

let box: Box;
beforeAll(async () => {
  box = await startBox();
});
afterAll(() => box[Symbol.asyncDispose]());

interface Held {
  from: string;
  to: string;
  heldBecause: string | null;
}

async function held(): Promise<Held[]> {
  const { queue } = (await box.ask('list_box_queue')) as { queue: Held[] };
  return queue;
}

/** Bodies of what is in the mailbox. */
async function inbox(): Promise<string[]> {
  await using client = await flow(box);
  return (await sources(client)).map((source) => source.toString());
}

/** The lines that the first start prints for people to copy. */
function printedLines({ printed }: Box): string[] {
  return printed.flatMap((line) => /^\s+\$ (.+)$/.exec(line)?.[1] ?? []);
}

test('the lines that local mode prints work as printed', async () => {
  const lines = printedLines(box);
  const programs = ['swaks', 'curl', 'swaks', 'bin/mailstead', 'curl', 'curl'];
  expect(lines.map((line) => line.split(' ')[0])).toEqual(programs);
  const said: string[] = [];
  for (const line of lines) {
    said.push(await succeed('/bin/sh', ['-c', line], { cwd: REPOSITORY, env: box.env }));
  }
  expect(said[0]).toMatch(/^<-\s+250 .*$/m);
  expect(said[1]).toContain('This is a test mailing');
  expect(said[2]).toMatch(/<~\s+235/);
  expect(said[3]).toContain('you@example.org');
  for (const answer of said.slice(4)) expect(answer).toContain('First token');
  expect(await held()).toEqual([
    expect.objectContaining({ from: box.address, to: 'you@example.org', heldBecause: expect.any(String) as string }),
  ]);
});

test('they do so with a password and a directory that shells trip over, and nothing in the environment', async () => {
  await using parent = await mkdtempDisposable(join(tmpdir(), 'it is '));
  const settings = { LOCAL_PASSWORD: 'it\'s "a $HOME; \\ secret` & #more' };
  await using odd = await startBox({ dataDir: join(parent.path, "bob's"), settings });
  const { MAILSTEAD_DATA_DIR: _, ...env } = odd.env;
  const lines = printedLines(odd);
  expect(lines).toHaveLength(6);
  for (const line of lines) await succeed('/bin/sh', ['-c', line], { cwd: REPOSITORY, env });
});

test('curl sends through both ways of submission and reads with STARTTLS', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'curl-'));
  const file = join(dir.path, 'mail');
  await writeFile(file, `From: ${box.address}\r\nTo: ${box.address}\r\nSubject: by curl\r\n\r\n.dot first\r\nend\r\n`);
  const user = `${box.address}:${box.password}`;
  const common = [
    '-sSk',
    '--user',
    user,
    '--mail-from',
    box.address,
    '--mail-rcpt',
    box.address,
    '--upload-file',
    file,
  ];
  await succeed('/usr/bin/curl', [...common, '--url', `smtps://127.0.0.1:${box.port('submissions')}/me.example`]);
  const startTls = ['--ssl-reqd', '--url', `smtp://127.0.0.1:${box.port('submission')}/me.example`];
  await succeed('/usr/bin/curl', [...common, ...startTls]);
  const found = (await inbox()).filter((text) => text.includes('Subject: by curl'));
  expect(found.map((text) => text.slice(text.indexOf('\r\n\r\n')))).toEqual(
    Array(2).fill('\r\n\r\n.dot first\r\nend\r\n'),
  );

  const url = `imap://127.0.0.1:${box.port('imap')}`;
  const read = (...args: string[]) => succeed('/usr/bin/curl', ['-sSk', '--ssl-reqd', '--user', user, ...args]);
  expect(await read('--url', `${url}/INBOX`, '--request', 'SEARCH SUBJECT curl')).toMatch(/\* SEARCH \d+ \d+/);
  expect(await read('--url', `${url}/`)).toContain('* LIST (');
  await read('--upload-file', file, '--url', `${url}/Drafts`);
  expect(await read('--url', `${url}/Drafts;MAILINDEX=1`)).toContain('.dot first\r\nend\r\n');
});

test('neomutt sends from the command line, and shows, flags and deletes on its screen', async () => {
  await using mutt = await neomutt(box);
  const before = (await held()).length;
  await mutt.send(box.address, 'Grüße by neomutt', 'Hello from neomutt\n.\nafter the dot\n');
  await mutt.send('you@example.org', 'to elsewhere', 'Hello\n');
  expect((await held()).length).toBe(before + 1);

  await using screen = await mutt.open('=INBOX');
  await screen.type('l', '~s neomutt', 'Enter'); // others arrived in the same second
  await screen.sees('Msgs:1/');
  await screen.type('Enter');
  expect(await screen.sees('after the dot')).toContain('From: Me <me@box.test>');
  await screen.type('i');
  await screen.type('w', '!', 'C', 'C-u', '=Archive', 'Enter'); // flag, and copy
  await screen.type('d', 'q');
  await using client = await flow(box);
  await client.mailboxOpen('INBOX');
  const isGone = async (): Promise<unknown> => {
    await client.noop();
    return client.search({ subject: 'Grüße by neomutt' });
  };
  await expect.poll(isGone, { interval: 200 }).toEqual([]);
  await client.mailboxOpen('Archive');
  expect(await client.search({ subject: 'by neomutt', flagged: true })).toHaveLength(1);
});

for (const mode of ['tls', 'starttls'] as const) {
  test(`Python's smtplib and imaplib, ${mode}`, async () => {
    const text = `From: ${box.address}\r\nTo: ${box.address}\r\nSubject: by smtplib ${mode}\r\n\r\n.\r\nHi\r\n`;
    const smtp = String(box.port(mode === 'tls' ? 'submissions' : 'submission'));
    const imap = String(box.port(mode === 'tls' ? 'imaps' : 'imap'));
    const python = (script: string, args: string[], input = '') =>
      succeed('/usr/bin/python3', [join(HERE, script), ...args], { input });
    const login = [box.address, box.password];
    expect(await python('smtplib_send.py', [smtp, mode, ...login, box.address, box.address], text)).toBe('refused 0\n');
    const found = (await inbox()).filter((message) => message.includes(`by smtplib ${mode}`));
    expect(found.map((message) => message.slice(message.indexOf('\r\n\r\n')))).toEqual(['\r\n\r\n.\r\nHi\r\n']);
    expect((await python('imaplib_tour.py', [imap, mode, ...login])).split('\n').slice(0, -1)).toEqual([
      "folders ['Archive', 'Drafts', 'INBOX', 'Junk', 'Sent', 'Trash']",
      'exists 1',
      "found [b'1'] [b'']",
      'same True',
      expect.stringMatching(/^flags \[b'1 \(.*FLAGS \(.*\\\\Deleted.*\)\)'\]$/),
      expect.stringMatching(/^copied /),
      "expunged [b'1']",
      expect.stringMatching(/MESSAGES [1-9]/),
    ]);
  });
}
