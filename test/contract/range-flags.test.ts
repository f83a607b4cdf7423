import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { indexMessage } from '../../mail/message/indexer.ts';
import { appendMessage, copyEntries, expunge, storeFlags } from '../../mail/store/mailbox/entry-commands.ts';
import { createMailbox } from '../../mail/store/mailbox/mailbox.ts';
import type { MailboxView } from '../../mail/store/mailbox/view-types.ts';
import { type StatementCounts, probeStatements } from '../support/statement-probe.ts';
import { type TestStore, testAccount, testStore } from '../support/store.ts';

const MESSAGES = 60;
const FLAGGED = 4;
const DELETED = 16;

const counts: StatementCounts = { statements: 0, commits: 0, pages: 0 };
let box: TestStore;
let account: number;
let inbox: number;
let view: MailboxView;
let db: DatabaseSync;
let probe: Disposable;

beforeEach(async () => {
  probe = probeStatements(counts);
  box = await testStore();
  ({ account, inbox } = await testAccount(box.store));
  for (let n = 1; n <= MESSAGES; n++) await append(n);
  view = await box.store.view(account, inbox);
  db = new DatabaseSync(join(box.dataDir, 'mailstead.db'), { readOnly: true });
});

afterEach(async () => {
  db.close();
  view.close();
  await box[Symbol.asyncDispose]();
  probe[Symbol.dispose]();
});

async function append(n: number): Promise<void> {
  const data = Buffer.from(`Subject: ${n}\r\n\r\nText\r\n`);
  const index = indexMessage(data);
  const flags = { bits: 0, keywords: [] };
  await box.store.write(appendMessage, { account, mailbox: inbox, flags, receivedAt: n, file: null, data, index });
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

function flag(uids: readonly number[], how: 'add' | 'remove', bits = FLAGGED, keywords: string[] = []) {
  const change = { how, flags: { bits, keywords }, unchangedSince: null };
  return box.store.write(storeFlags, { account, mailbox: inbox, uids, ...change });
}

function column(sql: string): number[] {
  return db
    .prepare(sql)
    .all()
    .map((row) => Number(Object.values(row)[0]));
}

const flagged = (): number[] =>
  column(`SELECT uid FROM entry WHERE mailbox_id = ${inbox} AND flags & ${FLAGGED} <> 0 ORDER BY uid`);

/** Compares the open view with the rows. */
function expectViewOfRows(): void {
  const rows = db.prepare('SELECT uid, flags, modseq FROM entry WHERE mailbox_id = ? ORDER BY uid').all(inbox);
  const uids = Array.from(view.uids.subarray(0, view.length));
  expect(uids.map((uid) => ({ uid, flags: view.bits(uid), modseq: view.modseq(uid) }))).toEqual(
    rows.map((row) => ({ ...row })),
  );
  expect([view.highestModseq]).toEqual(column(`SELECT highestmodseq FROM mailbox WHERE id = ${inbox}`));
}

test('a flag of a range costs as many statements as that of one message', async () => {
  const cost = async (uids: readonly number[]): Promise<number> => {
    const before = counts.statements;
    await flag(uids, 'add');
    return counts.statements - before;
  };
  const one = await cost([MESSAGES]);
  expect(await cost(range(1, MESSAGES - 1))).toBe(one);
  expect(flagged()).toEqual(range(1, MESSAGES));
});

test('an open view has the flags, mod-sequences and changes of ranges with expunged messages in between', async () => {
  await flag([7, 8, 20], 'add', DELETED);
  await box.store.write(expunge, { account, mailbox: inbox, uids: [7, 8, 20] });
  await flag([5], 'add');
  const since = view.highestModseq;
  await flag(range(1, 50).toReversed(), 'add');
  const uids = range(1, 50).filter((uid) => ![7, 8, 20].includes(uid));
  expect(flagged()).toEqual(uids);
  expectViewOfRows();
  const changed = uids.filter((uid) => uid !== 5);
  expect(view.changesSince(since)).toEqual([{ modseq: view.highestModseq, flags: changed }]);
});

test('messages between the given ones keep their flags', async () => {
  await flag([...range(1, 20), ...range(22, 60)], 'add');
  expect(flagged()).toEqual([...range(1, 20), ...range(22, 60)]);
  expectViewOfRows();
});

test('changes of one commit, some of ranges and some not, reach an open view', async () => {
  await Promise.all([flag(range(1, 40), 'add'), append(61), flag(range(1, 30), 'remove'), flag([3], 'add', 1)]);
  expect(flagged()).toEqual(range(31, 40));
  expectViewOfRows();
});

test('a keyword of a range has its name in an open view', async () => {
  await flag(range(1, 60), 'add', 0, ['$Label1']);
  expect(view.flagNames(60)).toEqual(['$Label1']);
  await flag(range(1, 60), 'remove', 0, ['$Label1']);
  expect(view.flagNames(60)).toEqual([]);
  expectViewOfRows();
});

test('JMAP sees a change of the emails that it shows, and of no other', async () => {
  await flag([9], 'add', DELETED);
  const result = await flag(range(1, 30), 'add');
  const modseq = result.kind === 'done' ? result.modseq : null;
  const changed = column(
    `SELECT n.uid FROM email e JOIN entry n ON n.email_id = e.id WHERE e.modseq = ${modseq} ORDER BY 1`,
  );
  expect(changed).toEqual(range(1, 30).filter((uid) => uid !== 9));
  expect(await flag(range(1, 30), 'add')).toEqual({ kind: 'done', modseq: null, modified: [] });
});

test('an email of a range that is in another mailbox too has the flag there as well', async () => {
  const made = await box.store.write(createMailbox, { account, name: 'Copies', role: null });
  if (made.kind !== 'created') throw new Error(made.kind);
  const to = column("SELECT id FROM mailbox WHERE name = 'Copies'")[0] ?? 0;
  await box.store.write(copyEntries, { account, mailbox: inbox, uids: [4], to, move: false });
  await flag(range(1, 10), 'add');
  expect(column(`SELECT flags FROM entry WHERE mailbox_id = ${to}`)).toEqual([FLAGGED]);
  expectViewOfRows();
});
