import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { Ledger, load, numbered } from '../support/load.ts';
import {
  answerOf,
  MailboxActivity,
  readFolders,
  type SeenFolder,
  type SeenMessage,
} from '../support/mailbox-activity.ts';
import { MailboxReader } from '../support/mailbox-reader.ts';

const COMMAND = join(import.meta.dirname, '../../bin/mailstead');
/** For a start on a busy machine. */
const START_MS = 300_000;
/** Messages of the mailbox that is restored: several steps of the restore. */
const STORED = 120;

let box: Box;
let target: string;
let own: MailboxReader;
const others: MailboxActivity[] = [];

beforeAll(async () => {
  target = await mkdtemp(join(tmpdir(), 'backup-'));
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  own = await MailboxReader.open(box.port('imap'));
  const ports = { imap: box.port('imap'), smtp: box.port('smtp') };
  for (const [seed, name] of ['anna', 'bert'].entries()) {
    const address = `${name}@box.test`;
    const { password } = (await box.ask('add_mailbox', { address })) as { password: string };
    others.push(await MailboxActivity.open(ports, address, password, seed + 1));
  }
}, START_MS);
afterAll(async () => {
  for (const other of others) other[Symbol.dispose]();
  own[Symbol.dispose]();
  await box[Symbol.asyncDispose]();
  await rm(target, { recursive: true, force: true });
});

const say = (command: string): Promise<string> => answerOf(own, command);

/** Appends to the mailbox that is restored; every 40th message has a file of its own. */
async function append(folder: string, id: string, at: number): Promise<void> {
  const { wire } = numbered(id, at % 40 === 39 ? 80_000 : 600, at);
  const flags = ['', '\\Seen', '\\Flagged work', '\\Answered $Forwarded rare'][at % 4]!;
  const answer = await own.append(
    `${folder} (${flags}) "01-Feb-2024 10:${String(at % 60).padStart(2, '0')}:00 +0000"`,
    wire.subarray(0, -3),
  );
  if (!/ OK /.test(answer)) throw new Error(answer);
}

async function cli(...words: string[]): Promise<Record<string, unknown>> {
  const { stdout } = await promisify(execFile)(COMMAND, [...words, '--json'], { env: box.env });
  return JSON.parse(stdout) as Record<string, unknown>;
}

type Positioned = SeenMessage & { folder: string; uid: number };

function positionsOf(folders: Record<string, SeenFolder>): Map<string, Positioned[]> {
  const all = Object.entries(folders).flatMap(([folder, { messages }]) =>
    Object.entries(messages).map(([uid, message]) => ({ ...message, folder, uid: Number(uid) })),
  );
  return Map.groupBy(all, ({ id }) => id);
}

/** Deletes, moves and marks messages after the backup, and deletes a folder. */
async function changeAfterBackup(): Promise<void> {
  await say('SELECT INBOX');
  await say('UID STORE 1:20 +FLAGS (\\Deleted)');
  await say('UID EXPUNGE 1:20');
  await say('UID MOVE 21:30 Archive');
  await say('UID STORE 31:38 FLAGS (\\Draft later)');
  await say('DELETE Projects/&ANw-bersicht');
}

/** Receives, appends and deletes in the mailbox until `ended`; returns the ids that stay. */
async function useWhile(ended: () => boolean): Promise<Set<string>> {
  const stays = new Set<string>();
  for (let i = 0; i < 12 || !ended(); i++) {
    const ledger = new Ledger();
    const queue = [numbered(`mail-${i}`, 800, 9000 + i)];
    await load({ port: box.port('smtp'), queue, ledger, clients: 1 });
    for (const id of ledger.acknowledged.keys()) stays.add(id);
    await append('Archive', `own-${i}`, 7000 + i);
    stays.add(`own-${i}`);
    if (i % 3 !== 2) continue;
    await say('SELECT Archive');
    const [, uid] = /\* SEARCH (\d+)/.exec(await say(`UID SEARCH HEADER Message-ID <own-${i - 1}@load.test>`)) ?? [];
    await say(`UID STORE ${uid} +FLAGS (\\Deleted)`);
    await say(`UID EXPUNGE ${uid}`);
    stays.delete(`own-${i - 1}`);
  }
  return stays;
}

/** Uses another mailbox until `ended`, and at least 25 times, so that each kind of action occurs. */
async function observe(other: MailboxActivity, ended: () => boolean): Promise<string[]> {
  const found: string[] = [];
  for (let i = 0; i < 25 || !ended(); i++) found.push(...(await other.act()));
  return found;
}

test(
  'a mailbox is restored while mail arrives: others keep UIDs, mod-sequences and flags, and it has its backup and the new mail',
  { timeout: START_MS },
  async () => {
    for (const folder of ['Projects', 'Projects/&ANw-bersicht']) await say(`CREATE ${folder}`);
    for (let i = 0; i < STORED; i++) {
      await append(['INBOX', 'INBOX', 'Archive', 'Projects/&ANw-bersicht'][i % 4]!, `stored-${i}`, i);
    }
    for (const other of others) for (let i = 0; i < 10; i++) expect(await other.act()).toEqual([]);
    await cli('backup', target);
    const backup = positionsOf(await readFolders(own));
    expect(backup.size).toBe(STORED);
    await changeAfterBackup();
    const before = await readFolders(own);
    const survivors = positionsOf(before);
    const deleted = [...backup.keys()].filter((id) => !survivors.has(id));
    expect(deleted).toHaveLength(50);

    let restored: Record<string, unknown> | undefined;
    const ended = (): boolean => restored !== undefined;
    const restore = cli('restore', target, '--mailbox', box.address).then((answer) => (restored = answer));
    const [stays, ...found] = await Promise.all([
      useWhile(ended),
      ...others.map((other) => observe(other, ended)),
      restore,
    ]);
    expect(found.slice(0, others.length)).toEqual(others.map(() => []));
    expect(restored).toMatchObject({ restored: deleted.length, present: STORED - deleted.length, skipped: 0 });

    const after = await readFolders(own);
    const positions = positionsOf(after);
    expect([...positions.keys()].toSorted()).toEqual([...backup.keys(), ...stays].toSorted());
    for (const [id, all] of positions) expect(all, id).toHaveLength(1);
    // Messages that were not deleted stay as they were when the restore began, also where they differ from the backup.
    for (const [id, all] of survivors) expect(positions.get(id)).toEqual(all);
    for (const id of deleted) {
      const [was, is] = [backup.get(id)?.[0], positions.get(id)?.[0]];
      expect(is).toMatchObject({ folder: was?.folder, flags: was?.flags, date: was?.date, sha256: was?.sha256 });
      // A UID that a mail program may know is not used again.
      expect(is?.uid).toBeGreaterThanOrEqual(before[was?.folder ?? '']?.uidNext ?? 0);
    }
    for (const [name, { uidValidity }] of Object.entries(before)) expect(after[name]?.uidValidity).toBe(uidValidity);

    // A repeated restore changes no mailbox at all.
    const quiet = others.map(({ known }) => known);
    expect(await cli('restore', target, '--mailbox', box.address)).toMatchObject({ restored: 0, present: STORED });
    for (const other of others) expect(await other.rest()).toEqual([]);
    expect(others.map(({ known }) => known)).toEqual(quiet);
    expect(await readFolders(own)).toEqual(after);
  },
);
