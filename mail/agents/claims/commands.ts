import {
  type ConversationClaim,
  CLAIMED,
  claimOf,
  DONE,
  type AnswerHindrance,
  isDone,
  type ConversationRef,
  findConversation,
} from './claim.ts';
import type { ConversationMessage } from '../../store/message/conversation.ts';
import { command, type Read, type Stamp, type Write } from '../../store/engine/types.ts';
import { storeFlagsOnly } from '../../store/mailbox/entry-commands.ts';
import { type Conversation, personSince, sinceClaim } from './may-answer.ts';
import { snapshotThreads, updateThreads } from '../../store/message/visibility.ts';
import { visibleEntries } from '../../store/message/visible-entries.ts';

/** Claims of one agent in one account. */
export const MAX_CLAIMS = 100;
/** Claims that are freed in one command. */
const SLICE = 25;

/** Result of a claim. `too-many`: the agent has reached its limit. */
export type ClaimOutcome =
  | { kind: 'yours'; thread: number; email: number; until: number }
  | AnswerHindrance
  | { kind: 'too-many' | 'not-found' };

/**
 * Claims a conversation for one agent until a time (ms UTC), or prolongs its claim. Of two concurrent requests the second
 * finds the claim of the first. `keyword` names the agent.
 */
export const claimConversation = command(
  'claim-conversation',
  async (
    tx,
    input: { account: number; named: ConversationRef; holder: string; keyword: string; until: number },
    stamp,
  ): Promise<ClaimOutcome> => {
    const { account, holder, keyword, until } = input;
    const found = await findConversation(tx, account, input.named);
    if (found === undefined) return { kind: 'not-found' };
    const { thread, members, message } = found;
    const before = await claimOf(tx, account, thread);
    const about = { account, thread, members, draft: null, now: stamp.now };
    if (before !== undefined && before.until > stamp.now) return prolong(tx, before, input, about);
    const hindered = await hindrance(tx, input, about, message);
    if (hindered !== undefined) return hindered;
    if (before !== undefined) await deleteClaim(tx, before, []);
    const claim = { account, thread, email: message.email, holder, keyword, claimedAt: stamp.now, until };
    await startClaim(tx, claim);
    return { kind: 'yours', thread, email: message.email, until };
  },
);

/** Prolongs an active claim of the same holder; refuses others. */
async function prolong(
  tx: Write,
  claim: ConversationClaim,
  { holder, until }: { holder: string; until: number },
  about: Conversation,
): Promise<ClaimOutcome> {
  if (claim.holder !== holder) return { kind: 'claimed', holder: claim.holder, until: claim.until };
  const between = await sinceClaim(tx, about, claim);
  if (between !== undefined) return { kind: between };
  const { account, thread, email } = claim;
  await tx.run('UPDATE claim SET until = ? WHERE account_id = ? AND thread_id = ?', until, account, thread);
  return { kind: 'yours', thread, email, until };
}

async function hindrance(
  tx: Write,
  { account, holder }: { account: number; holder: string },
  about: Conversation,
  { email, at: since }: ConversationMessage,
): Promise<ClaimOutcome | undefined> {
  if (await isDone(tx, account, { ...about, email })) return { kind: 'done' };
  const person = await personSince(tx, about, { email, since });
  if (person !== undefined) return { kind: person };
  const held = await tx.get<{ n: number }>(
    'SELECT count(*) AS n FROM claim WHERE holder = ? AND account_id = ?',
    holder,
    account,
  );
  return (held?.n ?? 0) >= MAX_CLAIMS ? { kind: 'too-many' } : undefined;
}

async function startClaim(tx: Write, claim: ConversationClaim): Promise<void> {
  const { account, thread, email, holder, keyword, claimedAt, until } = claim;
  await tx.run(
    `INSERT INTO claim (account_id, thread_id, email_id, holder, keyword, claimed_at, until) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    account,
    thread,
    email,
    holder,
    keyword,
    claimedAt,
    until,
  );
  await changeKeywords(tx, claim, 'add', [CLAIMED, keyword]);
}

/** Deletes the claim and its keywords; `instead`: keywords to set in their place. */
async function deleteClaim(tx: Write, claim: ConversationClaim, instead: readonly string[]): Promise<void> {
  await tx.run('DELETE FROM claim WHERE account_id = ? AND thread_id = ?', claim.account, claim.thread);
  await changeKeywords(tx, claim, 'remove', [CLAIMED, claim.keyword]);
  if (instead.length > 0) await changeKeywords(tx, claim, 'add', instead);
}

/** Sets or removes keywords. A message in no mailbox, or with too many keywords, is claimed without them. */
async function changeKeywords(
  tx: Write,
  { account, thread, email }: Pick<ConversationClaim, 'account' | 'thread' | 'email'>,
  how: 'add' | 'remove',
  keywords: readonly string[],
): Promise<void> {
  const [entry] = await visibleEntries(tx, account, [email]);
  if (entry === undefined) return;
  const before = await snapshotThreads(tx, [thread]);
  const change = { account, mailbox: entry.mailbox, uids: [entry.uid], how, flags: { bits: 0, keywords } };
  const stored = await storeFlagsOnly(tx, { ...change, unchangedSince: null });
  if (stored.kind === 'done' && stored.modseq !== null) await updateThreads(tx, before, stored.modseq);
}

/** Result of ending a claim. `none`: there was none, or it had expired. */
export type EndOutcome =
  | { kind: 'ended'; thread: number; email: number }
  | { kind: 'claimed'; holder: string; until: number }
  | { kind: 'none'; thread: number; email: number }
  | { kind: 'not-found' };

/** Ends a claim: marks its message as done, or frees it for others. `holder` null: whoever holds it. */
export const endClaim = command(
  'end-claim',
  async (
    tx,
    input: { account: number; named: ConversationRef; holder: string | null; done: boolean },
    stamp,
  ): Promise<EndOutcome> => {
    const found = await findConversation(tx, input.account, input.named);
    if (found === undefined) return { kind: 'not-found' };
    const { thread, message } = found;
    const claim = await claimOf(tx, input.account, thread);
    if (claim === undefined || claim.until <= stamp.now) return { kind: 'none', thread, email: message.email };
    const { holder, until, email } = claim;
    if (input.holder !== null && input.holder !== holder) return { kind: 'claimed', holder, until };
    await deleteClaim(tx, claim, input.done ? [DONE] : []);
    return { kind: 'ended', thread, email };
  },
);

/** Frees a slice of conversations whose claim expired; returns if there may be more. */
export const freeClaims = command('expire-claims', async (tx, _: undefined, stamp): Promise<boolean> => {
  const over = await endedClaims(tx, stamp);
  for (const claim of over) await deleteClaim(tx, claim, []);
  return over.length === SLICE;
});

async function endedClaims(rx: Read, { now }: Stamp): Promise<ConversationClaim[]> {
  const rows = await rx.all<{ account_id: number; thread_id: number }>(
    'SELECT account_id, thread_id FROM claim WHERE until <= ? ORDER BY until LIMIT ? + 0',
    now,
    SLICE,
  );
  const claims: ConversationClaim[] = [];
  for (const row of rows) {
    const claim = await claimOf(rx, row.account_id, row.thread_id);
    if (claim !== undefined) claims.push(claim);
  }
  return claims;
}

/** Expires all claims of a revoked or frozen agent; {@link freeClaims} removes them. */
export async function dropClaims(tx: Write, holder: string, { now }: Stamp): Promise<void> {
  await tx.run('UPDATE claim SET until = ?1 WHERE holder = ?2 AND until > ?1', now, holder);
}
