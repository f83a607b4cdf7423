import type { Read, Row } from '../engine/types.ts';
import type { BlobProblem } from './blob-check.ts';

/** A damaged message, as its owner knows it. */
export interface DamagedMessage {
  blob: number;
  problem: BlobProblem;
  /** Mailbox address. */
  address: string;
  /** Path of the folder; '' if it is in none. */
  folder: string;
  uid: number;
  subject: string;
  receivedAt: number;
}

/** Statement for the messages that have a blob: `?` is its id. */
const MESSAGES_OF_BLOB = `SELECT a.address, coalesce(n.mailbox_id, 0) AS mailbox, coalesce(n.uid, 0) AS uid,
    coalesce(m.subject, '') AS subject, e.received_at AS receivedAt
  FROM email e JOIN account a ON a.id = e.account_id LEFT JOIN entry n ON n.email_id = e.id
    LEFT JOIN email_meta m ON m.email_id = e.id WHERE e.blob_id = ? LIMIT 100`;

/** Statement for the path of a folder, from the top: `?` is its id. */
export const FOLDER_PATH = `WITH RECURSIVE above (id, parent_id, name, depth) AS (
    SELECT id, parent_id, name, 0 FROM mailbox WHERE id = ?
    UNION ALL SELECT b.id, b.parent_id, b.name, depth + 1 FROM above JOIN mailbox b ON b.id = above.parent_id WHERE depth < 30)
  SELECT name FROM above ORDER BY depth DESC`;

interface MessageRow extends Row {
  address: string;
  mailbox: number;
  uid: number;
  subject: string;
  receivedAt: number;
}

/** Messages that a damaged blob belongs to, as their owners know them. */
export async function damagedMessages(
  rx: Pick<Read, 'all'>,
  blob: number,
  problem: BlobProblem,
): Promise<DamagedMessage[]> {
  const found: DamagedMessage[] = [];
  for (const { mailbox, ...message } of await rx.all<MessageRow>(MESSAGES_OF_BLOB, blob)) {
    const path = await rx.all<{ name: string }>(FOLDER_PATH, mailbox);
    found.push({ blob, problem, ...message, folder: path.map(({ name }) => name).join('/') });
  }
  return found;
}
