import { query, type Read } from '../engine/types.ts';
import { ANSWERED, DRAFT } from '../mailbox/flags.ts';
import { IN_THREAD_1 } from './in-thread.ts';

/** A message of a thread in one visible mailbox. */
export interface ConversationMessage extends Record<string, number | string | null> {
  email: number;
  mailbox: number;
  uid: number;
  role: string | null;
  flags: number;
  kw: string | null;
  /** Time of receipt or of storing, ms UTC. */
  at: number;
  /** The agent that created it. */
  by: string | null;
}

/** The thread of an email of an account. */
export async function threadOfEmail(rx: Read, account: number, email: number): Promise<number | undefined> {
  return (await threadPosition(rx, account, email))?.thread;
}

/** Thread and time of receipt, ms UTC, of an email, also of a hidden one. */
export function threadPosition(
  rx: Read,
  account: number,
  email: number,
): Promise<{ thread: number; at: number } | undefined> {
  return rx.get<{ thread: number; at: number }>(
    'SELECT thread_id AS thread, received_at AS at FROM email WHERE id = ? AND account_id = ?',
    email,
    account,
  );
}

/** {@link threadOfEmail} as a query. */
export const threadOf = query('thread-of', (rx, { account, email }: { account: number; email: number }) =>
  threadOfEmail(rx, account, email),
);

/** Visible messages of a thread outside of the trash, oldest first. */
export function conversationOf(rx: Read, account: number, thread: number): Promise<ConversationMessage[]> {
  return rx.all<ConversationMessage>(
    `SELECT e.id AS email, n.mailbox_id AS mailbox, n.uid, m.role, n.flags, n.kw, e.received_at AS at, e.created_by AS "by"
     FROM email e CROSS JOIN entry n INDEXED BY entry_email ON n.email_id = e.id CROSS JOIN mailbox m ON m.id = n.mailbox_id
     WHERE ${IN_THREAD_1} AND +e.account_id = ?2 AND n.flags & 16 = 0 AND m.deleted_at IS NULL AND m.role IS NOT 'trash'
     ORDER BY e.received_at, e.id`,
    thread,
    account,
  );
}

const isDraft = ({ flags, role }: ConversationMessage): boolean => (flags & DRAFT) !== 0 || role === 'drafts';
const isSent = (one: ConversationMessage): boolean => one.role === 'sent' && !isDraft(one);

/** The newest message of another author, else the newest. */
export function newestToReply(members: readonly ConversationMessage[]): ConversationMessage | undefined {
  return members.findLast((one) => one.by === null && !isDraft(one) && !isSent(one)) ?? members.at(-1);
}

/** Age after which an unchanged draft no longer counts as a reply in progress. */
const DRAFT_ACTIVE_MS = 30 * 24 * 3_600_000;

/** State of a conversation for {@link findHumanReply}. Times in ms UTC. */
export interface ConversationState {
  members: readonly ConversationMessage[];
  /** Emails that are no reply: the answered message with its copies, and a draft that is being sent. */
  besides: ReadonlySet<number>;
  /** An agent replied since the message arrived, with or without a stored copy. */
  agentAnswered: boolean;
  now: number;
}

/**
 * Finds a person's reply or draft to a message since a time. A reply without a stored copy shows by \Answered, if no
 * agent replied either.
 */
export function findHumanReply(
  { members, besides, agentAnswered, now }: ConversationState,
  message: number,
  since: number,
): 'answered' | 'drafted' | undefined {
  const others = members.filter(({ email }) => !besides.has(email));
  const later = others.filter(({ at }) => at >= since);
  const persons = later.filter(({ by }) => by === null);
  if (persons.some(isSent)) return 'answered';
  const marked = members.some(({ email, flags }) => email === message && (flags & ANSWERED) !== 0);
  // The mark may come from an agent's reply before that time.
  const came = members.find(({ email }) => email === message)?.at ?? since;
  const byAgent = others.some((one) => one.by !== null && one.at >= came && isSent(one));
  if (marked && !agentAnswered && !byAgent) return 'answered';
  return persons.some((one) => isDraft(one) && one.at > now - DRAFT_ACTIVE_MS) ? 'drafted' : undefined;
}

/** Copies of one message in its thread: mail to the own mailbox is in the inbox and in Sent, and is no reply. */
export async function copiesOf(
  rx: Read,
  account: number,
  { thread, email }: { thread: number; email: number },
): Promise<number[]> {
  const rows = await rx.all<{ email: number }>(
    `SELECT e.id AS email FROM email e JOIN email_meta m ON m.email_id = e.id
     WHERE ${IN_THREAD_1} AND +e.account_id = ?2 AND substr(m.refs, 1, 8) <> ?4
       AND substr(m.refs, 1, 8) = (SELECT substr(refs, 1, 8) FROM email_meta WHERE email_id = ?3)`,
    thread,
    account,
    email,
    NO_MESSAGE_ID,
  );
  return rows.map((row) => row.email);
}

/** Hash of a missing Message-ID. */
const NO_MESSAGE_ID = new Uint8Array(8);
