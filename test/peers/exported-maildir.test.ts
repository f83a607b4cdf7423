import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ImapFlow } from 'imapflow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportAccount } from '../../mail/transfer/exporter.ts';
import { DirectoryTarget } from '../../mail/transfer/export-target.ts';
import { fromUtf7 } from '../../mail/imap/wire/mailbox-name.ts';
import { EXPORT_FILE, type ExportedFolder, type ExportSummary } from '../../mail/transfer/manifest.ts';
import type { OddMessage } from '../support/odd-mail.ts';
import { fillWithOddMail } from '../support/odd-mailbox.ts';
import { testAccount, testStore } from '../support/store.ts';
import { type Dovecot, startDovecot } from './dovecot.ts';
import { openTerminal } from './terminal.ts';

const MESSAGES = 1_000;
const TIMEOUT_MS = 200_000;
const SYSTEM_FLAGS = ['\\Seen', '\\Answered', '\\Flagged', '\\Draft', '\\Deleted'];

let directory: string;
let maildir: string;
let source: ReadonlyMap<string, OddMessage[]>;
let dovecot: Dovecot;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'exported-'));
  maildir = join(directory, 'Maildir');
  await using box = await testStore();
  const { account } = await testAccount(box.store);
  source = await fillWithOddMail(box.store, account, MESSAGES);
  const target = await DirectoryTarget.create(maildir);
  const plan = { account, address: 'me@box.test', format: 'maildir', below: '', now: box.clock.now } as const;
  expect(await exportAccount(box.store, plan, target)).toMatchObject({ messages: MESSAGES, damaged: [] });
  await target.finish();
  dovecot = await startDovecot();
}, TIMEOUT_MS);
afterAll(async () => {
  await dovecot[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

const hash = (octets: Buffer): string => createHash('sha256').update(octets).digest('hex');
/** Line ends of Maildir are LF, and a server writes CRLF. NUL cannot be in a literal of IMAP (RFC 9051, 4.3): Dovecot sends 0x80. */
const asSent = (octets: Buffer): Buffer => Buffer.from(octets.toString('latin1').replaceAll('\0', '\x80'), 'latin1');

/** Folders of the export that have messages, with the directory of each. */
async function exportedFolders(): Promise<ExportedFolder[]> {
  const summary = JSON.parse(await readFile(join(maildir, EXPORT_FILE), 'utf8')) as ExportSummary;
  return summary.folders.filter(({ messages }) => messages > 0);
}

const sorted = (rows: readonly unknown[]): string[] => rows.map((row) => JSON.stringify(row)).toSorted();

function factsOf({ octets, flags, receivedAt }: OddMessage): unknown[] {
  const bits = SYSTEM_FLAGS.filter((_, bit) => (flags.bits & (1 << bit)) !== 0);
  const all = [...bits, ...flags.keywords].map((flag) => flag.toLowerCase()).toSorted();
  // A file name and the time of a file have seconds.
  return [hash(asSent(octets)), all, Math.floor(receivedAt / 1_000)];
}

test(
  'Dovecot reads an exported Maildir: every folder, octet, flag, keyword and time',
  { timeout: TIMEOUT_MS },
  async () => {
    const home = dovecot.home('reader');
    await cp(maildir, join(home, 'Maildir'), { recursive: true, preserveTimestamps: true });
    await promisify(execFile)('chown', ['-R', '5000:5000', home]);
    const flow = new ImapFlow({
      host: '127.0.0.1',
      port: dovecot.port,
      secure: false,
      auth: { user: 'reader', pass: 'any' },
      logger: false,
    });
    await flow.connect();
    const listed = (await flow.list()).filter(({ flags }) => !flags.has('\\Noselect'));
    const found: Record<string, unknown[]> = {};
    for (const { path } of listed) {
      const { exists } = await flow.mailboxOpen(path, { readOnly: true });
      if (exists === 0) continue;
      const rows: unknown[] = [];
      for await (const one of flow.fetch('1:*', { source: true, flags: true, internalDate: true })) {
        const flags = [...(one.flags ?? [])].map((flag) => flag.toLowerCase()).filter((flag) => flag !== '\\recent');
        const at = Math.floor(new Date(one.internalDate ?? 0).getTime() / 1_000);
        rows.push([hash(asSent(one.source ?? Buffer.alloc(0))), flags.toSorted(), at]);
      }
      found[path] = sorted(rows);
    }
    await flow.logout();
    const expected = (await exportedFolders()).map(({ name, path }) => [
      path === '' ? 'INBOX' : fromUtf7(path.slice(1)),
      sorted((source.get(name) ?? []).map(factsOf)),
    ]);
    expect(found).toEqual(Object.fromEntries(expected));
  },
);

/** Content but for the fields that mutt writes; messages without a header of their own get one, and are only counted. */
function asCopied(octets: Buffer): string {
  const text = octets.toString('latin1').replaceAll(/^(?:Status|X-Status|Content-Length|Lines):.*\n/gim, '');
  return text.startsWith('Message-ID: <odd-') ? hash(Buffer.from(text, 'latin1')) : 'no header';
}

async function filesOf(directory: string): Promise<unknown[]> {
  const rows: unknown[] = [];
  for (const part of ['cur', 'new']) {
    for (const name of await readdir(join(directory, part)).catch(() => [])) {
      const [, flags = ''] = /:2,([A-Z]*)/.exec(name) ?? [];
      const octets = await readFile(join(directory, part, name));
      // A copy that mutt makes keeps no other flags.
      rows.push([asCopied(octets), flags.replaceAll(/[^FRS]/g, '')]);
    }
  }
  return rows;
}

test(
  'mutt reads an exported Maildir, and what it copies has every octet and flag',
  { timeout: TIMEOUT_MS },
  async () => {
    const [box, copies] = [join(directory, 'for-mutt'), join(directory, 'copies')];
    await cp(maildir, box, { recursive: true, preserveTimestamps: true });
    for (const [at, { path }] of (await exportedFolders()).entries()) {
      const copy = join(copies, String(at));
      await mkdir(copies, { recursive: true });
      const rc = join(directory, `muttrc-${at}`);
      await writeFile(
        rc,
        `set mbox_type = Maildir
set folder = "${directory}"
set confirm_append = no
set confirm_create = no
set delete = no
set quit = yes
set wait_key = no
set mark_old = no
set maildir_trash = yes
push "<tag-pattern>~A<enter><tag-prefix><copy-message>${copy}<enter><quit>"
`,
      );
      const env = { ...process.env, HOME: directory, TERM: 'screen-256color', LC_ALL: 'C.UTF-8' };
      await using _terminal = await openTerminal(
        join(directory, `tmux-${at}`),
        ['neomutt', '-n', '-F', rc, '-f', join(box, path)],
        env,
      );
      const before = sorted(await filesOf(join(maildir, path)));
      await expect.poll(async () => (await filesOf(copy)).length, { interval: 100 }).toBe(before.length);
      expect(sorted(await filesOf(copy))).toEqual(before);
    }
  },
);
