import { query, type Read } from './engine/types.ts';
import { ANSWERED, DRAFT } from './flags.ts';

/** A message of a thread in one of the mailboxes that show it. */
export interface Member extends Record<string, number | string | null> {
  email: number;
  mailbox: number;
  uid: number;
  role: string | null;
  flags: number;
  kw: string | null;
  /** When it was received or put there, ms UTC. */
  at: number;
  /** The agent that wrote it. */
  by: string | null;
}

/** The thread of an email of an account. */
export async function threadOfEmail(rx: Read, account: number, email: number): Promise<number | undefined> {
  const row = await rx.get<{ thread: number }>(
    'SELECT thread_id AS thread FROM email WHERE id = ? AND account_id = ?',
    email,
    account,
  );
  return row?.thread;
}

/** The same for doors. */
export const threadOf = query('thread-of', (rx, { account, email }: { account: number; email: number }) =>
  threadOfEmail(rx, account, email),
);

/** What is shown of a thread outside of the trash, oldest first. */
export function conversationOf(rx: Read, account: number, thread: number): Promise<Member[]> {
  return rx.all<Member>(
    `SELECT e.id AS email, n.mailbox_id AS mailbox, n.uid, m.role, n.flags, n.kw, e.received_at AS at, e.made_by AS "by"
     FROM email e CROSS JOIN entry n INDEXED BY entry_email ON n.email_id = e.id CROSS JOIN mailbox m ON m.id = n.mailbox_id
     WHERE e.thread_id = ? AND +e.account_id = ? AND n.flags & 16 = 0 AND m.gone_at IS NULL AND m.role IS NOT 'trash'
     ORDER BY e.received_at, e.id`,
    thread,
    account,
  );
}

const isDraft = ({ flags, role }: Member): boolean => (flags & DRAFT) !== 0 || role === 'drafts';
const isSent = (one: Member): boolean => one.role === 'sent' && !isDraft(one);

/** The newest message that somebody else wrote; where there is none, the newest. */
export function newestToAnswer(members: readonly Member[]): Member | undefined {
  return members.findLast((one) => one.by === null && !isDraft(one) && !isSent(one)) ?? members.at(-1);
}

/**
 * What a person did about a message of the thread from a time on: began an answer, or gave one. An answer that is kept
 * nowhere shows by \Answered, where no agent answered either.
 */
export function personAtWork(
  members: readonly Member[],
  message: number,
  since: number,
): 'answered' | 'drafted' | undefined {
  const later = members.filter(({ at }) => at >= since);
  const persons = later.filter(({ by }) => by === null);
  if (persons.some(isSent)) return 'answered';
  const marked = members.some(({ email, flags }) => email === message && (flags & ANSWERED) !== 0);
  if (marked && !later.some((one) => one.by !== null && isSent(one))) return 'answered';
  return persons.some(isDraft) ? 'drafted' : undefined;
}
