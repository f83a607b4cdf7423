import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MessageWriter } from '../../mail/store/blob/message-writer.ts';
import { accountInfo } from '../../mail/store/account/account.ts';
import { appendMessage, copyEntries, expunge } from '../../mail/store/mailbox/entry-commands.ts';
import { createMailbox, findMailbox, removeMailbox } from '../../mail/store/mailbox/mailbox.ts';
import { checkStore } from '../../mail/store/check/check-store.ts';
import {
  type DeletedMessage,
  type DeletedPosition,
  deletedSince,
  expireDeletedMessages,
  listDeletedMessages,
  restoreDeletedMessages,
} from '../../mail/store/retention/deleted-mail.ts';
import { deletedMailboxes, purgeDeletedFolder, purgeExpunged } from '../../mail/store/retention/purge.ts';
import {
  agingMailboxes,
  deleteAged,
  ruledMailboxes,
  setLegalHold,
  setRetention,
} from '../../mail/store/retention/rules.ts';
import { exportRows } from '../../mail/store/transfer/export-rows.ts';
import type { MailStore } from '../../mail/store/store.ts';
import { onPostgres } from '../support/test-database.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

const DAY = 24 * 3600_000;
const ALL = Number.MAX_SAFE_INTEGER;

async function append(store: MailStore, account: number, mailbox: number, subject: string, bits = 0): Promise<number> {
  const writer = new MessageWriter(store);
  await writer.write(Buffer.from(`From: a@a.example\r\nSubject: ${subject}\r\n\r\n${subject}\r\n`));
  const base = { account, mailbox, flags: { bits, keywords: ['work'] }, receivedAt: 1_000 };
  const done = await writer.finish(
    (written) => store.write(appendMessage, { ...base, ...written }),
    (outcome) => outcome.kind === 'appended',
  );
  return done.kind === 'appended' ? done.uid : 0;
}

/** An account with a message in a folder that was expunged there. */
async function deleted(box: TestStore, name = 'Work/Old'): Promise<{ account: number; mailbox: number; uid: number }> {
  const { account } = await testAccount(box.store);
  await box.store.write(createMailbox, { account, name, role: null });
  const mailbox = (await box.store.read(findMailbox, { account, name }))?.id ?? 0;
  const uid = await append(box.store, account, mailbox, 'secret words', 1 | 4 | 16);
  await box.store.write(expunge, { account, mailbox, uids: [uid] });
  return { account, mailbox, uid };
}

const list = (box: TestStore, account: number) =>
  box.store.read(listDeletedMessages, { account, since: 1, drafts: false, before: null, limit: 10 });

const inFolder = async (box: TestStore, account: number, name: string, limit = 10) => {
  const mailbox = (await box.store.read(findMailbox, { account, name }))?.id ?? 0;
  return box.store.read(exportRows, { account, mailbox, after: 0, limit });
};

test('an expunged message is listed with its place and comes back there with flags and thread, counted in the quota again', async () => {
  await using box = await testStore();
  const { account } = await deleted(box);
  const [one] = await list(box, account);
  expect(one).toMatchObject({ subject: 'secret words', folder: 'Work/Old' });
  expect(await box.store.read(accountInfo, { tenant: 1, id: account })).toMatchObject({ usedCount: 0 });
  const done = await box.store.write(restoreDeletedMessages, { account, emails: [one!.id] });
  expect(done).toEqual({ restored: [{ id: one!.id, folder: 'Work/Old' }], missing: [], overQuota: false });
  expect(await inFolder(box, account, 'Work/Old')).toMatchObject([
    { email: one!.id, flags: { bits: 1 | 4, keywords: ['work'] }, receivedAt: 1_000 },
  ]);
  expect(await list(box, account)).toEqual([]);
  expect(await box.store.read(accountInfo, { tenant: 1, id: account })).toMatchObject({ usedCount: 1 });
  expect(await box.store.write(restoreDeletedMessages, { account, emails: [one!.id] })).toMatchObject({
    missing: [one!.id],
  });
});

test('a message of a deleted folder brings the folder back', async () => {
  await using box = await testStore();
  const { account, mailbox } = await deleted(box);
  await append(box.store, account, mailbox, 'second');
  expect(await box.store.write(removeMailbox, { account, name: 'Work/Old' })).toBe('removed');
  const emails = await box.store.read(deletedSince, { account, since: 1, drafts: false });
  expect(emails).toHaveLength(2);
  const done = await box.store.write(restoreDeletedMessages, { account, emails });
  expect(done.restored.map(({ folder }) => folder)).toEqual(['Work/Old', 'Work/Old']);
  expect(await inFolder(box, account, 'Work/Old')).toHaveLength(2);
});

test('every page is reached though one command deleted all messages at one time', async () => {
  await using box = await testStore();
  const { account, inbox } = await testAccount(box.store);
  const trash = (await box.store.read(findMailbox, { account, name: 'Trash' }))?.id ?? 0;
  const uids: number[] = [];
  for (let n = 0; n < 25; n++) uids.push(await append(box.store, account, inbox, `message ${n}`, 16));
  // These five have a second place that they left before.
  const moved = await box.store.write(copyEntries, {
    account,
    mailbox: inbox,
    uids: uids.slice(0, 5),
    to: trash,
    move: true,
  });
  box.clock.now += 1_000;
  await box.store.write(expunge, { account, mailbox: trash, uids: moved.kind === 'done' ? moved.to : [] });
  await box.store.write(expunge, { account, mailbox: inbox, uids: uids.slice(5) });
  const seen: string[] = [];
  const times = new Set<number>();
  for (let before: DeletedPosition | null = null; ;) {
    const input = { account, since: 1, drafts: false, before, limit: 4 };
    const page: DeletedMessage[] = await box.store.read(listDeletedMessages, input);
    const last = page.at(-1);
    if (last === undefined) break;
    for (const one of page) {
      seen.push(one.subject);
      times.add(one.deletedAt);
    }
    before = { at: last.deletedAt, email: last.id };
  }
  expect(times.size).toBe(1);
  expect(seen.toSorted()).toEqual(uids.map((_, n) => `message ${n}`).toSorted());
});

test('messages of a large folder can be restored as soon as it is deleted, before they are purged from it', async () => {
  await using box = await testStore();
  const { store } = box;
  const { account, inbox } = await testAccount(store);
  await store.write(createMailbox, { account, name: 'Big', role: null });
  const big = (await store.read(findMailbox, { account, name: 'Big' }))?.id ?? 0;
  for (let n = 0; n < 203; n++) await append(store, account, big, `message ${n}`, 4);
  // A message that is in another folder too is not deleted.
  await store.write(copyEntries, { account, mailbox: big, uids: [7], to: inbox, move: false });
  expect(await store.write(removeMailbox, { account, name: 'Big' })).toBe('removed');
  expect(await store.read(deletedMailboxes, { account })).toHaveLength(1);
  const page = { account, since: 1, drafts: false, before: null, limit: 500 };
  const listed = await store.read(listDeletedMessages, page);
  expect(listed).toHaveLength(202);
  expect(listed[0]).toMatchObject({ folder: 'Big', deletedAt: box.clock.now });
  const [emails] = [await store.read(deletedSince, { account, since: 1, drafts: false })];
  expect(emails).toHaveLength(100);
  const done = await store.write(restoreDeletedMessages, { account, emails });
  expect(done).toMatchObject({ missing: [], overQuota: false });
  expect(new Set(done.restored.map(({ folder }) => folder))).toEqual(new Set(['Big']));
  const restored = await inFolder(box, account, 'Big', 500);
  expect(restored).toHaveLength(100);
  expect(restored[0]).toMatchObject({ flags: { bits: 4, keywords: ['work'] }, receivedAt: 1_000 });
  // The purge finds only the others, which can be restored after it.
  for (const { id } of await store.read(deletedMailboxes, { account })) {
    for (let left = 1; left > 0;) left = await store.writeSlice(purgeDeletedFolder, { account, mailbox: id });
  }
  expect(await store.read(listDeletedMessages, page)).toHaveLength(102);
  expect(await store.read(accountInfo, { tenant: 1, id: account })).toMatchObject({ usedCount: 101 });
  if (!onPostgres) expect((await checkStore(box.dataDir)).inconsistencies).toEqual([]);
});

/** A draft as mail programs store it. */
async function draft(box: TestStore, account: number, text: string, header = ''): Promise<number> {
  const mailbox = (await box.store.read(findMailbox, { account, name: 'Drafts' }))?.id ?? 0;
  const writer = new MessageWriter(box.store);
  await writer.write(Buffer.from(`From: a@a.example\r\n${header}Subject: ${text}\r\n\r\n${text}\r\n`));
  const base = { account, mailbox, flags: { bits: 8 | 16, keywords: [] }, receivedAt: box.clock.now };
  const done = await writer.finish(
    (written) => box.store.write(appendMessage, { ...base, ...written }),
    (outcome) => outcome.kind === 'appended',
  );
  return done.kind === 'appended' ? done.uid : 0;
}

async function discard(box: TestStore, account: number, uid: number): Promise<void> {
  const mailbox = (await box.store.read(findMailbox, { account, name: 'Drafts' }))?.id ?? 0;
  await box.store.write(expunge, { account, mailbox, uids: [uid] });
}

test('versions of a draft that a later one replaced come back only if they are asked for', async () => {
  await using box = await testStore();
  const { account } = await testAccount(box.store);
  // As web mail saves it: a new message with a new Message-ID and a longer subject, then the old one is deleted.
  let uid = await draft(box, account, 'Lun');
  for (const text of ['Lunch', 'Lunch on', 'Lunch on Monday']) {
    box.clock.now += 30_000;
    const next = await draft(box, account, text);
    box.clock.now += 500;
    await discard(box, account, uid);
    uid = next;
  }
  // As others do: the Message-ID stays, and the versions are an hour apart.
  const first = await draft(box, account, 'Report', 'Message-ID: <report@a.example>\r\n');
  box.clock.now += 3600_000;
  await draft(box, account, 'Report', 'Message-ID: <report@a.example>\r\n');
  await discard(box, account, first);
  // A draft that a person discarded, and one that was discarded while others came and stayed.
  await discard(box, account, uid);
  const alone = await draft(box, account, 'Forgotten plan');
  box.clock.now += 120_000;
  await draft(box, account, 'Another matter');
  box.clock.now += 120_000;
  await discard(box, account, alone);

  const subjects = async (drafts: boolean): Promise<string[]> => {
    const page = { account, since: 1, drafts, before: null, limit: 100 };
    return (await box.store.read(listDeletedMessages, page)).map(({ subject }) => subject).toSorted();
  };
  expect(await subjects(false)).toEqual(['Forgotten plan', 'Lunch on Monday']);
  expect(await subjects(true)).toEqual(['Forgotten plan', 'Lun', 'Lunch', 'Lunch on', 'Lunch on Monday', 'Report']);
  const emails = await box.store.read(deletedSince, { account, since: 1, drafts: false });
  expect(emails).toHaveLength(2);
  expect(await box.store.read(deletedSince, { account, since: 1, drafts: true })).toHaveLength(6);
  const done = await box.store.write(restoreDeletedMessages, { account, emails });
  expect(done.restored.map(({ folder }) => folder)).toEqual(['Drafts', 'Drafts']);
});

test('what was deleted from the trash returns to where it was before, and what was only moved is not listed', async () => {
  await using box = await testStore();
  const { account, inbox } = await testAccount(box.store);
  const trash = (await box.store.read(findMailbox, { account, name: 'Trash' }))?.id ?? 0;
  const uid = await append(box.store, account, inbox, 'moved', 16);
  const moved = await box.store.write(copyEntries, { account, mailbox: inbox, uids: [uid], to: trash, move: true });
  expect(await list(box, account)).toEqual([]);
  await box.store.write(expunge, { account, mailbox: trash, uids: moved.kind === 'done' ? moved.to : [] });
  expect(await list(box, account)).toMatchObject([{ folder: 'INBOX' }]);
});

test('another account neither sees nor restores it', async () => {
  await using box = await testStore();
  const { account } = await deleted(box);
  const [one] = await list(box, account);
  const { account: other } = await testAccount(box.store, 'other');
  expect(await list(box, other)).toEqual([]);
  const done = await box.store.write(restoreDeletedMessages, { account: other, emails: [one!.id] });
  expect(done.missing).toEqual([one!.id]);
});

test('a purge at once needs no waiting, and a legal hold forbids every purge', async () => {
  await using box = await testStore();
  const { account } = await deleted(box);
  await box.store.write(setLegalHold, { tenant: 1, account, reason: 'case 12', by: 'usr_1' });
  expect(await box.store.write(expireDeletedMessages, { account, emails: null })).toEqual({
    kind: 'held',
    reason: 'case 12',
  });
  await box.store.write(purgeExpunged, { before: ALL });
  expect(await list(box, account)).toHaveLength(1);
  await box.store.write(setLegalHold, { tenant: 1, account, reason: null, by: 'usr_1' });
  expect(await box.store.write(expireDeletedMessages, { account, emails: null })).toMatchObject({
    kind: 'expired',
    rows: 1,
  });
  await box.store.write(purgeExpunged, { before: box.clock.now - 30 * DAY });
  expect(await list(box, account)).toEqual([]);
});

test.skipIf(onPostgres)('purged content is in no file of the database', async () => {
  await using box = await testStore();
  const { account } = await deleted(box);
  await box.store.write(expireDeletedMessages, { account, emails: null });
  await box.store.write(purgeExpunged, { before: 1 });
  // The journal of the database goes into its file when it is closed.
  await box.reopen();
  expect(readFileSync(join(box.dataDir, 'mailstead.db')).includes('secret words')).toBe(false);
});

test('an organization keeps deleted mail longer or shorter than others', async () => {
  await using box = await testStore();
  const { account } = await deleted(box);
  const retention = { tenant: 1, trashDays: null, junkDays: null, rules: [] };
  const purgeAfter = (days: number) =>
    box.store.write(purgeExpunged, { before: box.clock.now + (days - 30) * DAY + 1 });
  await box.store.write(setRetention, { ...retention, deletedDays: 60 });
  await purgeAfter(59);
  expect(await list(box, account)).toHaveLength(1);
  await box.store.write(setRetention, { ...retention, deletedDays: 7 });
  await purgeAfter(6);
  expect(await list(box, account)).toHaveLength(1);
  await purgeAfter(7);
  expect(await list(box, account)).toEqual([]);
});

test('Trash and Junk are emptied after 30 days there, other folders by a rule, and held mailboxes never', async () => {
  await using box = await testStore();
  const { account, inbox } = await testAccount(box.store);
  const trash = (await box.store.read(findMailbox, { account, name: 'Trash' }))?.id ?? 0;
  await append(box.store, account, trash, 'old');
  await append(box.store, account, inbox, 'stays');
  const aged = async (): Promise<number[]> => {
    const due = [
      ...(await box.store.read(agingMailboxes, { after: 0 })),
      ...(await box.store.read(ruledMailboxes, { after: 0 })),
    ];
    for (const { id, account: owner, days } of due) {
      if (days !== null) await box.store.write(deleteAged, { account: owner, mailbox: id, days });
    }
    return [(await inFolder(box, account, 'Trash')).length, (await inFolder(box, account, 'INBOX')).length];
  };
  box.clock.now += 29 * DAY;
  expect(await aged()).toEqual([1, 1]);
  box.clock.now += 2 * DAY;
  await box.store.write(setLegalHold, { tenant: 1, account, reason: 'x', by: 'usr_1' });
  expect(await aged()).toEqual([1, 1]);
  await box.store.write(setLegalHold, { tenant: 1, account, reason: null, by: 'usr_1' });
  expect(await aged()).toEqual([0, 1]);
  const rules = [{ folder: 'INBOX', days: 10 }];
  await box.store.write(setRetention, { tenant: 1, deletedDays: 30, trashDays: null, junkDays: null, rules });
  expect(await aged()).toEqual([0, 0]);
  expect(await list(box, account)).toHaveLength(2);
});
