import { STATE_TYPES } from './type-state.ts';

/** More changes than an account can have had since its newest copy. 2^53 has room for two million restores. */
const MODSEQ_GAP = 2 ** 32;
/** More messages than an account can have got since then; ids of an account have 32 bits. */
const ID_GAP = 2 ** 20;

const CONTINUE_FAR_ABOVE = `UPDATE account SET modseq = modseq + ?, email_seq = email_seq + ?, thread_seq = thread_seq + ?,
  uidvalidity_last = max(?, uidvalidity_last + 1)`;

// Mailboxes of an account differ: one that is renamed to the name of another must not have its UIDVALIDITY.
const NUMBER_MAILBOXES = `UPDATE mailbox SET
    uidvalidity = (SELECT a.uidvalidity_last FROM account a WHERE a.id = account_id) + n.position,
    modseq = n.modseq, counts_modseq = n.modseq, highestmodseq = n.modseq
  FROM (SELECT b.id, a.modseq, row_number() OVER (PARTITION BY b.account_id ORDER BY b.id) AS position
        FROM mailbox b JOIN account a ON a.id = b.account_id) n
  WHERE n.id = mailbox.id`;

const KEEP_LAST_UIDVALIDITY = `UPDATE account SET uidvalidity_last = max(uidvalidity_last,
  coalesce((SELECT max(b.uidvalidity) FROM mailbox b WHERE b.account_id = account.id), 0))`;

const BEGIN_STATE = `INSERT INTO type_state (account_id, type, modseq, floor)
  SELECT id, ?, modseq, modseq FROM account WHERE true
  ON CONFLICT (account_id, type) DO UPDATE SET modseq = excluded.modseq, floor = excluded.floor`;

/**
 * Statements, with their values, that end the numbering of a restored database and begin a new one. The server gave numbers after the copy was
 * made that the database does not know of; mail programs have them in their caches, and would take other messages for those.
 *
 * - UIDVALIDITY of every mailbox changes, so that IMAP clients fetch them again. RFC 9051 2.3.1.1.
 * - Mod-sequences continue far above, and states of JMAP from before cannot be compared. RFC 8620 5.2.
 * - Ids of messages and threads continue above those that were given. RFC 8620 1.2: an id is never used again.
 *
 * `now` in ms UTC.
 */
export function renewalOf(now: number): [sql: string, params: (string | number)[]][] {
  return [
    [CONTINUE_FAR_ABOVE, [MODSEQ_GAP, ID_GAP, ID_GAP, Math.ceil(now / 1_000)]],
    [NUMBER_MAILBOXES, []],
    [KEEP_LAST_UIDVALIDITY, []],
    ...STATE_TYPES.map((type): [string, string[]] => [BEGIN_STATE, [type]]),
  ];
}
