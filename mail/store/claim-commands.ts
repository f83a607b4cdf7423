import { type Claim, CLAIMED, claimOf, DONE, type Hindered, isDone, type Named, namedIn } from './claim.ts';
import type { Member } from './conversation.ts';
import { command, type Read, type Stamp, type Write } from './engine/types.ts';
import { storeFlagsUnsettled } from './entry-commands.ts';
import { type Conversation, personSince, sinceClaim } from './may-answer.ts';
import { lookAtThreads, settleThreads } from './shown.ts';
import { shownEntries } from './shown-entries.ts';

/** Of one agent in one account. */
export const MOST_CLAIMS = 100;
/** Claims that are freed in one command. */
const SLICE = 25;

/** What came of a claim. `too-many`: the agent has as many as it may. */
export type ClaimOutcome =
  { kind: 'yours'; thread: number; email: number; until: number } | Hindered | { kind: 'too-many' | 'not-found' };

/**
 * Gives a conversation to one agent until a time (ms UTC), or keeps it for the one that has it. Two that ask at once are
 * two commands, and the second finds the first. `keyword` names the agent.
 */
export const claimConversation = command(
  'claim-conversation',
  async (
    tx,
    input: { account: number; named: Named; holder: string; keyword: string; until: number },
    stamp,
  ): Promise<ClaimOutcome> => {
    const { account, holder, keyword, until } = input;
    const found = await namedIn(tx, account, input.named);
    if (found === undefined) return { kind: 'not-found' };
    const { thread, members, message } = found;
    const before = await claimOf(tx, account, thread);
    const about = { account, thread, members, draft: null, now: stamp.now };
    if (before !== undefined && before.until > stamp.now) return keep(tx, before, input, about);
    const hindered = await hindrance(tx, input, about, message);
    if (hindered !== undefined) return hindered;
    if (before !== undefined) await end(tx, before, []);
    const claim = { account, thread, email: message.email, holder, keyword, claimedAt: stamp.now, until };
    await begin(tx, claim);
    return { kind: 'yours', thread, email: message.email, until };
  },
);

/** Of a claim that stands: its holder has it for longer, others have to wait. */
async function keep(
  tx: Write,
  claim: Claim,
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
  { email, at: since }: Member,
): Promise<ClaimOutcome | undefined> {
  if (await isDone(tx, account, { ...about, email })) return { kind: 'done' };
  const person = await personSince(tx, about, { email, since });
  if (person !== undefined) return { kind: person };
  const held = await tx.get<{ n: number }>(
    'SELECT count(*) AS n FROM claim WHERE holder = ? AND account_id = ?',
    holder,
    account,
  );
  return (held?.n ?? 0) >= MOST_CLAIMS ? { kind: 'too-many' } : undefined;
}

async function begin(tx: Write, claim: Claim): Promise<void> {
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
  await mark(tx, claim, 'add', [CLAIMED, keyword]);
}

/** The claim goes, and the keywords by which people saw it; `mark`: what is to be seen instead. */
async function end(tx: Write, claim: Claim, instead: readonly string[]): Promise<void> {
  await tx.run('DELETE FROM claim WHERE account_id = ? AND thread_id = ?', claim.account, claim.thread);
  await mark(tx, claim, 'remove', [CLAIMED, claim.keyword]);
  if (instead.length > 0) await mark(tx, claim, 'add', instead);
}

/** A message that is shown nowhere, or carries too many keywords, is claimed all the same. */
async function mark(
  tx: Write,
  { account, thread, email }: Pick<Claim, 'account' | 'thread' | 'email'>,
  how: 'add' | 'remove',
  keywords: readonly string[],
): Promise<void> {
  const [place] = await shownEntries(tx, account, [email]);
  if (place === undefined) return;
  const before = await lookAtThreads(tx, [thread]);
  const change = { account, mailbox: place.mailbox, uids: [place.uid], how, flags: { bits: 0, keywords } };
  const stored = await storeFlagsUnsettled(tx, { ...change, unchangedSince: null });
  if (stored.kind === 'done' && stored.modseq !== null) await settleThreads(tx, before, stored.modseq);
}

/** What came of the end of a claim. `none`: nobody had one, or its time was over. */
export type EndOutcome =
  | { kind: 'ended'; thread: number; email: number }
  | { kind: 'claimed'; holder: string; until: number }
  | { kind: 'none'; thread: number; email: number }
  | { kind: 'not-found' };

/** Ends a claim: its message is marked as done, or free for others. `holder` null: whoever has it. */
export const endClaim = command(
  'end-claim',
  async (
    tx,
    input: { account: number; named: Named; holder: string | null; done: boolean },
    stamp,
  ): Promise<EndOutcome> => {
    const found = await namedIn(tx, input.account, input.named);
    if (found === undefined) return { kind: 'not-found' };
    const { thread, message } = found;
    const claim = await claimOf(tx, input.account, thread);
    if (claim === undefined || claim.until <= stamp.now) return { kind: 'none', thread, email: message.email };
    const { holder, until, email } = claim;
    if (input.holder !== null && input.holder !== holder) return { kind: 'claimed', holder, until };
    await end(tx, claim, input.done ? [DONE] : []);
    return { kind: 'ended', thread, email };
  },
);

/** Frees conversations whose time is over, a slice of them; answers whether there may be more. */
export const freeClaims = command('free-claims', async (tx, _: undefined, stamp): Promise<boolean> => {
  const over = await endedClaims(tx, stamp);
  for (const claim of over) await end(tx, claim, []);
  return over.length === SLICE;
});

async function endedClaims(rx: Read, { now }: Stamp): Promise<Claim[]> {
  const rows = await rx.all<{ account_id: number; thread_id: number }>(
    'SELECT account_id, thread_id FROM claim WHERE until <= ? ORDER BY until LIMIT ? + 0',
    now,
    SLICE,
  );
  const claims: Claim[] = [];
  for (const row of rows) {
    const claim = await claimOf(rx, row.account_id, row.thread_id);
    if (claim !== undefined) claims.push(claim);
  }
  return claims;
}

/** An agent that holds no more keeps nobody waiting: {@link freeClaims} does the rest. */
export async function dropClaims(tx: Write, holder: string, { now }: Stamp): Promise<void> {
  await tx.run('UPDATE claim SET until = ?1 WHERE holder = ?2 AND until > ?1', now, holder);
}
