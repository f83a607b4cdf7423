import { hashId, ownId } from '../message/msg-id.ts';
import { IS_SHOWN } from './email-changes.ts';
import { query } from './engine/types.ts';
import { subjectHash } from './message.ts';

/** Where the header of a message is that an answer goes to. */
export interface Answerable {
  email: number;
  blob: number;
  headerLength: number;
}

/** A draft was sent to nobody, so nobody could follow an answer to it. The 8 is DRAFT. */
const IS_NO_DRAFT = 'NOT EXISTS (SELECT 1 FROM entry d WHERE d.email_id = e.id AND d.flags & 8 <> 0)';
const IS_SENT = `${IS_SHOWN} AND ${IS_NO_DRAFT}`;

/**
 * The newest messages of one thread of an account that it shows, or the one message that is named: newest first. Of
 * another account, unknown or expunged: none.
 */
export const answerables = query(
  'answerables',
  (rx, { account, thread, email }: { account: number; thread?: number; email?: number }): Promise<Answerable[]> =>
    rx.all<Answerable & Record<string, number>>(
      `SELECT e.id AS email, e.blob_id AS blob, m.header_length AS headerLength FROM email e JOIN email_meta m ON m.email_id = e.id
       WHERE (e.thread_id = ?1 OR e.id = ?2) AND +e.account_id = ?3 AND ${IS_SENT}
       ORDER BY e.received_at DESC, e.id DESC LIMIT 5`,
      thread ?? 0,
      email ?? 0,
      account,
    ),
);

/** The thread of an account in which the message with this id is, under this base subject, if it shows any of it. */
export const threadOfMessage = query(
  'thread-of-message',
  async (
    rx,
    { account, messageId, subject }: { account: number; messageId: string; subject: string },
  ): Promise<number | undefined> => {
    const row = await rx.get<{ thread: number }>(
      `SELECT i.thread_id AS thread FROM msgid i WHERE i.account_id = ? AND i.h = ? AND i.subj_h = ?
         AND EXISTS (SELECT 1 FROM email e WHERE e.thread_id = i.thread_id AND ${IS_SHOWN})`,
      account,
      hashId(ownId(messageId)),
      subjectHash(subject),
    );
    return row?.thread;
  },
);

/**
 * The message of an account that has the first of these Message-IDs that any has, ids without their brackets: never a
 * draft, and of several the first, whose id a later one only took. With `shown` only what the account still shows.
 */
export const answeredEmail = query(
  'answered-email',
  async (
    rx,
    { account, ids, shown = false }: { account: number; ids: readonly string[]; shown?: boolean },
  ): Promise<number | undefined> => {
    for (const id of ids) {
      const h = hashId(id);
      const row = await rx.get<{ id: number }>(
        `SELECT e.id FROM msgid i CROSS JOIN email e ON e.thread_id = i.thread_id JOIN email_meta m ON m.email_id = e.id
         WHERE i.account_id = ?1 AND i.h = ?2 AND +e.account_id = ?1 AND substr(m.refs, 1, 8) = ?3
           AND ${IS_NO_DRAFT}
           AND (?4 = 0 OR ${IS_SHOWN})
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
