import { answersIn } from '../gate/send-log.ts';
import { type ConversationClaim, claimOf, type AnswerHindrance, isDone } from './claim.ts';
import {
  conversationOf,
  copiesOf,
  type ConversationMessage,
  findHumanReply,
  threadPosition,
} from '../../store/message/conversation.ts';
import type { Read } from '../../store/engine/types.ts';

/** An agent's request to answer a message at a time (ms UTC). */
export interface AnswerRequest {
  account: number;
  email: number;
  credential: string;
  /** Credentials whose claims count as the agent's own. */
  from?: readonly string[];
  /** Row of the draft that is about to be sent: it is no other answer, whoever began it. */
  draft?: number | null;
  now: number;
}

export type Answerable = { kind: 'free' } | { kind: 'yours'; until: number } | AnswerHindrance;

/**
 * Decides if an agent may answer a message: no other agent has claimed the conversation, the message is not done, and no
 * person has begun or sent an answer since it came, nor since the agent's claim. Runs in the commit that sends. A claim is
 * optional; an expired claim does not allow a second answer, as the message decides.
 */
export async function mayAnswer(rx: Read, request: AnswerRequest): Promise<Answerable> {
  const { account, email, credential, from = [], draft = null, now } = request;
  const position = await threadPosition(rx, account, email);
  if (position === undefined) return { kind: 'free' };
  const { thread, at: since } = position;
  const claim = await activeClaim(rx, { account, thread, now });
  if (claim !== undefined && claim.holder !== credential && !from.includes(claim.holder)) {
    return { kind: 'claimed', holder: claim.holder, until: claim.until };
  }
  const members = await conversationOf(rx, account, thread);
  if (await isDone(rx, account, { members, email })) return { kind: 'done' };
  const about = { account, thread, members, draft, now };
  const person = (await personSince(rx, about, { email, since })) ?? (claim && (await sinceClaim(rx, about, claim)));
  if (person !== undefined) return { kind: person };
  return claim === undefined ? { kind: 'free' } : { kind: 'yours', until: claim.until };
}

async function activeClaim(
  rx: Read,
  { account, thread, now }: { account: number; thread: number; now: number },
): Promise<ConversationClaim | undefined> {
  const claim = await claimOf(rx, account, thread);
  return claim !== undefined && claim.until > now ? claim : undefined;
}

/** A conversation that is to be answered. */
export interface Conversation {
  account: number;
  thread: number;
  members: readonly ConversationMessage[];
  draft: number | null;
  now: number;
}

/** Finds a person's draft or answer to a message of a conversation since a time (ms UTC). */
export async function personSince(
  rx: Read,
  { account, thread, members, draft, now }: Conversation,
  { email, since }: { email: number; since: number },
): Promise<'answered' | 'drafted' | undefined> {
  const copies = await copiesOf(rx, account, { thread, email });
  const besides = new Set([email, ...copies, ...(draft === null ? [] : [draft])]);
  // An answer in the same millisecond came after the message all the same.
  const came = Math.min(since, members.find((one) => one.email === email)?.at ?? since);
  const agentAnswered = (await answersIn(rx, { account, thread, since: came - 1 })) > 0;
  return findHumanReply({ members, besides, agentAnswered, now }, email, since);
}

/** Resolution of the Date field. */
const SECOND_MS = 1000;

/** Finds a person's draft or answer since a claim. */
export function sinceClaim(
  rx: Read,
  about: Conversation,
  { email, claimedAt }: ConversationClaim,
): Promise<'answered' | 'drafted' | undefined> {
  return personSince(rx, about, { email, since: claimedAt - SECOND_MS });
}
