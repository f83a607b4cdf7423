import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { quiet } from '../../mail/log.ts';
import { StoreBusy } from '../../mail/store/engine/types.ts';
import { listMailboxes } from '../../mail/store/mailbox/mailbox.ts';
import { addImportJob, importJob, type ImportJobRow, updateImportJob } from '../../mail/store/transfer/import-job.ts';
import type { PullOptions, PullProof } from '../../mail/transfer/imap/pull-types.ts';
import { pullAccount } from '../../mail/transfer/imap/pull.ts';
import { ImportLog } from '../../mail/transfer/import-log.ts';
import { RemoteUnavailable } from '../../mail/transfer/imap/remote-failure.ts';
import { runImport, type TransferDeps } from '../../src/transfers/import-run.ts';
import { TransferRunner } from '../../src/transfers/transfers.ts';
import { MESSAGE, sequenceNumbers, scriptedFolders } from '../support/scripted-folders.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

let box: TestStore;
let directory: string;
beforeAll(async () => {
  box = await testStore();
  directory = await mkdtemp(join(tmpdir(), 'poor-line-'));
});
afterEach(() => vi.restoreAllMocks());
afterAll(async () => {
  await box[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

/** A thousand messages come by the way. */
const LONG = { timeout: 300_000 };
async function pullFrom(port: number, account: number, options: Partial<PullOptions> = {}): Promise<PullProof> {
  const remote = { host: 'localhost', ip: '127.0.0.1', port, tls: 'none' as const, anyCertificate: false };
  const login = { user: 'me', secret: { password: 'x' } };
  const all = {
    labels: 'keywords' as const,
    deletions: false,
    perSecond: 0,
    below: undefined,
    maxOctets: 1e7,
    ...options,
  };
  const plan = { account, remote: { ...remote, ...login }, options: all, pass: 1, clock, firstPauseMs: 1 };
  return pullAccount(box.store, { ...plan, stop: new AbortController().signal }, new ImportLog());
}

const clock = (): number => box.clock.now;
const newAccount = async (name: string): Promise<number> => (await testAccount(box.store, name)).account;

async function messagesOf(account: number): Promise<number> {
  const all = await box.store.read(listMailboxes, { account });
  return all.reduce((sum, { total }) => sum + total, 0);
}

test.each([
  ['before', ''],
  ['in the middle of', 'OK [CAPABILITY IMAP4rev1 SASL-I'],
  ['with a BYE before', '* BYE Disconnected: Auth process broken\r\n'],
])('a connection that is lost %s the response to the login is no refused login', async (where, text) => {
  let logins = 0;
  await using server = await scriptedFolders({ INBOX: 2 }, (command, socket, tag) => {
    if (!/^(?:LOGIN|AUTHENTICATE)/.test(command) || logins++ > 2) return false;
    socket.end(text.startsWith('OK') ? `${tag} ${text}` : text);
    return true;
  });
  expect(await pullFrom(server.port, await newAccount(`cut-${where.slice(0, 2)}`))).toMatchObject({ equal: true });
  expect(logins).toBeGreaterThan(3);
});

test('a login that is refused while the server restarts is tried again', async () => {
  let logins = 0;
  await using server = await scriptedFolders({ INBOX: 2 }, (command, socket, tag) => {
    if (!command.startsWith('LOGIN') || logins++ > 2) return false;
    socket.write(`${tag} NO [UNAVAILABLE] Temporary authentication failure.\r\n`);
    return true;
  });
  expect(await pullFrom(server.port, await newAccount('login-no'))).toMatchObject({ equal: true });
});

test.each([
  ['refused', 'NO [NOPERM] Permission denied', 'The other server refuses it: "Permission denied"'],
  ['deleted meanwhile', 'NO [NONEXISTENT] Unknown mailbox', 'Deleted or renamed there since the import began'],
])('a folder that is %s is named, and the others are pulled', async (what, answer, problem) => {
  await using server = await scriptedFolders({ INBOX: 2, Gone: 2, Work: 3 }, (command, socket, tag) => {
    if (!/^EXAMINE "?Gone/.test(command)) return false;
    socket.write(`${tag} ${answer}\r\n`);
    return true;
  });
  const account = await newAccount(`folder-${what.slice(0, 3)}`);
  const proof = await pullFrom(server.port, account);
  expect(proof).toMatchObject({ equal: false, omitted: [{ count: 1, folders: ['Gone'] }] });
  expect(proof.omitted[0]?.problem).toContain(problem);
  expect(proof.folders.map(({ source, here }) => [source, here])).toEqual([
    ['INBOX', 2],
    ['Work', 3],
  ]);
});

test('a connection that ends between two pages deletes nothing here, and proves nothing', LONG, async () => {
  let isPoor = false;
  await using server = await scriptedFolders({ INBOX: 1_001 }, (command, socket, tag) => {
    if (!isPoor || !command.startsWith('FETCH 1:1000')) return false;
    isPoor = false;
    const facts = sequenceNumbers('1:1000', 1_000).map(
      (uid) => `* ${uid} FETCH (UID ${uid} RFC822.SIZE ${MESSAGE.length} FLAGS (a))\r\n`,
    );
    socket.end(`${facts.join('')}${tag} OK done\r\n`);
    return true;
  });
  const account = await newAccount('pages');
  await pullFrom(server.port, account);
  expect(await messagesOf(account)).toBe(1_001);
  isPoor = true;
  const proof = await pullFrom(server.port, account, { deletions: true });
  expect(proof.folders).toMatchObject([{ there: 1_001, here: 1_001, changedHere: 0, equal: true }]);
  expect(isPoor).toBe(false);
  // A message that was deleted and pulled again would have another UID.
  expect((await box.store.read(listMailboxes, { account })).map(({ uidNext }) => uidNext)).toContain(1_002);
});

test('messages that a busy server does not send now are not left out', async () => {
  let fetches = 0;
  await using server = await scriptedFolders({ INBOX: 3 }, (command, socket, tag) => {
    if (!command.startsWith('UID FETCH') || fetches++ > 5) return false;
    socket.write(`${tag} NO [UNAVAILABLE] Try again later\r\n`);
    return true;
  });
  const account = await newAccount('busy');
  expect(await pullFrom(server.port, account)).toMatchObject({ equal: true });
  expect(await messagesOf(account)).toBe(3);
});

test('messages that each end the connection are left out, and those between and after them are pulled', async () => {
  const bad = [3, 4, 5];
  await using server = await scriptedFolders({ INBOX: 8 }, (command, socket) => {
    const [, uids = ''] = /^UID FETCH (\S+)/.exec(command) ?? [];
    if (uids === '' || !sequenceNumbers(uids, 8).some((uid) => bad.includes(uid))) return false;
    const good = sequenceNumbers(uids, 8).filter((uid) => uid < Math.min(...bad));
    const lines = good.map((uid) => `* ${uid} FETCH (UID ${uid} BODY[] {${MESSAGE.length}}\r\n${MESSAGE})\r\n`);
    socket.end(lines.join(''));
    return true;
  });
  const account = await newAccount('bad');
  const proof = await pullFrom(server.port, account);
  expect(proof.differences.map(({ uid }) => uid)).toEqual(bad);
  expect(await messagesOf(account)).toBe(5);
});

test('a server that is away longer than a few attempts makes an error that says: later', async () => {
  await using server = await scriptedFolders({ INBOX: 1 }, (_command, socket) => {
    socket.destroy();
    return true;
  });
  await expect(pullFrom(server.port, await newAccount('away'))).rejects.toThrow(RemoteUnavailable);
});

const MINUTE = 60_000;
type Answer = { kind: 'trouble' } | { kind: 'found'; records: string[] };

function depsWith(resolver: { a: () => Promise<Answer>; aaaa: () => Promise<Answer> }): TransferDeps {
  const settings = { dataDir: directory, maxMessageBytes: 1e7, allowPrivateNetworks: [] };
  const metrics = { count: () => undefined };
  return { store: box.store, settings, clock, log: quiet, metrics, resolver } as unknown as TransferDeps;
}

const trouble = (): Promise<Answer> => Promise.resolve({ kind: 'trouble' });
const noDns = (): TransferDeps => depsWith({ a: trouble, aaaa: trouble });

async function addJob(spec: object, progress: object = {}): Promise<() => Promise<ImportJobRow>> {
  const account = await newAccount(`job-${Math.random()}`);
  const kind = 'path' in spec ? ('file' as const) : ('imap' as const);
  const fields = { tenant: 1, account, kind, spec: JSON.stringify({ kind, ...spec }), by: 'usr_1' };
  const id = (await box.store.write(addImportJob, { ...fields, secret: null, state: 'running' })) ?? 0;
  await box.store.write(updateImportJob, { id, state: 'running', progress: JSON.stringify(progress), report: '{}' });
  return async () => (await box.store.read(importJob, { tenant: 1, id }))!;
}

const IMAP = { host: 'imap.test', port: 993, tls: 'implicit', user: 'me', auth: 'password' };

test('an import whose source cannot be reached waits, says why, and ends only after its patience', async () => {
  const row = await addJob(IMAP, { hasBegun: true });
  const from = clock();
  const attempts: number[] = [];
  while ((await row()).endedAt === null) {
    await runImport(noDns(), await row(), new AbortController().signal);
    const { progress, report, state } = await row();
    if (state !== 'running') break;
    expect(report).toContain('It waits, and goes on by itself: imap.test cannot be looked up now');
    box.clock.now = (JSON.parse(progress) as { retryAt: number }).retryAt;
    attempts.push((box.clock.now - from) / MINUTE);
  }
  expect(attempts.slice(0, 8)).toEqual([1, 3, 7, 15, 30, 60, 120, 180]);
  expect(attempts.at(-1)).toBe(7 * 24 * 60);
  expect(await row()).toMatchObject({ state: 'failed', secret: null });
});

test('an import that could never log in ends within the hour in which somebody still looks', async () => {
  const row = await addJob(IMAP);
  for (let n = 0; n < 7; n++) {
    await runImport(noDns(), await row(), new AbortController().signal);
    box.clock.now += 10 * MINUTE;
  }
  expect((await row()).state).toBe('failed');
});

test('an import that a full disk stops waits without a place among those that run, and goes on by itself', async () => {
  const path = join(directory, 'one.eml');
  await writeFile(path, MESSAGE);
  const row = await addJob({ path, name: null, folder: null });
  const full = vi
    .spyOn(box.store, 'unavailable')
    .mockReturnValue(new StoreBusy('disk-full', 'the disk is nearly full'));
  await using runner = new TransferRunner(noDns(), 1);
  runner.begin();
  await vi.waitFor(async () => expect((await row()).report).toContain('the disk is nearly full'), { timeout: 60_000 });
  expect(await row()).toMatchObject({ state: 'running' });
  full.mockRestore();
  await vi.waitFor(() => expect(runner.running).toBe(0), { timeout: 60_000 });
  await runner.retries.run(new AbortController().signal);
  expect(runner.running).toBe(0);
  box.clock.now += MINUTE;
  await runner.retries.run(new AbortController().signal);
  await vi.waitFor(async () => expect((await row()).state).toBe('done'), { timeout: 60_000 });
  expect((await row()).report).not.toContain('It waits');
});
