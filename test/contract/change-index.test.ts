import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { beforeCreated } from '../../mail/store/message/created-since.ts';
import { type ChangesSince, emailChanges } from '../../mail/store/message/email-changes.ts';
import { mailMigrations } from '../../mail/store/migrations.ts';
import { applianceMigrations } from '../../src/core/migrations.ts';
import { explained } from '../support/explained.ts';
import { sourceStatements } from '../support/source-statements.ts';
import { testAccount, testStore, type TestStore } from '../support/store.ts';

const ROOT = join(import.meta.dirname, '../..');
const SPAN = 2 ** 32;

/** Adds emails without mailboxes, three by each mod-sequence, without every seventh id; `changed` after all were stored. */
function addEmails({ dataDir }: TestStore, account: number, count: number, changed: boolean): void {
  using db = new DatabaseSync(join(dataDir, 'mailstead.db'), { timeout: 5000 });
  db.prepare(
    `WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < ?2)
     INSERT INTO email (id, account_id, thread_id, blob_id, trace, size, received_at, sent_at, sent_day, attach, subj, from_k,
       to_k, cc_k, from_d, to_d, created_modseq, modseq)
     SELECT ?1 * 4294967296 + at, ?1, ?1 * 4294967296 + at, 1, '', 1, 1, 1, 1, 0, '', '', '', '', '', '', 10 + at / 3,
       CASE WHEN ?3 = 1 THEN 10000 + at ELSE 10 + at / 3 END FROM n WHERE at % 7 <> 0`,
  ).run(account, count, Number(changed));
  db.prepare('UPDATE account SET modseq = 20000, email_seq = ?2 WHERE id = ?1').run(account, count);
}

test('emails that did not change are found by their ids, however many there are', async () => {
  await using box = await testStore();
  const { account } = await testAccount(box.store);
  const { account: other } = await testAccount(box.store, 'other', { name: 'other.test' });
  addEmails(box, account, 3000, false);
  addEmails(box, other, 10, false);
  using looked = explained(box.dataDir);
  const idsFrom = (modseq: number): number[] =>
    Array.from({ length: 3000 }, (_, n) => n + 1).filter((n) => n % 7 !== 0 && 10 + Math.floor(n / 3) >= modseq);
  for (let modseq = 9; modseq < 1015; modseq += 3) {
    const before = (await beforeCreated(looked.tx, account, modseq)) - account * SPAN;
    const [first = 3001] = idsFrom(modseq);
    expect(before, `mod-sequence ${modseq}`).toBeLessThan(first);
    expect(before, `mod-sequence ${modseq}`).toBeGreaterThanOrEqual(Math.min(first, 3000) - 64 - 2);
  }
  // A client that knows all but the last asks for little; one that knows nothing for some more.
  const { plans } = looked;
  plans.length = 0;
  await beforeCreated(looked.tx, account, 1008);
  expect(plans.length).toBeLessThanOrEqual(2);
  plans.length = 0;
  await beforeCreated(looked.tx, account, 500);
  expect(plans.length).toBeLessThanOrEqual(12);
});

test.each([
  ['that never changed', false, 3],
  ['that all changed since', true, 5],
])('clients get each of many emails %s once', async (_what, changed, most) => {
  await using box = await testStore();
  const { account } = await testAccount(box.store);
  addEmails(box, account, 3000, changed);
  const seen: number[] = [];
  let since: ChangesSince = { modseq: 5, row: Infinity, origin: 5 };
  let empty = 0;
  for (;;) {
    const found = await box.store.read(emailChanges, { account, since, limit: 400 });
    if (found.kind !== 'changes') throw new Error(found.kind);
    seen.push(...found.changes.map(({ id }) => id - account * SPAN));
    if (found.changes.length === 0) empty++;
    if (found.cut === undefined) break;
    since = { ...since, ...found.cut };
  }
  expect(seen).toEqual(Array.from({ length: 3000 }, (_, n) => n + 1).filter((n) => n % 7 !== 0));
  expect(empty).toBeLessThanOrEqual(most);
});

// The plans of PostgreSQL are those of postgres-schema.test.ts.
test('every statement that asks for changed messages uses the index of those', () => {
  using db = new DatabaseSync(':memory:');
  for (const { sql } of [...mailMigrations(), ...applianceMigrations()]) db.exec(sql);
  const statements = sourceStatements(ROOT).filter(({ text }) =>
    /modseq <> (?:\w\.)?(?:created|entered)_modseq/.test(text),
  );
  expect(statements.length).toBeGreaterThanOrEqual(5);
  for (const { text } of statements) {
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${text}`).all();
    const steps = plan.map((row) => String(row['detail'])).filter((step) => /\b(?:email|entry|[en])\b/.test(step));
    expect(steps.join('\n'), text).toMatch(/USING INDEX (?:email|entry)_changed \(\w+=\?/);
    expect(steps.join('\n'), text).not.toMatch(/SCAN (?:email|entry|[en])\b/);
  }
});
