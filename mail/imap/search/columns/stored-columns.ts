import type { Read } from '../../../store/engine/types.ts';
import type { BaseRow, ColumnSource, HeaderRow, KeyRow, ThreadingRow } from './column-source.ts';

interface StoredMailbox {
  account: number;
  mailbox: number;
}

const BEHIND = 'WHERE n.mailbox_id = ? AND n.uid > ? AND e.account_id = ? ORDER BY n.uid LIMIT ?';

const BASE = `SELECT n.uid, n.size, n.received_at AS receivedAt, e.sent_at AS sentAt, e.sent_day AS sentDay
  FROM entry n JOIN email e ON e.id = n.email_id ${BEHIND}`;

const KEYS = `SELECT n.uid, CASE ? WHEN 'subj' THEN e.subj WHEN 'from_k' THEN e.from_k WHEN 'to_k' THEN e.to_k
    WHEN 'cc_k' THEN e.cc_k WHEN 'from_d' THEN e.from_d ELSE e.to_d END AS key
  FROM entry n JOIN email e ON e.id = n.email_id ${BEHIND}`;

const THREADING = `SELECT n.uid, m.refs, m.subject, e.subj AS baseSubject, m.envelope
  FROM entry n JOIN email e ON e.id = n.email_id JOIN email_meta m ON m.email_id = n.email_id ${BEHIND}`;

/** The columns of a mailbox of the store. */
export function storedColumns(
  rx: Read,
  { account, mailbox }: StoredMailbox,
  headers: (uids: readonly number[]) => Promise<HeaderRow[]>,
): ColumnSource {
  return {
    base: (after, limit) => rx.all<BaseRow & Record<string, number>>(BASE, mailbox, after, account, limit),
    keys: (column, after, limit) =>
      rx.all<KeyRow & Record<string, number | string>>(KEYS, column, mailbox, after, account, limit),
    threading: (after, limit) =>
      rx.all<ThreadingRow & Record<string, number | string | Uint8Array>>(THREADING, mailbox, after, account, limit),
    headers,
    pause: () => rx.pause?.(),
  };
}
