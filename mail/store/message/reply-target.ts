import { hashId, ownId } from '../../message/msg-id.ts';
import { IS_VISIBLE } from './email-changes.ts';
import { lookup, query } from '../engine/types.ts';
import { subjectHash } from './message.ts';
import { IN_THREAD, IN_THREAD_1 } from './in-thread.ts';

/** Header location of a message to reply to. */
export interface ReplyTarget {
  email: number;
  blob: number;
  headerLength: number;
}

/** A draft was not sent, so nobody can reply to it. The 8 is DRAFT. */
const IS_NO_DRAFT = 'NOT EXISTS (SELECT 1 FROM entry d WHERE d.email_id = e.id AND d.flags & 8 <> 0)';
const IS_SENT = `${IS_VISIBLE} AND ${IS_NO_DRAFT}`;

/**
 * The newest visible messages of a thread of an account, or the given message, newest first. Empty for another account,
 * unknown or expunged ones.
 */
export const replyTargets = lookup(
  'answerables',
  (rx, { account, thread, email }: { account: number; thread?: number; email?: number }): Promise<ReplyTarget[]> =>
    rx.all<ReplyTarget & Record<string, number>>(
      `SELECT e.id AS email, e.blob_id AS blob, m.header_length AS headerLength FROM email e JOIN email_meta m ON m.email_id = e.id
       WHERE (${IN_THREAD_1} OR e.id = ?2) AND +e.account_id = ?3 AND ${IS_SENT}
       ORDER BY e.received_at DESC, e.id DESC LIMIT 5`,
      thread ?? 0,
      email ?? 0,
      account,
    ),
);

/** The visible thread of an account with this Message-ID under this base subject. */
export const threadOfMessage = lookup(
  'thread-of-message',
  async (
    rx,
    { account, messageId, subject }: { account: number; messageId: string; subject: string },
  ): Promise<number | undefined> => {
    const row = await rx.get<{ thread: number }>(
      `SELECT t.value AS thread FROM (SELECT thread_id AS value FROM msgid WHERE account_id = ? AND h = ? AND subj_h = ?) t
       WHERE EXISTS (SELECT 1 FROM email e WHERE ${IN_THREAD} AND ${IS_VISIBLE})`,
      account,
      hashId(ownId(messageId)),
      subjectHash(subject),
    );
    return row?.thread;
  },
);

/**
 * The message of an account with the first known of these Message-IDs (without brackets): never a draft, and the oldest
 * of several, since later ones copied its id. `shown`: visible messages only.
 */
export const findRepliedEmail = query(
  'answered-email',
  async (
    rx,
    { account, ids, shown = false }: { account: number; ids: readonly string[]; shown?: boolean },
  ): Promise<number | undefined> => {
    for (const id of ids) {
      const h = hashId(id);
      const row = await rx.get<{ id: number }>(
        `SELECT e.id FROM (SELECT thread_id AS value FROM msgid WHERE account_id = ?1 AND h = ?2) t
           CROSS JOIN email e ON ${IN_THREAD} JOIN email_meta m ON m.email_id = e.id
         WHERE +e.account_id = ?1 AND substr(m.refs, 1, 8) = ?3
           AND ${IS_NO_DRAFT}
           AND (?4 = 0 OR ${IS_VISIBLE})
         ORDER BY e.id LIMIT 1`,
        account,
        h,
        new Uint8Array(BigInt64Array.of(h).buffer),
        Number(shown),
      );
      if (row !== undefined) return row.id;
    }
    return undefined;
  },
);
