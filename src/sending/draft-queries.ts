import { query, type Read } from '../../mail/store/engine/types.ts';

interface Form {
  id: number;
  thread: number;
  subject: string;
  to: string;
  refs: Uint8Array;
}

/** A program that edits a draft puts the new one there before or after the old one goes, within so much time. */
const WITHIN_MS = 10 * 60_000;
/** Drafts that are looked at, the newest. */
const MOST = 200;

/** Whether an email of an account is in its Drafts now. */
export async function isDraft(rx: Read, account: number | null, email: number): Promise<boolean> {
  const row = await rx.get(
    `SELECT 1 AS there FROM entry n JOIN mailbox m ON m.id = n.mailbox_id
     WHERE n.email_id = ? AND n.flags & 16 = 0 AND m.account_id = ? AND m.role = 'drafts' AND m.gone_at IS NULL`,
    email,
    account,
  );
  return row !== undefined;
}

/**
 * What a draft is now: the email itself, or the one that took its place; undefined: it was sent or removed, or was never
 * a draft. Messages never change, so whoever edits a draft puts another one there. Most programs keep its Message-ID or
 * what it answers, some keep neither: then subject and recipients have to do.
 */
export const draftForm = query(
  'draft-form',
  async (rx, { account, email }: { account: number; email: number }): Promise<number | undefined> => {
    if (await isDraft(rx, account, email)) return email;
    const old = await rx.get<Form & { at: number } & Record<string, number | string | Uint8Array>>(
      `SELECT e.id, e.thread_id AS thread, e.subj AS subject, e.to_k AS "to", m.refs, max(x.at) AS at
       FROM expunged x JOIN mailbox b ON b.id = x.mailbox_id JOIN email e ON e.id = x.email_id
         JOIN email_meta m ON m.email_id = e.id
       WHERE x.email_id = ? AND b.account_id = ? AND b.role = 'drafts' GROUP BY e.id`,
      email,
      account,
    );
    if (old === undefined) return undefined;
    const later = await rx.all<Form & Record<string, number | string | Uint8Array>>(
      `SELECT e.id, e.thread_id AS thread, e.subj AS subject, e.to_k AS "to", m.refs
       FROM mailbox b JOIN entry n ON n.mailbox_id = b.id JOIN email e ON e.id = n.email_id
         JOIN email_meta m ON m.email_id = e.id
       WHERE b.account_id = ?1 AND b.role = 'drafts' AND b.gone_at IS NULL AND n.flags & 16 = 0 AND e.id > ?2
         AND n.save_at >= ?3 ORDER BY n.uid DESC LIMIT ?4`,
      account,
      email,
      old.at - WITHIN_MS,
      MOST,
    );
    return KINSHIPS.map((isKin) => later.find((one) => isKin(one, old))).find((one) => one !== undefined)?.id;
  },
);

/** The surest first. */
const KINSHIPS: readonly ((one: Form, old: Form) => boolean)[] = [
  (one, old) => own(one) !== 0n && own(one) === own(old),
  (one, old) => one.thread === old.thread,
  (one, old) => one.subject !== '' && one.subject === old.subject && one.to === old.to,
];

/** The hash of its Message-ID; 0: it has none. */
function own({ refs }: Form): bigint {
  return refs.byteLength < 8 ? 0n : Buffer.from(refs).readBigInt64LE(0);
}
