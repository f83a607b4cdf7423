import { command, type Read, type Stamp, type Write } from './engine/types.ts';
import { addMailbox } from './mailbox.ts';
import { entriesOf, type Placed, removeEntries } from './message.ts';

const NAMES = ['Rejects', 'Rejects (refused mail)'];
const DAY_MS = 86_400_000;
/** Refused mail can be looked at for so long. */
const KEPT_MS = 7 * DAY_MS;
/** A flood of refused mail pushes out the oldest of it. */
const MOST_REJECTS = 200;
const MOST_OCTETS = 50_000_000;
/** Beyond this share of what it may use a mailbox keeps no refused mail: the room is for mail that is wanted. */
const MOST_FULL = 0.9;
const SLICE = 100;

/**
 * The mailbox for refused mail, made when it is first needed. Undefined where a person has taken its names, or a message
 * of `size` octets would take room that is needed.
 */
export async function rejectsMailbox(
  tx: Write,
  { account, size }: { account: number; size: number },
  stamp: Stamp,
): Promise<number | undefined> {
  if (size > MOST_OCTETS || !(await hasRoom(tx, account, size))) return undefined;
  const known = await tx.get<{ id: number }>(
    `SELECT m.id FROM rejects_mailbox r JOIN mailbox m ON m.id = r.mailbox_id
     WHERE r.account_id = ? AND m.account_id = r.account_id AND m.gone_at IS NULL`,
    account,
  );
  if (known !== undefined) return known.id;
  for (const name of NAMES) {
    if (await isTaken(tx, account, name)) continue;
    const id = await addMailbox(tx, account, 0, name, null, stamp);
    await tx.run(
      `INSERT INTO rejects_mailbox (account_id, mailbox_id) VALUES (?1, ?2)
       ON CONFLICT (account_id) DO UPDATE SET mailbox_id = ?2`,
      account,
      id,
    );
    return id;
  }
  return undefined;
}

async function hasRoom(rx: Read, account: number, size: number): Promise<boolean> {
  const full = await rx.get(
    `SELECT 1 AS yes FROM account WHERE id = ?1
       AND (used_bytes + ?2 > quota_bytes * ?3 OR used_count + 1 > quota_count * ?3)`,
    account,
    size,
    MOST_FULL,
  );
  return full === undefined;
}

async function isTaken(rx: Read, account: number, name: string): Promise<boolean> {
  const sql = 'SELECT 1 AS taken FROM mailbox WHERE account_id = ? AND parent_id = 0 AND name = ?';
  return (await rx.get(sql, account, name)) !== undefined;
}

/** Remembers that a message was put there to be looked at, and lets go of the oldest when there are many. */
export async function noteReject(
  tx: Write,
  what: { account: number; email: number; mailbox: number; placed: Placed },
  stamp: Stamp,
): Promise<void> {
  const { account, email, mailbox, placed } = what;
  await tx.run(
    'INSERT INTO reject (email_id, account_id, mailbox_id, uid, at) VALUES (?, ?, ?, ?, ?)',
    email,
    account,
    mailbox,
    placed.uid,
    stamp.now,
  );
  const over = await tx.all<RejectRow>(
    // What a person moved elsewhere counts as well, until its week is over.
    `SELECT email_id, account_id, mailbox_id, uid FROM (
       SELECT r.*, row_number() OVER newest AS number, sum(e.size) OVER newest AS octets
       FROM reject r LEFT JOIN email e ON e.id = r.email_id WHERE r.account_id = ?1
       WINDOW newest AS (ORDER BY r.at DESC, r.email_id DESC)
     ) WHERE number > ?2 OR octets > ?3`,
    account,
    MOST_REJECTS,
    MOST_OCTETS,
  );
  for (const row of over) await letGo(tx, row, stamp);
}

/** Lets go of a slice of refused mail that is too old. Answers whether there may be more. */
export const forgetRejects = command('forget-rejects', async (tx, _: undefined, stamp): Promise<boolean> => {
  const old = await tx.all<RejectRow>(
    'SELECT email_id, account_id, mailbox_id, uid FROM reject WHERE at < ? ORDER BY at LIMIT ? + 0',
    stamp.now - KEPT_MS,
    SLICE,
  );
  for (const row of old) await letGo(tx, row, stamp);
  return old.length === SLICE;
});

interface RejectRow extends Record<string, number> {
  email_id: number;
  account_id: number;
  mailbox_id: number;
  uid: number;
}

/** What a person has moved is theirs: only the entry goes that was made here, when it is there still. */
async function letGo(
  tx: Write,
  { email_id: email, account_id: account, mailbox_id: mailbox, uid }: RejectRow,
  stamp: Stamp,
): Promise<void> {
  const rows = await entriesOf(tx, mailbox, [uid]);
  if (rows.length > 0) await removeEntries(tx, account, mailbox, rows, stamp);
  await tx.run('DELETE FROM reject WHERE email_id = ?', email);
}
