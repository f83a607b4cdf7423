import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { areWordsTainted } from '../../mail/agents/taint/content.ts';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
import { quiet } from '../../mail/log.ts';
import { mailParts } from '../../mail/store-thread-parts.ts';
import { indexMessage } from '../../mail/message/indexer.ts';
import { flagless, lookup } from '../../mail/store/engine/types.ts';
import { appendMessage, copyEntries, storeFlags } from '../../mail/store/mailbox/entry-commands.ts';
import { applyLoggedFlags } from '../../mail/store/mailbox/flag-log-copy.ts';
import { applyRangeFlags, type RangeChange } from '../../mail/store/mailbox/flag-log.ts';
import { MailStore } from '../../mail/store/store.ts';
import { createMailbox } from '../../mail/store/mailbox/mailbox.ts';
import type { MailboxView } from '../../mail/store/mailbox/view-types.ts';
import { type StatementCounts, probeStatements } from '../support/statement-probe.ts';
import { type TestStore, testAccount, testStore } from '../support/store.ts';

const MESSAGES = 60;
const FLAGGED = 4;

interface EntryState {
  uid: number;
  flags: number;
  modseq: number;
}

const entriesOf = lookup('test-entries', (rx, { account, mailbox }: { account: number; mailbox: number }) =>
  rx.all<EntryState & Record<string, number>>(
    `SELECT n.uid, n.flags, n.modseq FROM entry n JOIN mailbox m ON m.id = n.mailbox_id
     WHERE m.account_id = ? AND n.mailbox_id = ? ORDER BY n.uid`,
    account,
    mailbox,
  ),
);

const passwordOf = lookup('test-password', async (rx, { account: of }: { account: number }) => {
  const row = await rx.get<{ id: number }>('SELECT id FROM credential WHERE account_id = ?', of);
  return row?.id ?? 0;
});

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
  await Promise.all(range(1, MESSAGES).map((n) => append(n)));
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

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

function log(from: number, to: number, how: 'add' | 'remove', flags: RangeChange['flags'] = BITS) {
  return box.store.logFlags({ account, mailbox: inbox, ranges: [{ from, to }], how, flags });
}

const BITS = { bits: FLAGGED, keywords: [] };

/** UIDs whose rows have the flag now, without waiting for the log. */
const flaggedRows = (): number[] =>
  db
    .prepare('SELECT uid FROM entry WHERE mailbox_id = ? AND flags & ? <> 0 ORDER BY uid')
    .all(inbox, FLAGGED)
    .map(({ uid }) => Number(uid));

const logged = (): number => db.prepare('SELECT * FROM flag_range').all().length;

function stateOf(shown: MailboxView): EntryState[] {
  const uids = Array.from(shown.uids.subarray(0, shown.length));
  return uids.map((uid) => ({ uid, flags: shown.bits(uid), modseq: shown.modseq(uid) }));
}

/** Compares the open view with what a query reads, and with a view that was opened before the rows were written. */
async function expectOneState(): Promise<void> {
  const fresh = await box.store.view(account, inbox);
  const before = stateOf(fresh);
  fresh.close();
  const rows = await box.store.read(entriesOf, { account, mailbox: inbox });
  expect(before).toEqual(stateOf(view));
  expect(rows.map((row) => ({ ...row }))).toEqual(stateOf(view));
  expect(logged()).toBe(0);
}

test('a flag of a range is one row and no row of a message, and the open view has it', async () => {
  const before = counts.pages;
  const stored = await log(1, 50, 'add');
  expect(stored).toMatchObject({ kind: 'done', modseq: view.highestModseq });
  expect(counts.pages - before).toBeLessThanOrEqual(4);
  expect([logged(), flaggedRows()]).toEqual([1, []]);
  expect(view.changesSince(view.highestModseq - 1)).toEqual([{ modseq: view.highestModseq, flags: range(1, 50) }]);
  expect(range(1, 60).filter((uid) => view.bits(uid) === FLAGGED)).toEqual(range(1, 50));
  await expectOneState();
  expect(flaggedRows()).toEqual(range(1, 50));
});

test('a view that is opened while flags are only logged has them', async () => {
  view.close();
  await append(61);
  await log(1, 50, 'add');
  await log(1, 50, 'remove');
  view = await box.store.view(account, inbox);
  expect(logged()).toBe(1);
  expect(stateOf(view).map(({ modseq }) => modseq)).toEqual([
    ...Array.from({ length: 50 }, () => view.highestModseq),
    ...stateOf(view)
      .slice(50)
      .map(({ modseq }) => modseq),
  ]);
  await expectOneState();
});

test('a query that reads no flags does not wait for them', async () => {
  await log(1, 50, 'add');
  expect(await box.store.read(flagless(entriesOf), { account, mailbox: inbox })).toHaveLength(MESSAGES);
  expect(logged()).toBe(1);
  await expectOneState();
});

test('STORE shows flags before their rows are written: it asks only if their words are tainted', async () => {
  const actor = { credential: await box.store.read(passwordOf, { account }) };
  const shown: boolean[] = [];
  const imap = new StoreBackend(box.store, account, () => box.clock.now, {
    actor,
    logged: { above: 10, inRange: 10 },
    onWords: async (about) => void shown.push(await box.store.read(areWordsTainted, about)),
  });
  for (const how of ['add', 'remove'] as const) {
    expect(await imap.store(inbox, range(1, 40), how, BITS)).toMatchObject({ modified: [] });
    await imap.onLabels(inbox);
  }
  expect([logged(), shown]).toEqual([1, [false, false]]);
  await expectOneState();
});

test('an opposite change of the same range takes the place of the first, and every message has its mod-sequence', async () => {
  await box.store.write(storeFlags, {
    account,
    mailbox: inbox,
    uids: [3],
    how: 'add',
    flags: BITS,
    unchangedSince: null,
  });
  await log(1, 40, 'add');
  await log(1, 40, 'remove');
  await log(1, 40, 'add');
  expect(logged()).toBe(1);
  expect(await log(1, 40, 'add')).toEqual({ kind: 'done', modseq: null, modified: [] });
  await expectOneState();
  expect(flaggedRows()).toEqual(range(1, 40));
  expect(stateOf(view).slice(0, 40)).toEqual(
    range(1, 40).map((uid) => ({ uid, flags: FLAGGED, modseq: view.highestModseq })),
  );
});

test('the next command of another kind finds the flags in the rows', async () => {
  const [, , appended] = await Promise.all([log(1, 40, 'add'), log(1, 40, 'remove'), append(61)]);
  expect(appended).toBeUndefined();
  await log(1, 30, 'add');
  const flags = { bits: FLAGGED, keywords: [] };
  const change = { account, mailbox: inbox, how: 'remove' as const, flags, unchangedSince: null };
  await box.store.write(storeFlags, { ...change, uids: [5, 7] });
  expect(logged()).toBe(0);
  expect(flaggedRows()).toEqual(range(1, 30).filter((uid) => uid !== 5 && uid !== 7));
  await expectOneState();
});

test('a command that fails leaves the log as it was, and the next one finds the flags', async () => {
  await log(1, 30, 'add');
  const failing = box.store.write(appendMessage, { account, mailbox: inbox } as never).then(
    () => 'stored',
    () => 'failed',
  );
  expect(await failing).toBe('failed');
  await append(61);
  expect([logged(), flaggedRows()]).toEqual([0, range(1, 30)]);
  await expectOneState();
});

test('queries read flags with their mod-sequences, also in the middle of many changes', async () => {
  const reads: Promise<unknown>[] = [];
  for (let n = 0; n < 30; n++) {
    const from = 1 + (n % 3) * 10;
    const stored = await log(from, from + 29, n % 2 === 0 ? 'add' : 'remove');
    if (stored === undefined) {
      const how = n % 2 === 0 ? ('add' as const) : ('remove' as const);
      const uids = range(from, from + 29);
      await box.store.write(storeFlags, { account, mailbox: inbox, uids, how, flags: BITS, unchangedSince: null });
    }
    const expected = stateOf(view);
    reads.push(
      box.store
        .read(entriesOf, { account, mailbox: inbox })
        .then((rows) => expect(rows.map((row) => ({ ...row }))).toEqual(expected)),
    );
    if (n % 5 === 0) await Promise.all(reads);
    if (n % 4 === 0) await box.store.write(applyRangeFlags, { rows: 7 });
  }
  await Promise.all(reads);
  await expectOneState();
});

test('a keyword is logged, and one without a slot or an email in two mailboxes is not', async () => {
  expect(await log(1, 60, 'add', { bits: 0, keywords: ['$Label1'] })).toMatchObject({ kind: 'done' });
  expect(view.flagNames(60)).toEqual(['$Label1']);
  const made = await box.store.write(createMailbox, { account, name: 'Copies', role: null });
  if (made.kind !== 'created') throw new Error(made.kind);
  const to = Number(db.prepare("SELECT id FROM mailbox WHERE name = 'Copies'").get()?.['id']);
  await box.store.write(copyEntries, { account, mailbox: inbox, uids: [4], to, move: false });
  expect(await log(1, 10, 'add')).toBeUndefined();
  await expectOneState();
});

test('flags that were logged before a crash are in the rows after the restart, and in a mailbox of a copy', async () => {
  await log(1, 40, 'add');
  await log(1, 40, 'remove');
  const later = await log(1, 40, 'add');
  const copies = mkdtempSync(join(tmpdir(), 'mailstead-flag-log-'));
  const [crashed, restored] = [join(copies, 'crashed'), join(copies, 'restored')];
  try {
    // At once: the rows get the flags soon.
    for (const copy of [crashed, restored]) cpSync(box.dataDir, copy, { recursive: true });
    const options = {
      engine: mailParts(),
      keepFree: 0,
      clock: () => 0,
      log: quiet,
      meter: quiet,
      fatal: () => undefined,
    };
    await using again = await MailStore.open({ dataDir: crashed, ...options });
    const rows = await again.read(entriesOf, { account, mailbox: inbox });
    expect(rows.filter(({ flags }) => flags === FLAGGED).map(({ uid }) => uid)).toEqual(range(1, 40));
    expect(rows[0]?.modseq).toBe(later?.kind === 'done' ? later.modseq : 0);
    using offline = new DatabaseSync(join(restored, 'mailstead.db'));
    expect(offline.prepare('SELECT count(*) AS n FROM flag_range').get()).toEqual({ n: 1 });
    applyLoggedFlags(offline);
    expect(offline.prepare('SELECT count(*) AS n FROM entry WHERE flags = 4').get()).toEqual({ n: 40 });
  } finally {
    rmSync(copies, { recursive: true, force: true });
  }
});
