import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, connect, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ImapFlow } from 'imapflow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cyrus, startCyrus } from '../../bench/lib/cyrus.ts';
import { type Box, startBox } from '../support/box.ts';
import { oddMail } from '../support/odd-mail.ts';
import { Random } from '../support/random.ts';
import { type Dovecot, startDovecot } from './dovecot.ts';

const COMMAND = join(import.meta.dirname, '../../bin/mailstead');
const FULL = process.env['IMPORT_FULL'] === '1';
const MAILBOXES = FULL ? 20 : 4;
const MESSAGES = FULL ? 2_500 : 150;
/** Cyrus is fetched by apt-get and unpacked into a directory, as it cannot be installed beside Postfix. */
const SOURCES = FULL || process.env['IMPORT_CYRUS'] === '1' ? ['Dovecot', 'Cyrus'] : ['Dovecot'];
const CUTS = FULL ? 30 : 6;

/** Octets of a connection before its cut, at least. With many cuts, no message may be larger: it would be cut three times. */
const CUT_AFTER = FULL ? 450_000 : 20_000;
const TIMEOUT_MS = FULL ? 3_600_000 : 120_000;

const FOLDERS = [
  'INBOX',
  'Sent',
  'Trash',
  'Work',
  'Work.Old mail',
  'Work.Old mail.Very old',
  'Ünïcode & more',
  '日本語.深い',
  'with "quotes"',
  'back\\slash',
  'INBOX.below inbox',
  '100% *wild*',
];

/** A server that mailboxes are pulled from. */
interface Source {
  port: number;
  users: string[];
  password: string;
}

let dovecot: Dovecot;
let cyrus: Cyrus | undefined;
let box: Box;
let directory: string;
beforeAll(async () => {
  dovecot = await startDovecot();
  if (SOURCES.includes('Cyrus')) cyrus = await startCyrus(MAILBOXES, 0);
  box = await startBox();
  directory = await mkdtemp(join(tmpdir(), 'importing-'));
}, TIMEOUT_MS);
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  await dovecot[Symbol.asyncDispose]();
  await cyrus?.[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

function client(port: number, user: string, pass: string): ImapFlow {
  return new ImapFlow({ host: '127.0.0.1', port, secure: false, auth: { user, pass }, logger: false });
}

function sourceOf(name: string): Source {
  if (name === 'Cyrus' && cyrus !== undefined)
    return { port: cyrus.imapPort, users: [...cyrus.users], password: cyrus.password };
  const users = Array.from({ length: MAILBOXES }, (_, n) => `user${n}`);
  return { port: dovecot.port, users, password: 'any' };
}

/** Fills a mailbox: odd folders, as far as the server takes their names, all flags, contents that are doubled. */
async function fill({ port, password }: Source, user: string, seed: number): Promise<void> {
  const flow = client(port, user, password);
  await flow.connect();
  const random = new Random(seed);
  for (const folder of FOLDERS.slice(1)) await flow.mailboxCreate(folder.split('.')).catch(() => undefined);
  const folders = (await flow.list()).filter(({ flags }) => !flags.has('\\Noselect')).map(({ path }) => path);
  expect(folders.length).toBeGreaterThan(FOLDERS.length / 2);
  const mail = oddMail(MESSAGES, seed).filter(({ octets }) => !octets.includes(0));
  for (const [at, { octets, flags, receivedAt }] of mail.entries()) {
    const names = ['\\Seen', '\\Answered', '\\Flagged', '\\Draft', '\\Deleted'].filter(
      (_, bit) => (flags.bits & (1 << bit)) !== 0,
    );
    const folder = folders[at % folders.length] ?? 'INBOX';
    const content = random.chance(0.1) ? (mail[0]?.octets ?? octets) : octets;
    const all = [...names, ...flags.keywords];
    await flow.append(folder, content, all, new Date(Math.floor(receivedAt / 1000) * 1000)).catch((error: unknown) => {
      // Cyrus refuses a message without a header.
      if (!/contains invalid header/.test((error as { responseText?: string }).responseText ?? '')) throw error;
    });
  }
  await flow.logout();
}

interface Outcome {
  imports: {
    mailbox: string;
    import: { state: string; imported: number; known: number; skipped: number; problem: string | null };
    untrusted: {
      problems: unknown[];
      proof?: { equal: boolean; folders: { there: number; here: number; equal: boolean }[]; differences: unknown[] };
    };
  }[];
}

async function pull(args: readonly string[]): Promise<Outcome> {
  const all = ['import', 'imap', ...args, '--tls', 'none', '--json'];
  const { stdout } = await promisify(execFile)(COMMAND, all, { env: box.env, maxBuffer: 64 * 1024 * 1024 }).catch(
    (error: { stdout: string; stderr: string; message: string }) => {
      if (error.stdout !== '') return error;
      throw new Error(`${error.message} ${error.stderr}`);
    },
  );
  return JSON.parse(stdout) as Outcome;
}

/** A proxy before a server that drops every connection after some octets. */
async function cutting(
  port: number,
  everyOctets: () => number,
): Promise<{ port: number; cuts: () => number; close(): Promise<void> }> {
  let cuts = 0;
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    const upstream = connect(port, '127.0.0.1');
    sockets.add(socket).add(upstream);
    let left = everyOctets();
    upstream.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left >= 0 || cuts >= CUTS) return void socket.write(chunk);
      cuts++;
      socket.write(chunk.subarray(0, Math.floor(chunk.length / 2)));
      socket.destroy();
      return void upstream.destroy();
    });
    socket.on('data', (chunk) => upstream.write(chunk));
    for (const one of [socket, upstream])
      one.on('error', () => undefined).on('close', () => (socket.destroy(), upstream.destroy()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as { port: number }).port,
    cuts: () => cuts,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

test.each(SOURCES)(
  'mailboxes of %s come whole over a line that is cut and a server that is killed, and a second run moves nothing',
  { timeout: TIMEOUT_MS },
  async (name) => {
    const source = sourceOf(name);
    const { users, password } = source;
    const addressOf = (user: string): string => `${name.toLowerCase()}-${user}@box.test`;
    for (const [n, user] of users.entries()) {
      await fill(source, user, n + 1);
      await box.ask('add_mailbox', { address: addressOf(user) });
    }
    const csv = join(directory, 'accounts.csv');
    await writeFile(
      csv,
      `user,password,address\n${users.map((user) => `${user},${password},${addressOf(user)}`).join('\n')}\n`,
    );
    const random = new Random(7);
    const proxy = await cutting(source.port, () => CUT_AFTER + random.below(200_000));
    const args = ['--from-host', '127.0.0.1', '--port', String(proxy.port), '--csv', csv];
    const first = pull(args).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await box.kill();
    await box.start();
    await first;
    const second = await pull(args);
    expect(proxy.cuts()).toBeGreaterThan(0);
    for (const one of second.imports) {
      expect(one.untrusted.proof?.differences, one.mailbox).toEqual([]);
      expect(one).toMatchObject({
        import: { state: 'done', skipped: 0 },
        untrusted: { problems: [], proof: { equal: true } },
      });
      for (const folder of one.untrusted.proof?.folders ?? []) expect(folder.here).toBe(folder.there);
    }
    const third = await pull(args);
    for (const one of third.imports) {
      expect(one).toMatchObject({
        import: { state: 'done', imported: 0, skipped: 0 },
        untrusted: { proof: { equal: true } },
      });
    }
    await proxy.close();
    // Counted by a client of this server: nothing is doubled.
    const mailboxes = (await box.ask('list_box_mailboxes')) as { mailboxes: { address: string; messages: number }[] };
    for (const one of third.imports) {
      const there = (one.untrusted.proof?.folders ?? []).reduce((sum, folder) => sum + folder.there, 0);
      expect(mailboxes.mailboxes.find(({ address }) => address === one.mailbox)?.messages).toBe(there);
    }
  },
);
