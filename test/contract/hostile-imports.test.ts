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
import { pullAccount } from '../../mail/transfer/imap/pull.ts';
import { connectRemote } from '../../mail/transfer/imap/remote-session.ts';
import { readManifest } from '../../mail/transfer/manifest.ts';
import { linesOf } from '../../mail/transfer/text-lines.ts';
import { runImport, type TransferDeps } from '../../src/transfers/import-run.ts';
import { forgedZip } from '../support/forged-zip.ts';
import { flood, scriptedImap } from '../support/imap-script.ts';
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

async function pullFrom(port: number, stop = new AbortController()): Promise<unknown> {
  const { account } = await testAccount(box.store, `pull-${port}`);
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
  let asked = 0;
  await using server = await scriptedImap((command, socket) => {
    if (!/^LIST .*\*/.test(command)) return false;
    asked++;
    flood(socket, `* LIST () "/" ${'x'.repeat(1000)}\r\n`.repeat(50));
    return true;
  });
  await expect(pullFrom(server.port)).rejects.toThrow('more than 1 MB where a list was expected');
  expect(asked).toBe(1);
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

test('the proof of a large folder lets others work between its messages', async () => {
  const facts = { size: 1, flags: { bits: 0, keywords: ['a', 'b'] }, receivedAt: 0, labels: undefined };
  const there = new Map(Array.from({ length: 100_000 }, (_, n) => [n + 1, { uid: n + 1, ...facts }]));
  const names = { source: 'INBOX', folder: 'INBOX', isAllMail: false };
  let turns = 0;
  const counter = setInterval(() => turns++);
  const { differences } = await proveFolder(box.store, names, there, new Map(), new Map());
  clearInterval(counter);
  expect(differences).toHaveLength(100_000);
  expect(turns).toBeGreaterThan(1);
});

test('a stop does not wait for a server that never answers', async () => {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  await using server = await scriptedImap((command) => {
    if (!/^LIST .*\*/.test(command)) return false;
    resolve();
    return true;
  });
  const stop = new AbortController();
  const pull = pullFrom(server.port, stop);
  await Promise.all([expect(pull).rejects.toThrow(), asked.then(() => stop.abort())]);
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

test('an import that ended the server five times without getting further is not resumed', async () => {
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
  expect(await run({ crashes: 4, reached: 0 })).toMatchObject({ state: 'done' });
  const last = await run({ crashes: 5, reached: 0 });
  expect(last).toMatchObject({ state: 'failed' });
  expect(last?.report).toContain('The server ended 5 times while this import ran');
});
