import type { DatabaseSync } from 'node:sqlite';

const APPLY = `UPDATE entry SET flags = (flags & ~l.bits) | l.value, modseq = l.modseq
  FROM (SELECT * FROM flag_range ORDER BY account_id, modseq, first_uid LIMIT 1) l
  WHERE entry.mailbox_id = l.mailbox_id AND entry.uid BETWEEN l.first_uid AND l.last_uid`;
const DROP = `DELETE FROM flag_range WHERE (account_id, modseq, first_uid) IN
  (SELECT account_id, modseq, first_uid FROM flag_range ORDER BY account_id, modseq, first_uid LIMIT 1)`;

/** Writes logged flags to the messages of a copy of a database, which no server has opened since. */
export function applyLoggedFlags(db: DatabaseSync): void {
  // Copies of earlier versions have no log.
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'flag_range'").get() === undefined) return;
  while (db.prepare('SELECT 1 FROM flag_range LIMIT 1').get() !== undefined) {
    db.prepare(APPLY).run();
    db.prepare(DROP).run();
  }
}
