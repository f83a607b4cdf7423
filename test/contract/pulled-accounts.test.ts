import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { copyEntries } from '../../mail/store/mailbox/entry-commands.ts';
import { FLAGGED, SEEN } from '../../mail/store/mailbox/flags.ts';
import { listMailboxes } from '../../mail/store/mailbox/mailbox.ts';
import { listDeletedMessages } from '../../mail/store/retention/deleted-mail.ts';
import { exportRows } from '../../mail/store/transfer/export-rows.ts';
import { ImportLog } from '../../mail/transfer/import-log.ts';
import type { PullOptions, PullProof, RemoteAccount } from '../../mail/transfer/imap/pull-types.ts';
import { pullAccount } from '../../mail/transfer/imap/pull.ts';
import { LoginRefused } from '../../mail/transfer/imap/remote-failure.ts';
import { scriptedImap } from '../support/imap-script.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

let box: TestStore;
let account: number;
beforeEach(async () => {
  box = await testStore();
  ({ account } = await testAccount(box.store));
});
afterEach(() => box[Symbol.asyncDispose]());

interface RemoteMail {
  subject: string;
  flags?: string;
  /** X-GM-LABELS. */
  labels?: string;
  /** Octets of its text; a few by default. */
  octets?: number;
  /** RFC822.SIZE, if the server lies about it. */
  size?: number;
}

interface RemoteMailbox {
  /** Special use, such as `\All`. */
  use?: string;
  uidValidity: number;
  mail: Map<number, RemoteMail>;
}

type Folders = Readonly<Record<string, RemoteMailbox>>;

const textOf = ({ subject, octets = 1 }: RemoteMail): string =>
  `From: a@a.test\r\nSubject: ${subject}\r\n\r\n${'x'.repeat(octets)}\r\n`;

const mailbox = (mail: Readonly<Record<number, RemoteMail>>, use?: string): RemoteMailbox => ({
  uidValidity: 1,
  mail: new Map(Object.entries(mail).map(([uid, one]) => [Number(uid), one])),
  ...(use !== undefined && { use }),
});

/** A server with these folders. `disturb`: answers a command itself if it returns true. */
async function serve(
  folders: Folders,
  capabilities = 'IMAP4rev1',
  disturb: (command: string, socket: Socket, tag: string) => boolean = () => false,
) {
  const open = new WeakMap<Socket, RemoteMailbox>();
  const commands: string[] = [];
  const server = await scriptedImap((command, socket, tag) => {
    commands.push(command);
    if (disturb(command, socket, tag)) return true;
    const [, name = ''] = /^(?:EXAMINE|STATUS|LIST "") "?([^"(]*?)"?(?: \(| RETURN|$)/.exec(command) ?? [];
    if (command.startsWith('LIST')) socket.write(listed(folders, name));
    const found = folders[name];
    if (found !== undefined && command.startsWith('STATUS')) {
      socket.write(`* STATUS "${name}" (MESSAGES ${found.mail.size})\r\n`);
    }
    if (found !== undefined && command.startsWith('EXAMINE')) {
      open.set(socket, found);
      socket.write(`* ${found.mail.size} EXISTS\r\n* OK [UIDVALIDITY ${found.uidValidity}] x\r\n`);
    }
    const mail = open.get(socket);
    if (mail !== undefined && /^(?:UID )?FETCH/.test(command)) socket.write(fetched(mail, command));
    return false;
  }, capabilities);
  return { port: server.port, commands, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** Folders with this name, or all for `*`. */
function listed(folders: Folders, name: string): string {
  const found = Object.entries(folders).filter(([one]) => name === '*' || name === one);
  return found.map(([one, { use = '' }]) => `* LIST (${use}) "/" "${one}"\r\n`).join('');
}

/** Answers FETCH of sequence numbers, and UID FETCH of UIDs with their octets. */
function fetched({ mail }: RemoteMailbox, command: string): string {
  const [, byUid, set = ''] = /^(UID )?FETCH (\S+)/.exec(command) ?? [];
  const ranges = set.split(',').map((range) => range.split(':').map(Number));
  const has = (number: number): boolean => ranges.some(([from = 0, to = from]) => number >= from && number <= to);
  return [...mail]
    .map(([uid, one], at) => ({ uid, one, number: at + 1 }))
    .filter(({ uid, number }) => has(byUid === undefined ? number : uid))
    .map(({ uid, one, number }) => {
      const labels = command.includes('X-GM-LABELS') ? ` X-GM-LABELS (${one.labels ?? ''})` : '';
      const facts = `UID ${uid} RFC822.SIZE ${one.size ?? textOf(one).length} FLAGS (${one.flags ?? ''})${labels}`;
      const body = command.includes('BODY') ? ` BODY[] {${textOf(one).length}}\r\n${textOf(one)}` : '';
      return `* ${number} FETCH (${facts} INTERNALDATE "23-Nov-2026 08:00:00 +0000"${body})\r\n`;
    })
    .join('');
}

let pass = 0;
async function pull(
  port: number,
  { secret = { password: 'x' }, ...more }: Partial<PullOptions> & Partial<Pick<RemoteAccount, 'secret'>> = {},
): Promise<{ proof: PullProof; log: ImportLog }> {
  const where = { host: 'localhost', ip: '127.0.0.1', port, tls: 'none' as const, anyCertificate: false };
  const options = { labels: 'keywords' as const, deletions: false, perSecond: 0, below: undefined, maxOctets: 1e7 };
  const remote = { ...where, user: 'me', secret };
  const plan = { account, remote, options: { ...options, ...more }, pass: ++pass, clock: () => box.clock.now };
  const log = new ImportLog();
  const stop = new AbortController().signal;
  return { proof: await pullAccount(box.store, { ...plan, stop, firstPauseMs: 1 }, log), log };
}

/** Subject, flags and keywords of all messages by folder. */
async function contentOf(): Promise<Record<string, [string, number, string[]][]>> {
  const found: Record<string, [string, number, string[]][]> = {};
  for (const { id, name } of await box.store.read(listMailboxes, { account })) {
    const rows = await box.store.read(exportRows, { account, mailbox: id, after: 0, limit: 1_000 });
    if (rows.length === 0) continue;
    found[name] = await Promise.all(
      rows.map(async ({ blob, size, flags }) => {
        const text = Buffer.from(await box.store.blob(blob, 0, size)).toString('latin1');
        return [/Subject: (.*)\r/.exec(text)?.[1] ?? '', flags.bits, [...flags.keywords].toSorted()];
      }),
    );
  }
  return found;
}

async function mailboxNamed(name: string): Promise<number> {
  const all = await box.store.read(listMailboxes, { account });
  return all.find((one) => one.name === name)?.id ?? 0;
}

const NUMBERS = Array.from({ length: 40 }, (_, n) => n + 1);
const numbered = (firstUid: number): Map<number, RemoteMail> =>
  new Map(NUMBERS.map((n) => [firstUid + n, { subject: `message ${n}` }]));

test('another UIDVALIDITY between two pulls doubles nothing, and the new UIDs are proven', async () => {
  const inbox = { ...mailbox({}), mail: numbered(0) };
  await using server = await serve({ INBOX: inbox });
  expect((await pull(server.port)).log.progress).toMatchObject({ imported: 40, known: 0 });
  inbox.uidValidity = 2;
  inbox.mail = numbered(1_000);
  inbox.mail.set(2_000, { subject: 'new' });
  const { proof, log } = await pull(server.port);
  expect(log.progress).toMatchObject({ imported: 1, known: 40, skipped: 0 });
  expect(proof).toMatchObject({ equal: true, folders: [{ there: 41, here: 41 }] });
});

test('another UIDVALIDITY in the middle of a pull, with the same UIDs for other messages, neither loses nor doubles any', async () => {
  const inbox = { ...mailbox({}), mail: numbered(0) };
  let isCut = false;
  await using server = await serve({ INBOX: inbox }, undefined, (command, socket) => {
    if (isCut || !command.startsWith('UID FETCH')) return false;
    isCut = true;
    // Half of what was fetched; then the folder is built anew in another order.
    socket.end(fetched({ ...inbox, mail: new Map([...inbox.mail].slice(0, 20)) }, command));
    inbox.uidValidity = 2;
    inbox.mail = new Map(NUMBERS.map((n) => [n, { subject: `message ${41 - n}` }]));
    return true;
  });
  const { proof, log } = await pull(server.port);
  expect(log.progress).toMatchObject({ imported: 40, known: 20, skipped: 0 });
  expect(proof).toMatchObject({ equal: true, folders: [{ there: 40, here: 40 }] });
  const subjects = ((await contentOf())['INBOX'] ?? []).map(([subject]) => subject);
  expect(subjects.toSorted()).toEqual(NUMBERS.map((n) => `message ${n}`).toSorted());
});

test('a server that lies about sizes: what is too large is left out and named, and the others come', async () => {
  const inbox = mailbox({
    1: { subject: 'first' },
    2: { subject: 'larger than it says', octets: 5_000, size: 100 },
    3: { subject: 'smaller than it says', size: 4_000_000_000 },
    4: { subject: 'larger than allowed', octets: 5_000 },
    5: { subject: 'last' },
  });
  await using server = await serve({ INBOX: inbox });
  const { proof, log } = await pull(server.port, { maxOctets: 2_000 });
  expect((await contentOf())['INBOX']?.map(([subject]) => subject)).toEqual(['first', 'last']);
  expect(proof.equal).toBe(false);
  expect(proof.differences.map(({ uid }) => uid)).toEqual([2, 3, 4]);
  const larger = 'It is larger than MAILSTEAD_MAX_MESSAGE_BYTES: raise it, then import again';
  expect(log.report.problems).toEqual([
    { place: 'INBOX, UID 3', problem: larger },
    { place: 'INBOX, UID 4', problem: larger },
    { place: 'INBOX, UID 2', problem: expect.stringContaining('The connection was lost 5 times when it was read') },
  ]);
});

test('a folder that is listed with an 8-bit name, and opens under no name, is named, and the others come', async () => {
  const folders = { INBOX: mailbox({ 1: { subject: 'one' } }), 'M\u00fcller': mailbox({ 1: { subject: 'two' } }) };
  await using server = await serve(folders, undefined, (command, socket, tag) => {
    if (!/^(?:STATUS|EXAMINE|LIST "") "?M/.test(command)) return false;
    socket.write(`${tag} NO [NONEXISTENT] No such mailbox\r\n`);
    return true;
  });
  const { proof } = await pull(server.port);
  expect(await contentOf()).toEqual({ INBOX: [['one', 0, []]] });
  expect(proof).toMatchObject({ equal: false, omitted: [{ count: 1, folders: [expect.stringMatching(/^M.+ller$/)] }] });
});

test('what is deleted there is deleted here only on request, and can be restored', async () => {
  const inbox = { ...mailbox({}), mail: numbered(0) };
  await using server = await serve({ INBOX: inbox });
  await pull(server.port);
  inbox.mail.delete(7);
  await pull(server.port);
  expect((await contentOf())['INBOX']).toHaveLength(40);
  const { proof } = await pull(server.port, { deletions: true });
  expect(proof).toMatchObject({ equal: true, folders: [{ there: 39, here: 39 }] });
  const left = ((await contentOf())['INBOX'] ?? []).map(([subject]) => subject);
  expect(left).toEqual(NUMBERS.filter((n) => n !== 7).map((n) => `message ${n}`));
  const wanted = { account, since: 1, drafts: true, before: null, limit: 9 };
  expect(await box.store.read(listDeletedMessages, wanted)).toMatchObject([{ subject: 'message 7' }]);
});

/** Runs `before` once, when the store is about to run this command. */
function beforeCommand(name: string, before: () => Promise<unknown>): void {
  const { store } = box;
  const write = store.writeSlice.bind(store);
  const spy = vi.spyOn(store, 'writeSlice').mockImplementation(async (what, input) => {
    if (what.name !== name) return write(what, input);
    spy.mockRestore();
    await before();
    return write(what, input);
  });
}

test('a message that is moved here while it is deleted is deleted by the next pull', async () => {
  const inbox = mailbox({ 1: { subject: 'stays' }, 2: { subject: 'moves' }, 3: { subject: 'goes' } });
  await using server = await serve({ INBOX: inbox });
  await pull(server.port);
  const [from, to] = await Promise.all([mailboxNamed('INBOX'), mailboxNamed('Archive')]);
  const move = { account, mailbox: from, uids: [2], to, move: true };
  beforeCommand('store-flags', () => box.store.write(copyEntries, move));
  inbox.mail.delete(2);
  inbox.mail.delete(3);
  const { log } = await pull(server.port, { deletions: true });
  expect(log.report.problems).toEqual([
    { place: 'INBOX, UID 2', problem: expect.stringContaining('deleted there and stays here: it was moved') },
  ]);
  expect(await contentOf()).toEqual({ INBOX: [['stays', 0, []]], Archive: [['moves', 0, []]] });
  await pull(server.port, { deletions: true });
  expect(await contentOf()).toEqual({ INBOX: [['stays', 0, []]] });
});

test('messages that may not be deleted here stay without \\Deleted, and a later pull deletes them', async () => {
  const inbox = mailbox({ 1: { subject: 'one' }, 2: { subject: 'two' } });
  await using server = await serve({ INBOX: inbox });
  await pull(server.port);
  inbox.mail.clear();
  const { store } = box;
  const write = store.writeSlice.bind(store);
  const refusal = { uids: [], modseq: null, kept: 'A person decides' } as never;
  const spy = vi
    .spyOn(store, 'writeSlice')
    .mockImplementation((what, input) => (what.name === 'expunge' ? Promise.resolve(refusal) : write(what, input)));
  const { log } = await pull(server.port, { deletions: true });
  spy.mockRestore();
  expect(log.report.problems.map(({ problem }) => problem)).toEqual(
    Array.from({ length: 2 }, () => 'It was deleted there and stays here: A person decides. Import again'),
  );
  const kept = [
    ['one', 0, []],
    ['two', 0, []],
  ];
  expect(await contentOf()).toEqual({ INBOX: kept });
  await pull(server.port, { deletions: true });
  expect(await contentOf()).toEqual({});
});

const ACCESS = { accessToken: 'token-of-me' };
const decoded = (command: string): string => Buffer.from(command.split(' ').at(-1) ?? '', 'base64').toString();

test.each([
  ['XOAUTH2', 'user=me\u0001auth=Bearer token-of-me\u0001\u0001'],
  ['OAUTHBEARER', 'n,a=me,\u0001'],
])('an access token logs in by %s', async (mechanism, begin) => {
  await using server = await serve(
    { INBOX: mailbox({ 1: { subject: 'one' } }) },
    `IMAP4rev1 SASL-IR AUTH=${mechanism}`,
  );
  const { proof } = await pull(server.port, { secret: ACCESS });
  expect(proof.equal).toBe(true);
  const login = server.commands.find((command) => command.startsWith('AUTHENTICATE')) ?? '';
  expect(login).toContain(`AUTHENTICATE ${mechanism} `);
  expect(decoded(login).startsWith(begin)).toBe(true);
  expect(decoded(login)).toContain('auth=Bearer token-of-me');
});

test('an access token that has expired is a refused login, and not tried again', async () => {
  let logins = 0;
  await using server = await serve({}, 'IMAP4rev1 SASL-IR AUTH=XOAUTH2', (command, socket, tag) => {
    if (!command.startsWith('AUTHENTICATE')) return false;
    logins++;
    socket.write(`${tag} NO [AUTHENTICATIONFAILED] Invalid credentials (Failure)\r\n`);
    return true;
  });
  await expect(pull(server.port, { secret: ACCESS })).rejects.toThrow(LoginRefused);
  expect(logins).toBe(1);
});

/** As Gmail has them: each message is in All Mail, and again in the folder of each of its labels. */
function gmail(): Folders {
  const invoice: RemoteMail = {
    subject: 'invoice',
    flags: '\\Seen',
    labels: '"\\\\Inbox" "Work, old" "\\\\Important"',
  };
  const letter: RemoteMail = { subject: 'letter', labels: 'B&APw-ro' };
  const starred: RemoteMail = { subject: 'starred', flags: '\\Seen \\Flagged', labels: '"\\\\Starred"' };
  const sent: RemoteMail = { subject: 'sent', flags: '\\Seen', labels: '"\\\\Sent"' };
  const archived: RemoteMail = { subject: 'archived', flags: '\\Seen' };
  return {
    INBOX: mailbox({ 1: invoice }),
    'Work, old': mailbox({ 1: invoice }),
    'B&APw-ro': mailbox({ 1: letter }),
    '[Gmail]/All Mail': mailbox({ 1: invoice, 2: letter, 3: starred, 4: sent, 5: archived }, '\\All'),
    '[Gmail]/Starred': mailbox({ 1: starred }, '\\Flagged'),
    '[Gmail]/Important': mailbox({ 1: invoice }, '\\Important'),
    '[Gmail]/Sent Mail': mailbox({ 1: sent }, '\\Sent'),
    '[Gmail]/Spam': mailbox({ 1: { subject: 'spam' } }, '\\Junk'),
    '[Gmail]/Trash': mailbox({ 1: { subject: 'trash' } }, '\\Trash'),
  };
}

const OTHERS = { Sent: [['sent', SEEN, []]], Junk: [['spam', 0, []]], Trash: [['trash', 0, []]] };

test.each([
  [
    'keywords',
    {
      INBOX: [['invoice', SEEN, ['$Important', 'Work,_old']]],
      Archive: [
        ['letter', 0, ['Buro']],
        ['starred', SEEN | FLAGGED, []],
        ['archived', SEEN, []],
      ],
      ...OTHERS,
    },
  ],
  [
    'folders',
    {
      INBOX: [['invoice', SEEN, []]],
      'Work, old': [['invoice', SEEN, []]],
      Büro: [['letter', 0, []]],
      // In all mail alone.
      Archive: [
        ['starred', SEEN | FLAGGED, []],
        ['archived', SEEN, []],
      ],
      ...OTHERS,
    },
  ],
] as const)('labels of Gmail become %s, and nothing is stored twice', async (labels, expected) => {
  await using server = await serve(gmail(), 'IMAP4rev1 X-GM-EXT-1 SPECIAL-USE');
  const { proof, log } = await pull(server.port, { labels });
  expect(log.report.problems).toEqual([]);
  expect(await contentOf()).toEqual(expected);
  expect(proof).toMatchObject({ equal: true, differences: [] });
  expect((await pull(server.port, { labels })).log.progress).toMatchObject({ imported: 0 });
  expect(await contentOf()).toEqual(expected);
});

test('a message with more labels than are kept is imported, and the report says so', async () => {
  const labels = (count: number): string => Array.from({ length: count }, (_, n) => `label-${n}`).join(' ');
  const all = mailbox(
    { 1: { subject: 'sixty', labels: labels(60) }, 2: { subject: 'more', labels: labels(70) } },
    '\\All',
  );
  const folders = { ...gmail(), '[Gmail]/All Mail': all };
  await using server = await serve(folders, 'IMAP4rev1 X-GM-EXT-1 SPECIAL-USE');
  const { log, proof } = await pull(server.port, { labels: 'keywords' });
  const [sixty, more] = (await contentOf())['Archive'] ?? [];
  expect(more?.[2]).toEqual(sixty?.[2]);
  expect(log.report.problems).toEqual([
    { place: '[Gmail]/All Mail, UID 2', problem: expect.stringContaining('first 60 of its labels') },
  ]);
  expect(log.progress.skipped).toBe(0);
  expect(proof.equal).toBe(true);
  expect((await pull(server.port, { labels: 'keywords' })).log.report.problems).toEqual([]);
});

test('a message of All Mail that got the label of a pulled folder since is not deleted in the archive', async () => {
  const folders = gmail();
  const archived = folders['[Gmail]/All Mail']?.mail.get(5);
  await using server = await serve(folders, 'IMAP4rev1 X-GM-EXT-1 SPECIAL-USE');
  const options = { labels: 'folders' as const, deletions: true };
  await pull(server.port, options);
  if (archived !== undefined) {
    archived.labels = '"Work, old"';
    folders['Work, old']?.mail.set(2, archived);
  }
  folders['[Gmail]/All Mail']?.mail.delete(3);
  await pull(server.port, options);
  const { Archive: archive, Trash: trash } = await contentOf();
  // 'starred' was deleted there: deletions are looked for in the folder.
  expect(archive).toEqual([['archived', SEEN, []]]);
  expect(trash).toEqual(OTHERS.Trash);
});
