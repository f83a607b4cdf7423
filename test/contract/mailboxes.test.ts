import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Value } from '../../mail/store/engine/types.ts';
import { findMailbox } from '../../mail/store/mailbox/mailbox.ts';
import { StoreBackend } from '../../mail/imap/store-backend.ts';
import { purgeDeletedFolder } from '../../mail/store/retention/purge.ts';
import { rawChange } from '../support/raw-change.ts';
import { onPostgres } from '../support/test-database.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

async function world(): Promise<{ box: TestStore; imap: StoreBackend; account: number; inbox: number }> {
  const box = await testStore();
  const { account, inbox } = await testAccount(box.store);
  return { box, imap: new StoreBackend(box.store, account, () => box.clock.now), account, inbox };
}

const levels = (name: string, count: number): string => Array.from({ length: count }, () => name).join('/');

test('deleted mailboxes do not count against the limit', async () => {
  const { box, imap, account } = await world();
  await using _ = box;
  await rawChange(
    box.store,
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
     INSERT INTO mailbox (account_id, parent_id, name, uidvalidity, created_modseq, modseq, deleted_at)
     SELECT ?, -1, 'gone ' || i, i, 1, 1, 1 FROM n`,
    account,
  );
  expect(await imap.create('another')).toMatchObject({ kind: 'created' });
});

test('RENAME obeys the same limits of depth, length and number as CREATE', async () => {
  const { box, imap } = await world();
  await using _ = box;
  await imap.create(levels('a', 20));
  expect(await imap.rename('a', 'b/a')).toBe('too-many');
  expect(await imap.rename(levels('a', 19), levels('b', 18))).toBe('renamed');
  await imap.create(`x/${'y'.repeat(255)}/${'y'.repeat(255)}/${'y'.repeat(255)}`);
  expect(await imap.rename('x', 'z'.repeat(255))).toBe('too-many');
  expect(await imap.rename('x', 'z'.repeat(200))).toBe('renamed');
  for (const { name } of await imap.mailboxes()) expect(await imap.mailbox(name), name).toMatchObject({ name });
});

test('RENAME creates no parents beyond the limit of mailboxes', async () => {
  const { box, imap, account } = await world();
  await using _ = box;
  await rawChange(
    box.store,
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1990)
     INSERT INTO mailbox (account_id, name, uidvalidity, created_modseq, modseq) SELECT ?, 'n' || i, i, 1, 1 FROM n`,
    account,
  );
  expect(await imap.rename('n1', 'p/q/r/s/t/n1')).toBe('too-many');
  expect(await imap.rename('INBOX', 'p/q/r/s/t/n1')).toBe('too-many');
  expect(await imap.rename('n1', 'm1')).toBe('renamed');
});

// The plans of PostgreSQL: postgres-schema.test.ts.
test.skipIf(onPostgres)('looking up a mailbox does not scan those of other accounts', async () => {
  const { box, account } = await world();
  await using _ = box;
  const queried: string[] = [];
  const db = new DatabaseSync(join(box.dataDir, 'mailstead.db'), { readOnly: true });
  const get = (sql: string, ...params: Value[]): Promise<never> => {
    queried.push(JSON.stringify(db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...params)));
    return Promise.resolve(db.prepare(sql).get(...params) as never);
  };
  await findMailbox.run({ get, all: () => Promise.reject(new Error('one row at a time')) }, { account, name: 'Sent' });
  db.close();
  expect(queried).toHaveLength(3);
  expect(queried.filter((plan) => plan.includes('SCAN'))).toEqual([]);
});

test('emptying a deleted mailbox ends even if its counter is wrong', async () => {
  const { box, imap, account } = await world();
  await using _ = box;
  const junk = (await imap.mailbox('Junk'))?.id ?? 0;
  await imap.remove('Junk');
  await rawChange(box.store, 'UPDATE mailbox SET total = 1 WHERE deleted_at IS NOT NULL');
  expect(await box.store.writeSlice(purgeDeletedFolder, { account, mailbox: junk })).toBe(0);
});

test('who gives a mailbox a name, or is shown names and keywords, is known first', async () => {
  const { box, account, inbox } = await world();
  await using _ = box;
  const events: string[] = [];
  const imap = new StoreBackend(box.store, account, () => box.clock.now, {
    onWords: async ({ kinds, written }) =>
      void events.push(await Promise.resolve(`${written ? 'write' : 'read'} ${kinds.join()}`)),
  });
  await imap.create('a');
  await imap.rename('a', 'b');
  await imap.mailboxes();
  await imap.onLabels(inbox);
  expect(events).toEqual(['write folders', 'write folders', 'read folders', 'read labels']);
});
