import { conversationOf, type Member, newestToAnswer, threadOfEmail } from './conversation.ts';
import { query, type Read } from './engine/types.ts';
import { kwList, slotNamed } from './flags.ts';

/** By these keywords people see in their mail program that an agent is at work, and that it has done its work. */
export const CLAIMED = '$claimed';
export const DONE = '$done';

/** An agent's right to answer a conversation, while it stands. */
export interface Claim {
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

/** Why an agent has to leave a conversation, or a message of it, alone. */
export type Hindered =
  /** Another one has it. */
  | { kind: 'claimed'; holder: string; until: number }
  /** Somebody has finished with the message. */
  | { kind: 'done' }
  /** A person has begun an answer, or has given one. */
  | { kind: 'drafted' }
  | { kind: 'answered' };

/** A conversation, named by itself or by one of its messages. */
export type Named = { thread: number } | { email: number };

/** The claim of a conversation, be its time over or not. */
export async function claimOf(rx: Read, account: number, thread: number): Promise<Claim | undefined> {
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

/** Whether somebody has finished with an email; it may stand in several mailboxes. */
export async function isDone(
  rx: Read,
  account: number,
  { members, email }: { members: readonly Member[]; email: number },
): Promise<boolean> {
  const slot = await slotNamed(rx, account, DONE);
  const carries = ({ flags, kw }: Member): boolean =>
    slot === undefined ? kwList(kw).includes(DONE) : (flags & (1 << slot)) !== 0;
  return members.some((one) => one.email === email && carries(one));
}

/** A conversation with the message of it that is meant; undefined: there is none. */
export async function namedIn(
  rx: Read,
  account: number,
  named: Named,
): Promise<{ thread: number; members: Member[]; message: Member } | undefined> {
  const thread = 'thread' in named ? named.thread : await threadOfEmail(rx, account, named.email);
  if (thread === undefined) return undefined;
  const members = await conversationOf(rx, account, thread);
  const message = 'thread' in named ? newestToAnswer(members) : members.find(({ email }) => email === named.email);
  return message === undefined ? undefined : { thread, members, message };
}

/** Claims of these threads, for lists. */
export const claimsOf = query(
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

/** When the next claim ends, ms UTC. */
export const nextClaimEnd = query('next-claim-end', async (rx): Promise<number | undefined> => {
  const row = await rx.get<{ until: number | null }>('SELECT min(until) AS until FROM claim');
  return row?.until ?? undefined;
});
