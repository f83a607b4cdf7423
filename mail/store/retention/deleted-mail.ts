import { command, lookup, query, type Read, type Stamp, type Write } from '../engine/types.ts';
import { overQuota, restoreToQuota } from '../mailbox/entry-commands.ts';
import { DELETED, kwList } from '../mailbox/flags.ts';
import { addMailbox, idOfChild, mailboxPath } from '../mailbox/mailbox.ts';
import { type EntryRow, placeEntry, takeEntries } from '../message/entry.ts';
import { recordHidden, snapshotThreads, updateThreads } from '../message/visibility.ts';

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
}

/** Position in the list of deleted messages: many of them have one time. */
export interface DeletedPosition {
  /** ms UTC. */
  at: number;
  email: number;
}

/** Versions of drafts that a later one replaced are left out, unless `drafts` is true. */
interface DeletedFilter {
  account: number;
  /** ms UTC, at least 1. */
  since: number;
  drafts: boolean;
}

// The messages of a large mailbox that was deleted are in it until they are purged in slices.
const DELETED_EMAILS = `(SELECT l.email_id, max(l.at) AS at FROM (
    SELECT x.email_id, x.at FROM mailbox b CROSS JOIN expunged x ON x.mailbox_id = b.id
    WHERE b.account_id = ?1 AND x.at >= ?2
    UNION ALL SELECT n.email_id, b.deleted_at AS at FROM mailbox b CROSS JOIN entry n ON n.mailbox_id = b.id
    WHERE b.account_id = ?1 AND b.deleted_at >= ?2) l GROUP BY l.email_id) g
  CROSS JOIN email e ON e.id = g.email_id CROSS JOIN email_meta m ON m.email_id = e.id`;

const IS_IN_NO_MAILBOX = `NOT EXISTS (SELECT 1 FROM entry n INDEXED BY entry_email CROSS JOIN mailbox l ON l.id = n.mailbox_id
  WHERE n.email_id = e.id AND l.deleted_at IS NULL)`;

// Programs save a draft by storing a new message and deleting the old one. Some give it another Message-ID: the new one
// came within ten seconds with a longer or shorter subject, or within ten minutes in the same thread or with the same
// subject and recipients.
const IS_NEXT_VERSION = `y.mailbox_id = x.mailbox_id AND y.uid > x.uid AND y.uid <= x.uid + 20 AND y.flags & 8 <> 0
  AND abs(v.received_at - x.at) <= 600000 AND (v.thread_id = e.thread_id
    OR (v.subj <> '' AND v.subj = e.subj AND v.to_k = e.to_k)
    OR (abs(v.received_at - x.at) <= 10000
      AND (substr(v.subj, 1, length(e.subj)) = e.subj OR substr(e.subj, 1, length(v.subj)) = v.subj)))`;

// A draft that was sent has a later message with its Message-ID.
const IS_REPLACED_DRAFT = `EXISTS (SELECT 1 FROM expunged x INDEXED BY expunged_email
  WHERE x.email_id = e.id AND x.flags & 8 <> 0 AND (
    EXISTS (SELECT 1 FROM entry y CROSS JOIN email v ON v.id = y.email_id WHERE ${IS_NEXT_VERSION})
    OR EXISTS (SELECT 1 FROM expunged y CROSS JOIN email v ON v.id = y.email_id WHERE ${IS_NEXT_VERSION})
    OR EXISTS (SELECT 1 FROM email v CROSS JOIN email_meta w ON w.email_id = v.id WHERE v.thread_id = e.thread_id
      AND v.id > e.id AND length(m.refs) >= 8 AND substr(w.refs, 1, 8) = substr(m.refs, 1, 8))))`;

/** Deleted messages of an account, those deleted last first. */
export const listDeletedMessages = query(
  'list-deleted-messages',
  async (
    rx,
    { account, since, drafts, before, limit }: DeletedFilter & { before: DeletedPosition | null; limit: number },
  ): Promise<(DeletedMessage & { folder: string })[]> => {
    const rows = await rx.all<DeletedMessage>(
      `SELECT e.id, m.subject, m.envelope, e.size, e.received_at AS receivedAt, g.at AS deletedAt FROM ${DELETED_EMAILS}
       WHERE (g.at < ?3 OR (g.at = ?3 AND e.id < ?4)) AND ${IS_IN_NO_MAILBOX} AND (?5 = 1 OR NOT ${IS_REPLACED_DRAFT})
       ORDER BY g.at DESC, e.id DESC LIMIT ?6 + 0`,
      account,
      since,
      before?.at ?? Number.MAX_SAFE_INTEGER,
      before?.email ?? 0,
      drafts ? 1 : 0,
      limit,
    );
    const listed: (DeletedMessage & { folder: string })[] = [];
    for (const row of rows) {
      const place = await formerPlace(rx, account, row.id);
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
    `SELECT p.mailbox_id AS mailbox, iif(b.deleted_at IS NULL, NULL, ifnull(d.path, 'INBOX')) AS gone, b.role, p.flags, p.kw
     FROM (SELECT x.mailbox_id, x.flags, x.kw, x.at, x.modseq FROM expunged x INDEXED BY expunged_email
         WHERE x.email_id = ?1
       UNION ALL SELECT n.mailbox_id, n.flags, n.kw, l.deleted_at AS at, l.modseq
         FROM entry n INDEXED BY entry_email CROSS JOIN mailbox l ON l.id = n.mailbox_id
         WHERE n.email_id = ?1 AND l.deleted_at IS NOT NULL) p
       CROSS JOIN mailbox b ON b.id = p.mailbox_id LEFT JOIN deleted_mailbox d ON d.mailbox_id = b.id
     WHERE b.account_id = ?2 ORDER BY b.role IS 'trash', p.at DESC, p.modseq DESC LIMIT 1`,
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
        `SELECT e.thread_id, e.size, e.received_at FROM email e WHERE e.id = ? AND e.account_id = ?
           AND ${IS_IN_NO_MAILBOX}`,
        email,
        account,
      );
      const place = row && (await formerPlace(tx, account, email));
      if (row === undefined || place === undefined) done.missing.push(email);
      else if (await exceedsQuota(tx, account, email, row.size)) done.overQuota = true;
      else done.restored.push({ id: email, folder: await restoreOne(tx, account, email, row, place, stamp) });
    }
    return done;
  },
);

/** Messages of a deleted mailbox count in the quota until they are purged from it. */
async function exceedsQuota(tx: Write, account: number, email: number, size: number): Promise<boolean> {
  const counted = await tx.get('SELECT 1 AS yes FROM entry WHERE email_id = ? LIMIT 1', email);
  return counted === undefined && (await overQuota(tx, account, size));
}

/** Takes a message out of the large mailboxes that were deleted with it, as the purge would. */
async function leaveDeletedMailboxes(tx: Write, account: number, email: number, stamp: Stamp): Promise<void> {
  const rows = await tx.all<EntryRow & { mailbox_id: number }>(
    `SELECT mailbox_id, uid, email_id, flags, kw, modseq, received_at, thread_id, size FROM entry INDEXED BY entry_email
     WHERE email_id = ?`,
    email,
  );
  for (const { mailbox_id: mailbox, ...row } of rows) {
    await recordHidden(tx, mailbox, [email]);
    await takeEntries(tx, account, mailbox, [row], stamp);
  }
}

async function restoreOne(
  tx: Write,
  account: number,
  email: number,
  row: { thread_id: number; size: number; received_at: number },
  place: FormerPlace & { path: string },
  stamp: Stamp,
): Promise<string> {
  const before = await snapshotThreads(tx, [row.thread_id]);
  await leaveDeletedMailboxes(tx, account, email, stamp);
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
  async (rx, { account, since, drafts }: DeletedFilter): Promise<number[]> => {
    const rows = await rx.all<{ id: number }>(
      `SELECT e.id FROM ${DELETED_EMAILS} WHERE ${IS_IN_NO_MAILBOX} AND (?3 = 1 OR NOT ${IS_REPLACED_DRAFT})
       ORDER BY g.at, e.id LIMIT ?4 + 0`,
      account,
      since,
      drafts ? 1 : 0,
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
