import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { messageRows, type StoredMessageRow } from '../../mail/store/blob/content.ts';
import { openForWriting } from '../../mail/store/engine/connection.ts';
import { copyEntries, expunge, storeFlags } from '../../mail/store/mailbox/entry-commands.ts';
import { findMailbox } from '../../mail/store/mailbox/mailbox.ts';
import { emailRows } from '../../mail/store/message/email-rows.ts';
import { purgeExpunged } from '../../mail/store/retention/purge.ts';
import { deliverMail } from '../support/deliver-mail.ts';
import { type TestStore, testAccount, testStore } from '../support/store.ts';

let box: TestStore;
let account: number;
let inbox: number;
let archive: number;

beforeEach(async () => {
  box = await testStore();
  ({ account, inbox } = await testAccount(box.store));
  archive = (await box.store.read(findMailbox, { account, name: 'Archive' }))?.id ?? 0;
});

afterEach(() => box[Symbol.asyncDispose]());

const deliverOne = (subject: string): Promise<void> =>
  deliverMail(
    box.store,
    { account, to: 'me@box.test' },
    `From: a@a.example\nSubject: ${subject}\n\nText of ${subject}\n`,
  );

const rowsOf = (mailbox: number, ...uids: number[]): Promise<StoredMessageRow[]> =>
  box.store.read(messageRows, { account, mailbox, uids, structure: true });

const copyOne = (uid: number): Promise<unknown> =>
  box.store.write(copyEntries, { account, mailbox: inbox, uids: [uid], to: archive, move: false });

/** Stores the indexes of all messages as versions before the table `message_index` did. */
function asBefore(): void {
  const db = new DatabaseSync(join(box.dataDir, 'mailstead.db'));
  db.exec(
    `INSERT INTO email_meta_v1 SELECT e.id, header_length, envelope, bodystructure, parts, subject, preview, refs
       FROM message_index i JOIN email e ON e.blob_id = i.blob_id; DELETE FROM message_index`,
  );
  db.close();
}

const count = (table: 'email_meta_v1' | 'message_index' | 'blob'): number => {
  const db = new DatabaseSync(join(box.dataDir, 'mailstead.db'), { readOnly: true });
  const row = db.prepare(`SELECT count(*) AS n FROM ${table}`).get();
  db.close();
  return Number(row?.['n']);
};

async function purgeAll(uids: readonly number[]): Promise<void> {
  const flags = { bits: 16, keywords: [] };
  for (const mailbox of [inbox, archive]) {
    const target = { account, mailbox, uids };
    await box.store.write(storeFlags, { ...target, how: 'add', flags, unchangedSince: null });
    await box.store.write(expunge, target);
  }
  await box.store.write(purgeExpunged, { before: box.clock.now + 1 });
}

test('messages that an earlier version stored are read, copied and purged like others', async () => {
  for (const subject of ['one', 'two']) await deliverOne(subject);
  const before = await rowsOf(inbox, 1, 2);
  asBefore();
  await deliverOne('three');
  expect([count('email_meta_v1'), count('message_index')]).toEqual([2, 1]);
  expect(await rowsOf(inbox, 1, 2)).toEqual(before);
  // The second copy into the same mailbox is an email of its own.
  for (let n = 0; n < 2; n++) await copyOne(1);
  const copies = await rowsOf(archive, 1, 2);
  expect(copies.map(({ structure }) => structure)).toEqual([before[0]?.structure, before[0]?.structure]);
  const ids = [...(await rowsOf(inbox, 1, 2, 3)), ...copies].map(({ emailId }) => emailId);
  const listed = await box.store.read(emailRows, { account, ids, listing: true, structure: true });
  expect(listed?.rows.map(({ listing }) => listing?.preview)).toContain('Text of three');
  expect(listed?.rows.every(({ structure }) => /"text" "plain"/i.test(structure?.bodyStructure ?? ''))).toBe(true);
  await purgeAll([1, 2, 3]);
  expect([count('email_meta_v1'), count('message_index'), count('blob')]).toEqual([0, 0, 0]);
});

test('copies of a message share its index, which goes with the last of them', async () => {
  await deliverOne('one');
  for (let n = 0; n < 3; n++) await copyOne(1);
  expect(count('message_index')).toBe(1);
  await box.store.write(expunge, { account, mailbox: inbox, uids: [1] });
  expect((await rowsOf(archive, 3))[0]?.structure?.envelope).toContain('"one"');
  await purgeAll([1, 2, 3]);
  expect(count('message_index')).toBe(0);
});

test.each([1024, 4096])('a database keeps its pages of %i octets, and its log the size of 16 MiB', (size) => {
  const path = join(box.dataDir, `pages-${size}.db`);
  if (size !== 1024) {
    const db = new DatabaseSync(path);
    db.exec(`PRAGMA page_size = ${size}; CREATE TABLE before (n INTEGER)`);
    db.close();
  }
  const connection = openForWriting(path);
  connection.script('CREATE TABLE after (n INTEGER)');
  expect(connection.get('PRAGMA page_size', [])).toEqual({ page_size: size });
  expect(connection.get('PRAGMA wal_autocheckpoint', [])).toEqual({ wal_autocheckpoint: (16 * 2 ** 20) / size });
  connection.close();
});
