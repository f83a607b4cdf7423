import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { command } from '../../mail/store/engine/types.ts';
import { expunge, storeFlags } from '../../mail/store/mailbox/entry-commands.ts';
import { DELETED, FLAGGED } from '../../mail/store/mailbox/flags.ts';
import { expireDeletedMessages, listDeletedMessages } from '../../mail/store/retention/deleted-mail.ts';
import { purgeExpunged } from '../../mail/store/retention/purge.ts';
import { ImportLog } from '../../mail/transfer/import-log.ts';
import type { PullProof } from '../../mail/transfer/imap/pull-types.ts';
import { pullAccount } from '../../mail/transfer/imap/pull.ts';
import { importReport } from '../../src/cli/import-report.ts';
import { scriptedImap } from '../support/imap-script.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

/** Damages the store as no command does. */
const damage = command('test-damage', async (tx): Promise<void> => {
  await tx.run(
    "UPDATE blob SET data = CAST('X' || substr(CAST(data AS TEXT), 2) AS BLOB) WHERE id = (SELECT min(id) FROM blob)",
  );
  await tx.run('UPDATE entry SET flags = 4 WHERE uid = 2');
  await tx.run('DELETE FROM entry WHERE uid = 3');
});

const parts = mailParts();

let box: TestStore;
let account: number;
let inbox: number;
beforeEach(async () => {
  box = await testStore({ ...parts, commands: [...parts.commands, damage] });
  ({ account, inbox } = await testAccount(box.store));
});
afterEach(() => box[Symbol.asyncDispose]());

interface Server extends AsyncDisposable {
  port: number;
  /** Commands that it got. */
  commands: string[];
  flags: Map<number, string>;
}

/** A server with messages in INBOX, whose flags a test may change. */
async function server(uids: readonly number[]): Promise<Server> {
  const flags = new Map(uids.map((uid) => [uid, '']));
  const source = (uid: number): string => `From: a@a.test\r\nSubject: message ${uid}\r\n\r\nText ${uid}.\r\n`;
  const commands: string[] = [];
  const script = await scriptedImap((command, socket) => {
    commands.push(command);
    if (/^LIST .*\*/.test(command)) socket.write('* LIST () "/" "INBOX"\r\n');
    if (command.startsWith('EXAMINE')) socket.write(`* ${uids.length} EXISTS\r\n* OK [UIDVALIDITY 1] x\r\n`);
    if (/^(?:UID )?FETCH/.test(command)) {
      for (const [at, uid] of uids.entries()) {
        const facts = `UID ${uid} FLAGS (${flags.get(uid)}) RFC822.SIZE ${source(uid).length}`;
        const body = command.includes('BODY') ? ` BODY[] {${source(uid).length}}\r\n${source(uid)}` : '';
        socket.write(
          `* ${at + 1} FETCH (${facts} INTERNALDATE "23-Nov-2026 08:00:${String(at % 60).padStart(2, '0')} +0000"${body})\r\n`,
        );
      }
    }
    return false;
  });
  return { ...script, flags, commands, [Symbol.asyncDispose]: () => script[Symbol.asyncDispose]() };
}

let pass = 0;
/** Pulls, and lets people work here before the messages are compared. */
async function pull({ port }: Server, meanwhile?: () => Promise<unknown>): Promise<PullProof> {
  const remote = { host: 'localhost', ip: '127.0.0.1', port, tls: 'none' as const, anyCertificate: false };
  const options = { labels: 'keywords' as const, deletions: false, perSecond: 0, below: undefined, maxOctets: 1e7 };
  const login = { ...remote, user: 'me', secret: { password: 'x' } };
  const plan = { account, remote: login, options, pass: ++pass, clock: () => box.clock.now };
  const all = { ...plan, stop: new AbortController().signal };
  if (meanwhile === undefined) return pullAccount(box.store, all, new ImportLog());
  await pullAccount(box.store, all, new ImportLog());
  await meanwhile();
  return pullAccount(box.store, { ...all, pass: ++pass }, new ImportLog());
}

const flag = (uids: number[], bits: number) =>
  box.store.write(storeFlags, {
    account,
    mailbox: inbox,
    uids,
    how: 'add',
    flags: { bits, keywords: [] },
    unchangedSince: null,
  });

async function remove(uids: number[]): Promise<void> {
  await flag(uids, DELETED);
  await box.store.write(expunge, { account, mailbox: inbox, uids });
}

test('what a person changed or deleted here after the copy is counted as such, and is no difference', async () => {
  await using source = await server([11, 12, 13, 14]);
  const proof = await pull(source, async () => {
    await flag([1], FLAGGED);
    await remove([2, 3]);
    // One of them is gone for good, with every row about it.
    const deleted = await box.store.read(listDeletedMessages, {
      account,
      since: 1,
      drafts: true,
      before: null,
      limit: 9,
    });
    const last = deleted.find(({ subject }) => subject === 'message 13')?.id ?? 0;
    await box.store.write(expireDeletedMessages, { account, emails: [last] });
    await box.store.write(purgeExpunged, { before: 1 });
  });
  expect(proof).toMatchObject({
    equal: true,
    differences: [],
    changedHere: [
      { folder: 'INBOX', uid: 11, problem: 'Its flags are "\\flagged" here and "" there' },
      { folder: 'INBOX', uid: 12, problem: 'It was deleted here' },
      { folder: 'INBOX', uid: 13, problem: 'It was deleted here' },
    ],
    moreChangedHere: 0,
    folders: [{ there: 4, here: 2, changedHere: 3, equal: true }],
  });
  const job = { importId: 'imp_1', imported: 0, known: 4, skipped: 0, bytes: 0, total: 4, folder: null, problem: null };
  const text = importReport({
    mailbox: 'ann@box.test',
    import: { ...job, state: 'done' },
    untrusted: { problems: [], moreProblems: 0, proof },
  });
  expect(text).toContain('equal, 3 changed here since');
  expect(text).toContain('equal, except for 3 messages changed or deleted here since the copy');
});

test('flags that change there come here, and win over a change here', async () => {
  await using source = await server([11]);
  const proof = await pull(source, async () => {
    await flag([1], FLAGGED);
    source.flags.set(11, '\\Seen');
  });
  expect(proof).toMatchObject({ equal: true, changedHere: [], folders: [{ changedHere: 0 }] });
});

test('many flags that changed there take a command for each set of them, here and there', async () => {
  const uids = Array.from({ length: 200 }, (_, n) => n + 11);
  await using source = await server(uids);
  await pull(source);
  for (const uid of uids) source.flags.set(uid, uid % 2 === 0 ? String.raw`\Seen` : String.raw`\Flagged work`);
  source.commands.length = 0;
  const writes = vi.spyOn(box.store, 'writeSlice');
  expect(await pull(source)).toMatchObject({ equal: true, differences: [], folders: [{ there: 200, here: 200 }] });
  expect(writes.mock.calls.filter(([{ name }]) => name === storeFlags.name)).toHaveLength(2);
  // One for the pull and one for the proof.
  expect(source.commands.filter((command) => /FETCH/.test(command))).toHaveLength(2);
  expect(source.commands.filter((command) => /STORE/.test(command))).toEqual([]);
});

test('content that changed here, flags that nobody changed, and a message without a record of its deletion differ', async () => {
  await using source = await server([11, 12, 13, 14]);
  const proof = await pull(source, () => box.store.write(damage, undefined));
  expect(proof).toMatchObject({
    equal: false,
    changedHere: [],
    differences: [
      { uid: 11, problem: 'Its content is another one here' },
      { uid: 12, problem: 'Its flags are "\\flagged" here and "" there' },
      { uid: 13, problem: 'It is missing here without a record of its deletion: run mailstead fsck' },
    ],
    folders: [{ there: 4, here: 3, changedHere: 0, equal: false }],
  });
});
