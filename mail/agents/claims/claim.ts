import {
  conversationOf,
  type ConversationMessage,
  newestToReply,
  threadOfEmail,
} from '../../store/message/conversation.ts';
import { lookup, type Read } from '../../store/engine/types.ts';
import { kwList, keywordSlot } from '../../store/mailbox/flags.ts';

/** Keywords that mail programs show: an agent works on the message, or has finished. */
export const CLAIMED = '$claimed';
export const DONE = '$done';

/** An agent's right to answer a conversation, until it expires. */
export interface ConversationClaim {
  account: number;
  thread: number;
  /** The message that carries the keywords. */
  email: number;
  holder: string;
  /** The keyword that names the holder. */
  keyword: string;
  claimedAt: number;
  /** ms UTC. */
  until: number;
}

/** Why an agent must not answer a conversation, or a message of it. */
export type AnswerHindrance =
  /** Claimed by another agent. */
  | { kind: 'claimed'; holder: string; until: number }
  /** The message is marked as done. */
  | { kind: 'done' }
  /** A person has begun or sent an answer. */
  | { kind: 'drafted' }
  | { kind: 'answered' };

/** Names a conversation by its thread or by one of its messages. */
export type ConversationRef = { thread: number } | { email: number };

/** Claim of a conversation, expired or not. */
export async function claimOf(rx: Read, account: number, thread: number): Promise<ConversationClaim | undefined> {
  const row = await rx.get<{
    email_id: number;
    holder: string;
    keyword: string;
    claimed_at: number;
    until: number;
  }>('SELECT * FROM claim WHERE account_id = ? AND thread_id = ?', account, thread);
  if (row === undefined) return undefined;
  const { email_id: email, holder, keyword, claimed_at: claimedAt, until } = row;
  return { account, thread, email, holder, keyword, claimedAt, until };
}

/** Tests if an email is marked as done in any of its mailboxes. */
export async function isDone(
  rx: Read,
  account: number,
  { members, email }: { members: readonly ConversationMessage[]; email: number },
): Promise<boolean> {
  const slot = await keywordSlot(rx, account, DONE);
  const carries = ({ flags, kw }: ConversationMessage): boolean =>
    slot === undefined ? kwList(kw).includes(DONE) : (flags & (1 << slot)) !== 0;
  return members.some((one) => one.email === email && carries(one));
}

/** Conversation with the message that is meant; undefined if there is none. */
export async function findConversation(
  rx: Read,
  account: number,
  named: ConversationRef,
): Promise<{ thread: number; members: ConversationMessage[]; message: ConversationMessage } | undefined> {
  const thread = 'thread' in named ? named.thread : await threadOfEmail(rx, account, named.email);
  if (thread === undefined) return undefined;
  const members = await conversationOf(rx, account, thread);
  const message = 'thread' in named ? newestToReply(members) : members.find(({ email }) => email === named.email);
  return message === undefined ? undefined : { thread, members, message };
}

/** Claims of threads, for lists. */
export const claimsOf = lookup(
  'claims-of',
  (
    rx,
    { account, threads }: { account: number; threads: readonly number[] },
  ): Promise<{ thread: number; holder: string; until: number }[]> =>
    rx.all<{ thread: number; holder: string; until: number }>(
      `SELECT thread_id AS thread, holder, until FROM claim
       WHERE account_id = ? AND thread_id IN (SELECT value FROM json_each(?))`,
      account,
      JSON.stringify(threads),
    ),
);

/** Expiry of the next claim, ms UTC. */
export const nextClaimEnd = lookup('next-claim-end', async (rx): Promise<number | undefined> => {
  const row = await rx.get<{ until: number | null }>('SELECT min(until) AS until FROM claim');
  return row?.until ?? undefined;
});
