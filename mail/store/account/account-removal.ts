import { removeFromAliases } from '../address/alias.ts';
import { command, lookup, type Write } from '../engine/types.ts';
import { removeListener } from '../notification/listener.ts';
import { collectBlob, type PurgedSlice } from '../retention/purge.ts';
import { ACCOUNT_SPAN } from '../search/account-span.ts';

/** Rows of one slice. */
const SLICE = 100;

/**
 * Deletes an account for good in one step, also one that could be restored: logins and delivery end, its addresses are
 * free. Its data is purged in slices ({@link purgeRemovedAccount}). False if the tenant has no such account.
 */
export async function removeAccount(tx: Write, input: { tenant: number; account: number }): Promise<boolean> {
  const { changes } = await tx.run(
    'UPDATE account SET state = 2, used_bytes = 0, used_count = 0 WHERE id = ? AND tenant = ? AND state <> 2',
    input.account,
    input.tenant,
  );
  if (changes === 0) return false;
  await reserveUidValidities(tx, input.account);
  await dropDeletionRecord(tx, input.account);
  await tx.run('DELETE FROM address WHERE account_id = ?', input.account);
  await removeFromAliases(tx, input.account);
  await tx.run('DELETE FROM credential WHERE account_id = ?', input.account);
  tx.loginsEnded(input.account);
  // The retention job purges them as expired.
  await tx.run('UPDATE jmap_upload SET expires_at = 0 WHERE account_id = ?', input.account);
  await tx.run('DELETE FROM paused_sender WHERE account_id = ?', input.account);
  await tx.run('DELETE FROM agent_policy_account WHERE account_id = ?', input.account);
  await tx.run(
    'DELETE FROM canary_trip WHERE canary_id IN (SELECT id FROM canary WHERE account_id = ?)',
    input.account,
  );
  await tx.run('DELETE FROM canary WHERE account_id = ?', input.account);
  await deleteCredentials(tx, input.account);
  return true;
}

/** Keeps the UIDVALIDITYs of an account from being used again by another one of the same address. */
export async function reserveUidValidities(tx: Write, account: number): Promise<void> {
  await tx.run(
    `INSERT INTO setting (name, value) SELECT 'uidvalidity', CAST(CAST(uidvalidity_last AS TEXT) AS BLOB)
     FROM account WHERE id = ? ON CONFLICT (name) DO UPDATE SET value = excluded.value
     WHERE CAST(CAST(excluded.value AS TEXT) AS INTEGER) > CAST(CAST(setting.value AS TEXT) AS INTEGER)`,
    account,
  );
}

/** Deletes the rows by which a deleted account is listed and restored. */
export async function dropDeletionRecord(tx: Write, account: number): Promise<void> {
  await tx.run('DELETE FROM deleted_account WHERE account_id = ?', account);
  await tx.run('DELETE FROM deleted_address WHERE account_id = ?', account);
}

async function deleteCredentials(tx: Write, account: number): Promise<void> {
  const row = await tx.get<{ id: number }>('SELECT id FROM listener WHERE account_id = ?', account);
  if (row !== undefined) await removeListener(tx, row.id);
}

/** Deleted accounts that still have data. */
export const removedAccounts = lookup('removed-accounts', async (rx): Promise<number[]> => {
  const rows = await rx.all<{ id: number }>('SELECT id FROM account WHERE state = 2 ORDER BY id LIMIT 100');
  return rows.map((row) => row.id);
});

/** Purges a slice of the data of a deleted account, finally the account. Returns blob files to remove. */
export const purgeRemovedAccount = command(
  'purge-removed-account',
  async (tx, { account }: { account: number }): Promise<PurgedSlice> => {
    const emails = await tx.all<{ id: number; blob_id: number }>(
      'SELECT id, blob_id FROM email WHERE id >= ? AND id < ? ORDER BY id LIMIT ?',
      account * ACCOUNT_SPAN,
      (account + 1) * ACCOUNT_SPAN,
      SLICE,
    );
    const files: string[] = [];
    for (const { id, blob_id: blob } of emails) {
      for (const sql of DELETES_PER_EMAIL) await tx.run(sql, id);
      const file = await collectBlob(tx, blob);
      if (file !== undefined) files.push(file);
    }
    const purged = { files, emails: emails.length };
    if (emails.length > 0) return { ...purged, more: true };
    return { ...purged, more: await purgeAccountRows(tx, account) };
  },
);

const DELETES_PER_EMAIL = [
  'DELETE FROM entry WHERE email_id = ?',
  'DELETE FROM expunged WHERE email_id = ?',
  'DELETE FROM email_meta_v1 WHERE email_id = ?',
  'DELETE FROM filter_result WHERE email_id = ?',
  'DELETE FROM local_origin WHERE email_id = ?',
  `DELETE FROM tainted_content WHERE content = 'email/' || CAST(? AS INTEGER)`,
  'DELETE FROM reject WHERE email_id = ?',
  'DELETE FROM snooze WHERE email_id = ?',
  'DELETE FROM agent_quarantine WHERE email_id = ?',
  'DELETE FROM imported_email WHERE email_id = ?',
  'DELETE FROM trained_sample WHERE email_id = ?',
  'DELETE FROM email WHERE id = ?',
];

/** Purges rows other than messages. Mailboxes come last, since rows are found through them. */
async function purgeAccountRows(tx: Write, account: number): Promise<boolean> {
  for (const sql of DELETES_PER_ACCOUNT) {
    const { changes } = await tx.run(sql, account, SLICE);
    if (changes === SLICE) return true;
  }
  await tx.run('DELETE FROM account WHERE id = ? AND state = 2', account);
  return false;
}

const DELETES_PER_ACCOUNT = [
  'DELETE FROM sender WHERE (account_id, key) IN (SELECT account_id, key FROM sender WHERE account_id = ? LIMIT ?)',
  `DELETE FROM correspondent WHERE (account_id, key) IN (SELECT account_id, key FROM correspondent WHERE account_id = ? LIMIT ?)`,
  `DELETE FROM untrusted_read WHERE (reader, email_id) IN (SELECT reader, email_id FROM untrusted_read WHERE account_id = ? LIMIT ?)`,
  'DELETE FROM agent_send WHERE id IN (SELECT id FROM agent_send WHERE account_id = ? LIMIT ?)',
  `DELETE FROM word WHERE (account_id, hash) IN (SELECT account_id, hash FROM word WHERE account_id = ? LIMIT ?)`,
  `DELETE FROM training_sample WHERE (account_id, email_id) IN (SELECT account_id, email_id FROM training_sample WHERE account_id = ? LIMIT ?)`,
  'DELETE FROM word_corpus WHERE account_id IN (SELECT account_id FROM word_corpus WHERE account_id = ? LIMIT ?)',
  `DELETE FROM msgid WHERE (account_id, h, subj_h) IN (SELECT account_id, h, subj_h FROM msgid WHERE account_id = ? LIMIT ?)`,
  `DELETE FROM thread_total WHERE (thread_id, mailbox_id) IN (SELECT t.thread_id, t.mailbox_id FROM thread_total t
     WHERE t.thread_id >= ?1 * 4294967296 AND t.thread_id < (?1 + 1) * 4294967296 LIMIT ?2)`,
  `DELETE FROM vanished WHERE (mailbox_id, modseq, uid_lo) IN (SELECT v.mailbox_id, v.modseq, v.uid_lo FROM vanished v
     JOIN mailbox m ON m.id = v.mailbox_id WHERE m.account_id = ? LIMIT ?)`,
  `DELETE FROM keyword WHERE (account_id, slot) IN (SELECT account_id, slot FROM keyword WHERE account_id = ? LIMIT ?)`,
  `DELETE FROM annotation WHERE (mailbox_id, account_id, name) IN (SELECT mailbox_id, account_id, name FROM annotation
     WHERE account_id = ? LIMIT ?)`,
  `DELETE FROM mailbox_acl WHERE (mailbox_id, account_id) IN (SELECT mailbox_id, account_id FROM mailbox_acl
     WHERE account_id = ? LIMIT ?)`,
  `DELETE FROM mailbox_acl WHERE (mailbox_id, account_id) IN (SELECT c.mailbox_id, c.account_id FROM mailbox m
     JOIN mailbox_acl c ON c.mailbox_id = m.id WHERE m.account_id = ? LIMIT ?)`,
  'DELETE FROM imap_setting WHERE account_id IN (SELECT account_id FROM imap_setting WHERE account_id = ? LIMIT ?)',
  `DELETE FROM former_subscription WHERE (account_id, name) IN
     (SELECT account_id, name FROM former_subscription WHERE account_id = ? LIMIT ?)`,
  'DELETE FROM label WHERE (account_id, name) IN (SELECT account_id, name FROM label WHERE account_id = ? LIMIT ?)',
  'DELETE FROM sender_rule WHERE id IN (SELECT id FROM sender_rule WHERE account_id = ? LIMIT ?)',
  'DELETE FROM identity WHERE id IN (SELECT id FROM identity WHERE account_id = ? LIMIT ?)',
  `DELETE FROM email_submission_recipient WHERE (submission, nth) IN (SELECT r.submission, r.nth
     FROM email_submission s JOIN email_submission_recipient r ON r.submission = s.id WHERE s.account_id = ? LIMIT ?)`,
  'DELETE FROM email_submission WHERE id IN (SELECT id FROM email_submission WHERE account_id = ? LIMIT ?)',
  'DELETE FROM vacation_job WHERE id IN (SELECT id FROM vacation_job WHERE account_id = ? LIMIT ?)',
  `DELETE FROM vacation_reply WHERE (account_id, key) IN
     (SELECT account_id, key FROM vacation_reply WHERE account_id = ? LIMIT ?)`,
  'DELETE FROM vacation WHERE account_id IN (SELECT account_id FROM vacation WHERE account_id = ? LIMIT ?)',
  'DELETE FROM claim WHERE (account_id, thread_id) IN (SELECT account_id, thread_id FROM claim WHERE account_id = ? LIMIT ?)',
  `DELETE FROM agent_change WHERE (account_id, seq) IN (SELECT account_id, seq FROM agent_change WHERE account_id = ? LIMIT ?)`,
  'DELETE FROM approval WHERE id IN (SELECT id FROM approval WHERE account_id = ? LIMIT ?)',
  'DELETE FROM approval_mailbox WHERE account_id IN (SELECT account_id FROM approval_mailbox WHERE account_id = ? LIMIT ?)',
  'DELETE FROM rejects_mailbox WHERE account_id IN (SELECT account_id FROM rejects_mailbox WHERE account_id = ? LIMIT ?)',
  `DELETE FROM tombstone WHERE (account_id, type, modseq, object_id) IN (SELECT account_id, type, modseq, object_id
     FROM tombstone WHERE account_id = ? LIMIT ?)`,
  `DELETE FROM type_state WHERE (account_id, type) IN (SELECT account_id, type FROM type_state WHERE account_id = ? LIMIT ?)`,
  'DELETE FROM deleted_mailbox WHERE mailbox_id IN (SELECT d.mailbox_id FROM mailbox m JOIN deleted_mailbox d ON d.mailbox_id = m.id WHERE m.account_id = ? LIMIT ?)',
  'DELETE FROM legal_hold WHERE account_id IN (SELECT account_id FROM legal_hold WHERE account_id = ? LIMIT ?)',
  `DELETE FROM import_uid WHERE (folder_id, uid) IN (SELECT u.folder_id, u.uid FROM import_source s
     JOIN import_folder f ON f.source_id = s.id JOIN import_uid u ON u.folder_id = f.id WHERE s.account_id = ? LIMIT ?)`,
  `DELETE FROM import_folder WHERE id IN (SELECT f.id FROM import_source s JOIN import_folder f ON f.source_id = s.id
     WHERE s.account_id = ? LIMIT ?)`,
  'DELETE FROM import_source WHERE id IN (SELECT id FROM import_source WHERE account_id = ? LIMIT ?)',
  'DELETE FROM import_job WHERE id IN (SELECT id FROM import_job WHERE account_id = ? LIMIT ?)',
  `DELETE FROM imported_content WHERE (mailbox_id, hash, nth) IN (SELECT c.mailbox_id, c.hash, c.nth FROM mailbox m
     JOIN imported_content c ON c.mailbox_id = m.id WHERE m.account_id = ? LIMIT ?)`,
  `DELETE FROM mailbox WHERE id IN (SELECT id FROM mailbox WHERE account_id = ? LIMIT ?)`,
];
