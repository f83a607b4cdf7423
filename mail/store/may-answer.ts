import { answersIn } from './agent-send.ts';
import { type Claim, claimOf, type Hindered, isDone } from './claim.ts';
import { conversationOf, copiesOf, type Member, personAtWork, placeInThread } from './conversation.ts';
import type { Read } from './engine/types.ts';

/** Who asks to answer which message, and when (ms UTC). */
export interface Asking {
  account: number;
  email: number;
  credential: string;
  /** What these have claimed is the asker's own. */
  from?: readonly string[];
  /** Row of the draft that is to leave: whoever began it, it is no other answer. */
  draft?: number | null;
  now: number;
}

export type Answerable = { kind: 'free' } | { kind: 'yours'; until: number } | Hindered;

/**
 * Whether an agent may answer a message now: nobody else has claimed its conversation, nobody has finished with it, and no
 * person has begun or given an answer since it came; where the agent has a claim, neither since then. Asked in the commit
 * that sends. A claim is not needed, and one whose time is over protects nobody from two answers: the message decides.
 */
export async function mayAnswer(rx: Read, asking: Asking): Promise<Answerable> {
  const { account, email, credential, from = [], draft = null, now } = asking;
  const place = await placeInThread(rx, account, email);
  if (place === undefined) return { kind: 'free' };
  const { thread, at: since } = place;
  const claim = await standingClaim(rx, { account, thread, now });
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

async function standingClaim(
  rx: Read,
  { account, thread, now }: { account: number; thread: number; now: number },
): Promise<Claim | undefined> {
  const claim = await claimOf(rx, account, thread);
  return claim !== undefined && claim.until > now ? claim : undefined;
}

/** A conversation in which somebody asks to answer. */
export interface Conversation {
  account: number;
  thread: number;
  members: readonly Member[];
  draft: number | null;
  now: number;
}

/** What a person did about a message of a conversation since a time (ms UTC). */
export async function personSince(
  rx: Read,
  { account, thread, members, draft, now }: Conversation,
  { email, since }: { email: number; since: number },
): Promise<'answered' | 'drafted' | undefined> {
  const copies = await copiesOf(rx, account, { thread, email });
  const besides = new Set([email, ...copies, ...(draft === null ? [] : [draft])]);
  // One that was sent in the same millisecond came after what it answers all the same.
  const came = Math.min(since, members.find((one) => one.email === email)?.at ?? since);
  const agentAnswered = (await answersIn(rx, { account, thread, since: came - 1 })) > 0;
  return personAtWork({ members, besides, agentAnswered, now }, email, since);
}

/** Mail programs say to the second when something was sent. */
const SECOND_MS = 1000;

/** What a person did since a claim. */
export function sinceClaim(
  rx: Read,
  about: Conversation,
  { email, claimedAt }: Claim,
): Promise<'answered' | 'drafted' | undefined> {
  return personSince(rx, about, { email, since: claimedAt - SECOND_MS });
}
