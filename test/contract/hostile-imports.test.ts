import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  addImportJob,
  dueImportJobs,
  expireUploads,
  importJob,
  isImportOpen,
  updateImportJob,
} from '../../mail/store/transfer/import-job.ts';
import { quiet } from '../../mail/log.ts';
import { importFiles } from '../../mail/transfer/file-import.ts';
import type { FileTree } from '../../mail/transfer/file-tree.ts';
import { ImportLog } from '../../mail/transfer/import-log.ts';
import { proveFolder } from '../../mail/transfer/imap/pull-proof.ts';
import type { PullProof } from '../../mail/transfer/imap/pull-types.ts';
import { pullAccount } from '../../mail/transfer/imap/pull.ts';
import { PAGE, type RemoteFacts, remotePages } from '../../mail/transfer/imap/remote-pages.ts';
import { foldersToPull } from '../../mail/transfer/imap/remote-folders.ts';
import { connectRemote } from '../../mail/transfer/imap/remote-session.ts';
import { readManifest } from '../../mail/transfer/manifest.ts';
import { linesOf } from '../../mail/transfer/text-lines.ts';
import { runImport, type TransferDeps } from '../../src/transfers/import-run.ts';
import { forgedZip } from '../support/forged-zip.ts';
import { flood, scriptedImap } from '../support/imap-script.ts';
import type { ListResponse } from 'imapflow';
import { createMailbox } from '../../mail/store/mailbox/mailbox.ts';
import { importReport } from '../../src/cli/import-report.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

let box: TestStore;
let directory: string;
beforeAll(async () => {
  box = await testStore();
  directory = await mkdtemp(join(tmpdir(), 'hostile-imports-'));
});
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

const clock = (): number => box.clock.now;

async function pullFrom(port: number, stop = new AbortController(), of?: number): Promise<PullProof> {
  const account = of ?? (await testAccount(box.store, `pull-${port}`)).account;
  const remote = { host: 'localhost', ip: '127.0.0.1', port, tls: 'none' as const, anyCertificate: false };
  const options = { labels: 'keywords' as const, deletions: false, perSecond: 0, below: undefined, maxOctets: 1e7 };
  const login = { user: 'me', secret: { password: 'x' } };
  const plan = { account, remote: { ...remote, ...login }, options, pass: 1, clock, stop: stop.signal };
  return pullAccount(box.store, plan, new ImportLog());
}

test('a file of an archive that would fill the disk is not unpacked', async () => {
  const path = join(directory, 'bomb.zip');
  await writeFile(path, forgedZip('Takeout/all.mbox', 2n ** 50n));
  const { account } = await testAccount(box.store, 'bomb');
  const plan = { account, path, folder: undefined, spool: directory, maxOctets: 1e7, pass: 1, clock };
  const done = importFiles(box.store, { ...plan, stop: new AbortController().signal }, new ImportLog());
  await expect(done).rejects.toThrow(/^Takeout\/all\.mbox has 1,073,741,824 MB when unpacked, .*: unpack the archive/);
});

test('a manifest of more lines than memory holds ends the import, not the server', async () => {
  const line = 'x'.repeat(16_000);
  const tree = {
    async *lines() {
      for (;;) yield line;
    },
  } as unknown as FileTree;
  await expect(readManifest(tree, 'INBOX')).rejects.toThrow('INBOX/manifest.jsonl is too large to be read');
});

test.each([
  ['names', (n: number) => ({ file: `${n}-${'x'.repeat(10_000)}`, keywords: [] })],
  ['keywords', (n: number) => ({ file: `${n}`, keywords: [`${n}`, 'x'.repeat(10_000)] })],
])('a manifest with more %s than memory holds ends the import', async (_what, at) => {
  let read = 0;
  const tree = {
    async *lines() {
      for (; read < 20_000; read++) {
        yield await Promise.resolve(JSON.stringify({ ...at(read), flags: 0, receivedAt: '2026-01-01T00:00:00Z' }));
      }
    },
  } as unknown as FileTree;
  await expect(readManifest(tree, 'INBOX')).rejects.toThrow('INBOX/manifest.jsonl is too large to be read');
  expect(read).toBeLessThan(6_000);
});

test('the entries of a manifest with the same keywords share one list', async () => {
  const line = (file: string) =>
    JSON.stringify({ file, flags: 1, keywords: ['a', 'b'], receivedAt: '2026-01-01T00:00:00Z' });
  const tree = {
    async *lines() {
      yield* await Promise.resolve([line('1'), line('2')]);
    },
  } as unknown as FileTree;
  const found = await readManifest(tree, 'INBOX');
  expect([...found.keys()]).toEqual(['1', '2']);
  expect(found.get('1')?.flags.keywords).toBe(found.get('2')?.flags.keywords);
});

test('lines are read in pieces: a line that is too long is left out, and those around it stay', async () => {
  async function* chunks() {
    yield Buffer.from('one\n\ntw');
    yield Buffer.from('o\nthr');
    for (let n = 0; n < 10; n++) yield Buffer.alloc(10, 'e');
    yield Buffer.from('\nfour\nfive');
  }
  const lines: string[] = [];
  for await (const line of linesOf(chunks(), 50)) lines.push(line);
  expect(lines).toEqual(['one', 'two', 'four', 'five']);
});

test('a server that lists folders without end is left, and not asked again', async () => {
  let queried = 0;
  await using server = await scriptedImap((command, socket) => {
    if (!/^LIST .*\*/.test(command)) return false;
    queried++;
    flood(socket, `* LIST () "/" ${'x'.repeat(1000)}\r\n`.repeat(50));
    return true;
  });
  await expect(pullFrom(server.port)).rejects.toThrow('more than 1 MB where a list was expected');
  expect(queried).toBe(1);
});

/** Answers as a server with empty folders. */
const emptyFolders = (capabilities: string, lines: readonly string[]) =>
  scriptedImap((command, socket, tag) => {
    if (command === 'CAPABILITY') socket.write(`* CAPABILITY IMAP4rev1 ${capabilities}\r\n${tag} OK done\r\n`);
    if (/^LIST .*\*/.test(command)) socket.write(lines.map((line) => `* LIST ${line}\r\n`).join(''));
    if (command.startsWith('EXAMINE')) socket.write('* 0 EXISTS\r\n* OK [UIDVALIDITY 1] x\r\n');
    return command === 'CAPABILITY';
  });

const job = { importId: 'imp_1', imported: 0, known: 0, skipped: 0, bytes: 0, total: 0, folder: null, problem: null };
const printed = (proof: PullProof): string =>
  importReport({
    mailbox: 'ann@box.test',
    import: { ...job, state: 'done' },
    untrusted: { problems: [], moreProblems: 0, proof },
  });

test('a Gmail account that hides All Mail is not called equal', async () => {
  const lines = ['(\\HasNoChildren) "/" "INBOX"', '(\\Trash) "/" "[Gmail]/Trash"', '(\\Junk) "/" "[Gmail]/Spam"'];
  await using hiding = await emptyFolders('X-GM-EXT-1 SPECIAL-USE', lines);
  const proof = await pullFrom(hiding.port);
  expect(proof).toMatchObject({ equal: false, omitted: [{ count: 1, folders: ['All Mail'] }] });
  expect(printed(proof)).toContain('1 folder not pulled (All Mail): Hidden from IMAP by Gmail. In its settings,');
  expect(printed(proof)).toContain('Proof: incomplete, not equal.');
  await using showing = await emptyFolders('X-GM-EXT-1 SPECIAL-USE', [...lines, '(\\All) "/" "[Gmail]/All Mail"']);
  expect(await pullFrom(showing.port)).toMatchObject({ equal: true, omitted: [] });
});

test('folders beyond the most that a pull takes are counted and named, and those with a use of Gmail come first', () => {
  const one = (path: string, specialUse?: string) =>
    ({ path, delimiter: '/', flags: new Set<string>(), specialUse }) as unknown as ListResponse;
  const listed = Array.from({ length: 10_150 }, (_, n) => one(`label ${n}`));
  const plain = foldersToPull(listed, { prefix: '', labels: 'keywords', isGmail: false });
  expect(plain.folders).toHaveLength(10_000);
  expect(plain.omitted).toMatchObject([{ count: 150, problem: expect.stringContaining('at most 10,000 folders') }]);
  expect(plain.omitted[0]?.folders).toHaveLength(100);
  expect(plain.omitted[0]?.folders[0]).toBe('label 10000');
  const uses = [one('a', '\\All'), one('b', '\\Junk'), one('c', '\\Trash')];
  const gmail = foldersToPull([...listed, ...uses], { prefix: '', labels: 'keywords', isGmail: true });
  expect(gmail.folders.map(({ path }) => path)).toEqual(['a', 'b', 'c']);
  expect(gmail.omitted).toEqual([]);
  const long = foldersToPull([one('a'), one('ä'.repeat(501))], { prefix: '', labels: 'keywords', isGmail: false });
  expect(long.folders.map(({ path }) => path)).toEqual(['a']);
  expect(long.omitted).toMatchObject([{ count: 1, folders: [`${'ä'.repeat(100)}…`] }]);
});

test('a folder that cannot be created here is named, and the proof says incomplete', async () => {
  const { account } = await testAccount(box.store, 'full');
  const made = await Promise.all(
    Array.from({ length: 2_000 }, (_, n) => box.store.write(createMailbox, { account, name: `own ${n}`, role: null })),
  );
  expect(made.at(-1)?.kind).toBe('too-many');
  await using server = await emptyFolders('', ['() "/" "INBOX"', '() "/" "Projects"']);
  const proof = await pullFrom(server.port, undefined, account);
  expect(proof).toMatchObject({ equal: false, omitted: [{ count: 1, folders: ['Projects'] }] });
  expect(proof.folders.map(({ source }) => source)).toEqual(['INBOX']);
  expect(printed(proof)).toContain('1 folder not pulled (Projects): The mailbox has as many folders as it can here');
});

test('UIDs that a server says have vanished are not taken apart: a short line names millions', async () => {
  await using server = await scriptedImap((command, socket) => {
    if (command.startsWith('EXAMINE')) socket.write('* 3 EXISTS\r\n* OK [UIDVALIDITY 1] x\r\n');
    if (command === 'NOOP') socket.write('* VANISHED 1:1000\r\n* VANISHED (EARLIER) 1:1000\r\n');
    return false;
  });
  const remote = { host: 'localhost', ip: '127.0.0.1', port: server.port, tls: 'none' as const };
  const login = { anyCertificate: false, user: 'me', secret: { password: 'x' } };
  const client = await connectRemote({ ...remote, ...login }, 1e6);
  let events = 0;
  client.on('expunge', () => events++);
  await client.mailboxOpen('INBOX', { readOnly: true });
  await client.noop();
  client.close();
  expect(events).toBe(0);
});

test('a folder is read in pages, and no message is missed or read twice when others are expunged between them', async () => {
  let uids = Array.from({ length: 3_000 }, (_, at) => at + 1);
  const ranges: string[] = [];
  await using server = await scriptedImap((command, socket) => {
    if (command.startsWith('EXAMINE')) socket.write(`* ${uids.length} EXISTS\r\n* OK [UIDVALIDITY 1] x\r\n`);
    const [, range, from = '', to = ''] = /^FETCH ((\d+):(\d+)) /.exec(command) ?? [];
    if (range === undefined) return false;
    ranges.push(range);
    const some = uids.slice(Number(from) - 1, Number(to));
    socket.write(
      some.map((uid, at) => `* ${Number(from) + at} FETCH (UID ${uid} RFC822.SIZE 1 FLAGS (a))\r\n`).join(''),
    );
    return false;
  });
  const remote = { host: 'localhost', ip: '127.0.0.1', port: server.port, tls: 'none' as const };
  const client = await connectRemote({ ...remote, anyCertificate: false, user: 'me', secret: { password: 'x' } }, 1e6);
  await client.mailboxOpen('INBOX', { readOnly: true });
  const found: number[] = [];
  for await (const page of remotePages(client, false)) {
    expect(page.size).toBeLessThanOrEqual(PAGE);
    found.push(...page.keys());
    if (found.length !== PAGE) continue;
    // Two that were read and one that was not.
    uids = uids.filter((uid) => ![5, 900, 2_500].includes(uid));
    for (const seq of [2_500, 900, 5]) client.emit('expunge', { path: 'INBOX', seq, vanished: false });
    if (client.mailbox !== false) client.mailbox.exists -= 3;
  }
  client.close();
  expect(found).toEqual(Array.from({ length: 3_000 }, (_, at) => at + 1).filter((uid) => uid !== 2_500));
  expect(ranges).toEqual(['1:1000', '998:1997', '1998:2997']);
});

test('reports of other messages amid the answer to FETCH hide no message, and replace no facts', async () => {
  const facts = (uid: number): string => `* ${uid} FETCH (UID ${uid} RFC822.SIZE 1 FLAGS (a))\r\n`;
  await using server = await scriptedImap((command, socket) => {
    if (command.startsWith('EXAMINE')) socket.write('* 1500 EXISTS\r\n* OK [UIDVALIDITY 1] x\r\n');
    const [, from = '', to = ''] = /^FETCH (\d+):(\d+) /.exec(command) ?? [];
    if (from === '') return false;
    // Flags that another session changed: of a message of the next page, and of one that was just sent. RFC 9051 7.5.2.
    const amid = `* 1400 FETCH (UID 1400 FLAGS (b))\r\n* ${from} FETCH (UID ${from} FLAGS (b))\r\n`;
    const lines = Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) => facts(Number(from) + at));
    socket.write(`${lines[0]}${amid}${lines.slice(1).join('')}`);
    return false;
  });
  const remote = { host: 'localhost', ip: '127.0.0.1', port: server.port, tls: 'none' as const };
  const client = await connectRemote({ ...remote, anyCertificate: false, user: 'me', secret: { password: 'x' } }, 1e6);
  await client.mailboxOpen('INBOX', { readOnly: true });
  const found: RemoteFacts[] = [];
  for await (const page of remotePages(client, false)) found.push(...page.values());
  client.close();
  expect(found.map(({ uid }) => uid)).toEqual(Array.from({ length: 1_500 }, (_, at) => at + 1));
  expect(found.every(({ size, flags }) => size === 1 && flags.keywords.includes('a'))).toBe(true);
});

test('a server that counts messages which it does not send is left', async () => {
  let queried = 0;
  await using server = await scriptedImap((command, socket) => {
    if (/^LIST .*\*/.test(command)) socket.write('* LIST () "/" INBOX\r\n');
    if (command.startsWith('EXAMINE')) socket.write('* 4000000000 EXISTS\r\n* OK [UIDVALIDITY 1] x\r\n');
    if (command.startsWith('FETCH')) queried++;
    return false;
  });
  await expect(pullFrom(server.port)).rejects.toThrow('counts messages that it does not send');
  expect(queried).toBeLessThan(200);
});

test('a page of messages with more flags than a page can have ends the connection', async () => {
  const flags = Array.from({ length: 1_000 }, (_, at) => `keyword-${at}`).join(' ');
  await using server = await scriptedImap((command, socket) => {
    if (/^LIST .*\*/.test(command)) socket.write('* LIST () "/" INBOX\r\n');
    if (command.startsWith('EXAMINE')) socket.write('* 1000 EXISTS\r\n* OK [UIDVALIDITY 1] x\r\n');
    if (!command.startsWith('FETCH')) return false;
    flood(socket, `* 1 FETCH (UID 1 FLAGS (${flags}))\r\n`);
    return true;
  });
  await expect(pullFrom(server.port)).rejects.toThrow('more than 8 MB where a list was expected');
});

test('the proof of a large folder lets others work between its messages', async () => {
  const facts = { size: 1, flags: { bits: 0, keywords: ['a', 'b'] }, receivedAt: 0, labels: undefined };
  const there = new Map(Array.from({ length: 100_000 }, (_, n) => [n + 1, { uid: n + 1, ...facts }]));
  const names = { source: 'INBOX', folder: 'INBOX', isAllMail: false };
  let turns = 0;
  const counter = setInterval(() => turns++);
  async function* pages() {
    yield await Promise.resolve({ there, pulled: new Map<number, never>() });
  }
  const found = await proveFolder(box.store, names, pages(), new Map(), 500);
  clearInterval(counter);
  expect(found.differences.listed).toHaveLength(500);
  expect(found.differences.more).toBe(99_500);
  expect(turns).toBeGreaterThan(1);
});

test('a stop does not wait for a server that never answers', async () => {
  const { promise: queried, resolve } = Promise.withResolvers<void>();
  await using server = await scriptedImap((command) => {
    if (!/^LIST .*\*/.test(command)) return false;
    resolve();
    return true;
  });
  const stop = new AbortController();
  const pull = pullFrom(server.port, stop);
  await Promise.all([expect(pull).rejects.toThrow(), queried.then(() => stop.abort())]);
});

test('imports that wait for an upload, and those of one organization, keep no others from running', async () => {
  const { store } = box;
  const add = async (account: number, tenant: number, state: 'waiting' | 'running') =>
    store.write(addImportJob, { tenant, account, kind: 'file', spec: '{}', secret: null, state, by: 'usr_1' });
  let last = 0;
  for (let n = 0; n < 51; n++) {
    for (let of = 0; of < 20; of++) last = (await add(1000 + n, 7, of < 10 ? 'waiting' : 'running')) ?? 0;
  }
  const other = await add(2000, 8, 'running');
  const due = await store.read(dueImportJobs, undefined);
  expect(due.slice(0, 2).map(({ tenant }) => tenant)).toEqual([7, 8]);
  expect(due.find(({ id }) => id === other)).toMatchObject({ tenant: 8 });
  expect(due.every(({ state }) => state === 'running')).toBe(true);
  const waiting = (await add(3000, 9, 'waiting')) ?? 0;
  await store.write(expireUploads, { before: clock() });
  expect(await store.read(isImportOpen, { id: waiting })).toBe(true);
  await store.write(expireUploads, { before: clock() + 1 });
  await store.write(expireUploads, { before: clock() + 1 });
  expect(await store.read(isImportOpen, { id: waiting })).toBe(false);
  expect(await store.read(isImportOpen, { id: last })).toBe(true);
});

test('an import that ended the server eight times without getting further is not resumed', async () => {
  const { store } = box;
  const path = join(directory, 'one.eml');
  await writeFile(path, 'From: a@box.test\r\n\r\nHello\r\n');
  const spec = JSON.stringify({ kind: 'file', path, name: null, folder: null });
  const settings = { dataDir: directory, maxMessageBytes: 1e7 };
  const deps = { store, settings, clock, log: quiet, metrics: { count: () => undefined } } as unknown as TransferDeps;
  const { account } = await testAccount(store, 'crashes');
  const run = async (progress: object) => {
    const job = { tenant: 1, account, kind: 'file', spec, secret: null, state: 'running', by: 'usr_1' } as const;
    const id = (await store.write(addImportJob, job)) ?? 0;
    await store.write(updateImportJob, { id, state: 'running', progress: JSON.stringify(progress), report: '{}' });
    const row = async () => store.read(importJob, { tenant: 1, id });
    await runImport(deps, (await row())!, new AbortController().signal);
    return row();
  };
  expect(await run({ crashes: 7, reached: 0, retryAt: 1 })).toMatchObject({ state: 'done' });
  const last = await run({ crashes: 8, reached: 0 });
  expect(last).toMatchObject({ state: 'failed' });
  expect(last?.report).toContain('The server ended 8 times while this import ran');
});
