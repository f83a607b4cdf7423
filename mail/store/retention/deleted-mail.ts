import { command, lookup, query, type Read, type Stamp, type Write } from '../engine/types.ts';
import { overQuota, restoreToQuota } from '../mailbox/entry-commands.ts';
import { DELETED, kwList } from '../mailbox/flags.ts';
import { addMailbox, idOfChild, mailboxPath } from '../mailbox/mailbox.ts';
import { placeEntry } from '../message/entry.ts';
import { snapshotThreads, updateThreads } from '../message/visibility.ts';

/** Messages of one command. */
export const MAX_RESTORED = 100;

/** A message that left all mailboxes and can be restored. */
export interface DeletedMessage extends Record<string, string | number | null> {
  id: number;
  subject: string;
  /** Wire-ready ENVELOPE. */
  envelope: string;
  size: number;
  /** ms UTC. */
  receivedAt: number;
  /** ms UTC. */
  deletedAt: number;
  mailbox: number;
  /** Row of its last place, to continue a list. */
  uid: number;
}

/** Deleted messages of an account, those deleted last first. */
export const listDeletedMessages = query(
  'list-deleted-messages',
  async (
    rx,
    input: { account: number; since: number; before: number; limit: number },
  ): Promise<(DeletedMessage & { folder: string })[]> => {
    const rows = await rx.all<DeletedMessage>(
      `SELECT e.id, m.subject, m.envelope, e.size, e.received_at AS receivedAt, x.at AS deletedAt,
         x.mailbox_id AS mailbox, x.uid
       FROM mailbox b CROSS JOIN expunged x ON x.mailbox_id = b.id CROSS JOIN email e ON e.id = x.email_id
         CROSS JOIN email_meta m ON m.email_id = e.id
       WHERE b.account_id = ?1 AND x.at >= ?2 AND x.at < ?3
         AND NOT EXISTS (SELECT 1 FROM entry n WHERE n.email_id = e.id)
         AND NOT EXISTS (SELECT 1 FROM expunged y CROSS JOIN mailbox c ON c.id = y.mailbox_id AND c.account_id = ?1
           WHERE y.email_id = x.email_id AND y.at < ?3 AND (y.at, y.mailbox_id, y.uid) > (x.at, x.mailbox_id, x.uid))
       ORDER BY x.at DESC, e.id DESC LIMIT ?4 + 0`,
      input.account,
      input.since,
      input.before,
      input.limit,
    );
    const listed: (DeletedMessage & { folder: string })[] = [];
    for (const row of rows) {
      const place = await formerPlace(rx, input.account, row.id);
      listed.push({ ...row, folder: place?.path ?? 'INBOX' });
    }
    return listed;
  },
);

interface FormerPlace extends Record<string, string | number | null> {
  mailbox: number;
  /** Null: the mailbox is there. */
  gone: string | null;
  role: string | null;
  flags: number;
  kw: string | null;
}

/** The last mailbox of a deleted message that was not the trash, with its flags there; else the trash's. */
async function formerPlace(
  rx: Read,
  account: number,
  email: number,
): Promise<(FormerPlace & { path: string }) | undefined> {
  const row = await rx.get<FormerPlace>(
    `SELECT x.mailbox_id AS mailbox, iif(b.deleted_at IS NULL, NULL, ifnull(d.path, 'INBOX')) AS gone, b.role, x.flags, x.kw
     FROM expunged x INDEXED BY expunged_email CROSS JOIN mailbox b ON b.id = x.mailbox_id
       LEFT JOIN deleted_mailbox d ON d.mailbox_id = b.id
     WHERE x.email_id = ? AND b.account_id = ? ORDER BY b.role IS 'trash', x.at DESC, x.modseq DESC LIMIT 1`,
    email,
    account,
  );
  if (row === undefined) return undefined;
  if (row.role === 'trash') return { ...row, gone: 'INBOX', path: 'INBOX' };
  return { ...row, path: row.gone ?? (await mailboxPath(rx, row.mailbox)) };
}

export interface RestoredMessages {
  restored: { id: number; folder: string }[];
  /** They are no longer there, or are not deleted. */
  missing: number[];
  overQuota: boolean;
}

/** Restores deleted messages to their places, with their flags and threads. A folder that was deleted comes back. */
export const restoreDeletedMessages = command(
  'restore-deleted-messages',
  async (tx, { account, emails }: { account: number; emails: readonly number[] }, stamp): Promise<RestoredMessages> => {
    const done: RestoredMessages = { restored: [], missing: [], overQuota: false };
    for (const email of emails.slice(0, MAX_RESTORED)) {
      const row = await tx.get<{ thread_id: number; size: number; received_at: number }>(
        `SELECT thread_id, size, received_at FROM email WHERE id = ? AND account_id = ?
           AND NOT EXISTS (SELECT 1 FROM entry WHERE email_id = email.id)`,
        email,
        account,
      );
      const place = row && (await formerPlace(tx, account, email));
      if (row === undefined || place === undefined) done.missing.push(email);
      else if (await overQuota(tx, account, row.size)) done.overQuota = true;
      else done.restored.push({ id: email, folder: await restoreOne(tx, account, email, row, place, stamp) });
    }
    return done;
  },
);

async function restoreOne(
  tx: Write,
  account: number,
  email: number,
  row: { thread_id: number; size: number; received_at: number },
  place: FormerPlace & { path: string },
  stamp: Stamp,
): Promise<string> {
  const before = await snapshotThreads(tx, [row.thread_id]);
  const wanted = place.gone === null ? place.mailbox : await mailboxAt(tx, account, place.path, stamp);
  // Messages of a reserved mailbox would be sent again.
  const isReserved = await tx.hooks.isReserved(tx, account, wanted);
  const mailbox = isReserved ? await mailboxAt(tx, account, 'INBOX', stamp) : wanted;
  await restoreToQuota(tx, account, { size: row.size, email_id: email });
  const whole = { id: email, account, threadId: row.thread_id, size: row.size, receivedAt: row.received_at };
  const flags = { bits: place.flags & ~DELETED, kw: kwList(place.kw) };
  const { modseq } = await placeEntry(tx, mailbox, whole, flags, stamp);
  await updateThreads(tx, before, modseq);
  return isReserved ? 'INBOX' : place.path;
}

/** The mailbox with this full name; creates missing levels. */
async function mailboxAt(tx: Write, account: number, path: string, stamp: Stamp): Promise<number> {
  let parent = 0;
  for (const level of path.split('/')) {
    parent =
      (await idOfChild(tx, account, parent, level)) ?? (await addMailbox(tx, account, parent, level, null, stamp));
  }
  return parent;
}

/** Ids of the messages that were deleted since a time, at most {@link MAX_RESTORED}. */
export const deletedSince = lookup(
  'deleted-since',
  async (rx, input: { account: number; since: number }): Promise<number[]> => {
    const rows = await rx.all<{ id: number }>(
      `SELECT x.email_id AS id FROM mailbox b CROSS JOIN expunged x ON x.mailbox_id = b.id
       WHERE b.account_id = ?1 AND x.at >= ?2 AND NOT EXISTS (SELECT 1 FROM entry n WHERE n.email_id = x.email_id)
       GROUP BY x.email_id ORDER BY min(x.at), x.email_id LIMIT ?3 + 0`,
      input.account,
      input.since,
      MAX_RESTORED,
    );
    return rows.map(({ id }) => id);
  },
);

/** Makes deleted messages of an account due for the purge. `held`: a legal hold forbids it. Answers their number. */
export const expireDeletedMessages = command(
  'expire-deleted-messages',
  async (
    tx,
    { account, emails }: { account: number; emails: readonly number[] | null },
  ): Promise<{ kind: 'expired'; rows: number; more: boolean } | { kind: 'held'; reason: string }> => {
    const hold = await tx.get<{ reason: string }>('SELECT reason FROM legal_hold WHERE account_id = ?', account);
    if (hold !== undefined) return { kind: 'held', reason: hold.reason };
    const { changes } = await tx.run(
      `UPDATE expunged SET at = 0 WHERE (mailbox_id, uid) IN (SELECT x.mailbox_id, x.uid FROM mailbox b
         CROSS JOIN expunged x ON x.mailbox_id = b.id WHERE b.account_id = ?1 AND x.at > 0
         AND (?2 IS NULL OR x.email_id IN (SELECT value FROM json_each(?2)))
         AND NOT EXISTS (SELECT 1 FROM entry n WHERE n.email_id = x.email_id) LIMIT 500)`,
      account,
      emails === null ? null : JSON.stringify(emails),
    );
    return { kind: 'expired', rows: changes, more: changes === 500 };
  },
);
