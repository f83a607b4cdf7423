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
  return (await placeInThread(rx, account, email))?.thread;
}

/** The same with the time at which it was received, ms UTC; it may be shown nowhere. */
export function placeInThread(
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

/** A draft that nobody has touched for so long is no answer that somebody is writing. */
const DRAFT_STANDS_MS = 30 * 24 * 3_600_000;

/** What is known of a conversation when it is asked whether a person is at work in it. Times in ms UTC. */
export interface Scene {
  members: readonly Member[];
  /** Emails that are nobody's answer: what is answered itself, in each of its copies, and a draft that is about to leave. */
  besides: ReadonlySet<number>;
  /** An agent answered in it since the message came, be a copy kept or not. */
  agentAnswered: boolean;
  now: number;
}

/**
 * What a person did about a message of the thread from a time on: began an answer, or gave one. An answer that is kept
 * nowhere shows by \Answered, where no agent answered either.
 */
export function personAtWork(
  { members, besides, agentAnswered, now }: Scene,
  message: number,
  since: number,
): 'answered' | 'drafted' | undefined {
  const others = members.filter(({ email }) => !besides.has(email));
  const later = others.filter(({ at }) => at >= since);
  const persons = later.filter(({ by }) => by === null);
  if (persons.some(isSent)) return 'answered';
  const marked = members.some(({ email, flags }) => email === message && (flags & ANSWERED) !== 0);
  // The mark may be of an answer that an agent gave before that time.
  const came = members.find(({ email }) => email === message)?.at ?? since;
  const byAgent = others.some((one) => one.by !== null && one.at >= came && isSent(one));
  if (marked && !agentAnswered && !byAgent) return 'answered';
  return persons.some((one) => isDraft(one) && one.at > now - DRAFT_STANDS_MS) ? 'drafted' : undefined;
}

/**
 * The copies of one message in its thread: who writes to the own mailbox has it in the inbox and in Sent, and has not
 * answered himself.
 */
export async function copiesOf(
  rx: Read,
  account: number,
  { thread, email }: { thread: number; email: number },
): Promise<number[]> {
  const rows = await rx.all<{ email: number }>(
    `SELECT e.id AS email FROM email e JOIN email_meta m ON m.email_id = e.id
     WHERE e.thread_id = ?1 AND +e.account_id = ?2 AND substr(m.refs, 1, 8) <> ?4
       AND substr(m.refs, 1, 8) = (SELECT substr(refs, 1, 8) FROM email_meta WHERE email_id = ?3)`,
    thread,
    account,
    email,
    NO_MESSAGE_ID,
  );
  return rows.map((row) => row.email);
}

/** What stands for the own id of a message without one. */
const NO_MESSAGE_ID = new Uint8Array(8);
