import { createHash } from 'node:crypto';
import { type Address, formatAddress, parseAddress, textKey } from '../message/address.ts';
import { wholeIndex } from '../message/index-types.ts';
import { anyOver } from '../store/alias-use.ts';
import { type Allowance, countAllowance, overAllowance, type OverAllowance } from '../store/allowance.ts';
import { type Budget, meet, overBudget, spend } from '../store/budget.ts';
import { command, query, type Read, type Stamp, type Write } from '../store/engine/types.ts';
import { type Guard, rememberSent, sentBefore, type SentBefore } from '../store/sent-before.ts';
import { awaitApproval, isCrowded, MOST_PENDING } from '../store/approval.ts';
import { heldFor } from '../store/paused-sender.ts';
import { ownerOf } from '../store/queue-lane.ts';
import { reach } from '../store/reached.ts';
import { suppressed } from '../store/suppression.ts';
import { noteDecided } from './agent/decided.ts';
import { judgeAgent } from './agent/gate.ts';
import { countAgainstLimits } from './agent/limits.ts';
import type { AgentStop, Reason } from './agent/types.ts';
import { blockedSender, filedForBlockers } from './blocked-senders.ts';
import { foreignAuthor, type ForeignAuthor, type Identity } from './identity.ts';
import { namedRecipients, type Outgoing, send, type Sent } from './outgoing.ts';
import type { Verdict } from './policy.ts';
import { blockedRecipient } from './recipient-rules.ts';
import { schedule } from './schedule.ts';
import { metBy, watchedOf, watchSent } from './watch.ts';

export { type Outgoing, send } from './outgoing.ts';

/** What somebody asks to send, with what is known of who asks. Every door hands over the same. */
export interface Submission extends Outgoing {
  /** All authors that the header names: From, Sender and their Resent forms. */
  authors: readonly Address[];
  as: Identity;
  /** A program's: it goes to nobody who is suppressed. People decide themselves. */
  spares: boolean;
  /** What an organization that nobody stands for may send; null: no such limit. */
  allowance: Allowance | null;
  budgets: readonly Budget[];
  /** Null: a second one is meant as a second one (SMTP, JMAP). */
  guard: Guard | null;
  /** What the policy says. */
  verdict: Verdict;
  /** ms UTC; null: now. */
  sendAt: number | null;
  /** Of the octets, hex. Doors that send for agents hand it over where the octets are in a file. */
  sha256?: string;
}

/** Why a message is not sent; nothing of it stays. */
export type Stopped =
  | SentBefore
  | ForeignAuthor
  /** The caller may ask again without these. */
  | { kind: 'suppressed'; recipients: { address: string; reason: string }[] }
  | OverAllowance
  | AgentStop
  | { kind: 'refused'; because: string };

/** What {@link judge} found: nothing stands against the message. Of an agent's, why a person has to let it go. */
export interface Passed {
  kind: 'passed';
  /** None: nobody has to. */
  reasons: readonly Reason[];
}

export type Submitted =
  | ({ kind: 'taken' } & Sent)
  /** For its time, or for a person: then with the reason. */
  | { kind: 'waits'; submission: number; heldBecause: string | null; reasons: readonly Reason[] }
  | Stopped;

/** The only way out: one commit takes a message with everything that follows from it, or says why not. */
export const submit = command('submit', async (tx, mail: Submission, stamp): Promise<Submitted> => {
  const judged = await judge(tx, mail, stamp.now);
  return judged.kind === 'passed' ? enter(tx, mail, judged, stamp) : judged;
});

/** What {@link submit} would find. Of what would pass, all for which it would wait for a person. Changes nothing. */
export const trySubmit = query(
  'try-submit',
  async (rx, { mail, now }: { mail: Submission; now: number }): Promise<Stopped | Passed> => {
    const judged = await judge(rx, mail, now);
    return judged.kind === 'passed' ? { ...judged, reasons: await holding(rx, mail, judged) } : judged;
  },
);

/** Why a message that passed would wait for a person; none: it would go. */
export async function holding(rx: Read, mail: Submission, { reasons }: Passed): Promise<readonly Reason[]> {
  const { verdict } = mail;
  const held = verdict.kind === 'hold' ? [{ code: 'policy', text: verdict.because }] : [];
  const watched = watchedOf(mail, mail.budgets);
  const paused = watched && (await heldFor(rx, watched.sender));
  const waits = paused === undefined ? [] : [{ code: 'paused', text: paused }];
  return [...held, ...waits, ...reasons];
}

/** Every question that is asked of a message that leaves, in the one order. Commands of the doors may ask it too. */
export async function judge(rx: Read, mail: Submission, now: number): Promise<Stopped | Passed> {
  return (await stopping(rx, mail, now)) ?? judgedAgent(rx, mail, now);
}

async function stopping(rx: Read, mail: Submission, now: number): Promise<Stopped | undefined> {
  const keys = keysOf(mail);
  const { tenant, allowance, budgets } = mail;
  return (
    // Before all others: a repeated request sends nothing, so the limits and lists of today have no say in its answer.
    (await sentBefore(rx, mail.guard, now)) ??
    (await foreignAuthor(rx, mail.as, authorsOf(mail))) ??
    (mail.spares ? await spared(rx, mail) : undefined) ??
    (await overAllowance(rx, { tenant, allowance, recipients: keys }, now)) ??
    (await overBudget(rx, budgets, keys, now)) ??
    (await refusedHere(rx, mail, now)) ??
    (mail.verdict.kind === 'refuse' ? { kind: 'refused', because: mail.verdict.because } : undefined)
  );
}

/** Takes a message that passed {@link judge} in the same commit, before anything of it was counted. */
export async function enter(
  tx: Write,
  submission: Submission,
  { reasons }: Passed,
  stamp: Stamp,
): Promise<Extract<Submitted, { kind: 'taken' | 'waits' }>> {
  const { trace, tenant, allowance, budgets, guard, verdict, sendAt } = submission;
  const watched = watchedOf(submission, budgets);
  const mail = { ...submission, sentBy: watched?.sender ?? '' };
  const keys = keysOf(mail);
  const met = watched === undefined ? undefined : await metBy(tx, mail);
  if (verdict.kind === 'agent') await noteDecided(tx, submission, { agent: verdict.agent, reasons }, stamp);
  await countAllowance(tx, { tenant, allowance, recipients: keys }, stamp);
  await spend(tx, budgets, keys, stamp);
  if (verdict.kind === 'agent') await countAgainstLimits(tx, verdict.agent);
  if (guard !== null) await rememberSent(tx, guard, mail.trace, stamp);
  // What waits for a person's word has reached nobody: who talks an agent into much of it would stop the mailbox for all.
  const counts = reasons.length === 0;
  const paused = counts && watched && met ? await watchSent(tx, watched, { trace, met }, stamp) : undefined;
  if (verdict.kind === 'agent') await meet(tx, ownerOf(mail), keys, stamp.now);
  const heldBecause = verdict.kind === 'hold' ? verdict.because : (paused ?? reasons[0]?.text ?? null);
  if (sendAt === null && heldBecause === null) {
    await noteReached(tx, mail, keys, stamp.now);
    return { kind: 'taken', ...(await send(tx, { ...mail, here: await filedForBlockers(tx, mail) }, stamp)) };
  }
  const wait = { until: sendAt ?? stamp.now, heldBecause, spares: mail.spares };
  const id = await schedule(tx, mail, wait, stamp);
  if (reasons.length > 0) await askPerson(tx, submission, { id, reasons }, stamp);
  return { kind: 'waits', submission: id, heldBecause, reasons };
}

/** Programs and automatic answers write to whom a stranger names: that they did so says nothing. */
async function noteReached(tx: Write, mail: Submission, keys: readonly string[], now: number): Promise<void> {
  const { sender, as, verdict } = mail;
  if (sender !== '' && (as.kind === 'account' || verdict.kind === 'agent')) await reach(tx, ownerOf(mail), keys, now);
}

async function judgedAgent(rx: Read, mail: Submission, now: number): Promise<AgentStop | Passed> {
  if (mail.verdict.kind !== 'agent') return { kind: 'passed', reasons: [] };
  const judged = await judgeAgent(rx, mail, mail.verdict.agent, now);
  if (judged.kind === 'agent-stop') return judged;
  if (judged.kind === 'hold' && (await isCrowded(rx, mail))) return CROWDED;
  return { kind: 'passed', reasons: judged.kind === 'hold' ? judged.reasons : [] };
}

const CROWDED: AgentStop = {
  kind: 'agent-stop',
  error: 'budget_exceeded',
  reasons: [
    {
      code: 'too_many_pending',
      text: 'So many messages of this mailbox await approval that no further one can: wait for a person, or withdraw some',
    },
  ],
  budget: { name: 'too_many_pending', limit: MOST_PENDING, used: MOST_PENDING },
};

/** Has a person decide about mail of an agent: bound to the octets that leave, and to everybody who gets them. */
async function askPerson(
  tx: Write,
  mail: Submission,
  { id, reasons }: { id: number; reasons: readonly Reason[] },
  stamp: Stamp,
): Promise<void> {
  if (mail.verdict.kind !== 'agent') return;
  const { credential } = mail.verdict.agent;
  const { trace, tenant, account, sender, sendAt } = mail;
  const sha256 = mail.sha256 ?? (mail.data && digestOf(mail.data));
  if (sha256 === null) throw new Error('what an approval is bound to was not read: the door has to hand sha256 over');
  const asked = { submission: id, tenant, account, trace, credential, sender, sendAt, reasons, sha256 };
  await awaitApproval(tx, { ...asked, recipients: namedRecipients(mail), index: wholeIndex(mail.index) }, stamp);
}

function digestOf(octets: Uint8Array): string {
  return createHash('sha256').update(octets).digest('hex');
}

/** By a rule about recipients, by one of theirs about who writes, or by an alias that has taken its last message meanwhile. */
async function refusedHere(rx: Read, mail: Submission, now: number): Promise<Stopped | undefined> {
  const blocked = (await blockedRecipient(rx, mail)) ?? (await blockedSender(rx, mail));
  if (blocked !== undefined) return { kind: 'refused', because: blocked };
  if (!(await anyOver(rx, [...mail.here, ...(mail.onward ?? [])], now))) return undefined;
  return { kind: 'refused', because: 'An address among its recipients has just gone out of use: leave it out' };
}

function keysOf(mail: Outgoing): string[] {
  return [...new Set(namedRecipients(mail).map(textKey))];
}

/** The envelope sender is an author too, and mostly the same; the null one is nobody. */
function authorsOf({ sender, authors }: Submission): Address[] {
  const envelope = parseAddress(sender);
  const named = new Map(
    (envelope === undefined ? authors : [envelope, ...authors]).map((one) => [formatAddress(one), one]),
  );
  return [...named.values()];
}

async function spared(rx: Read, mail: Submission): Promise<Stopped | undefined> {
  const named = namedRecipients(mail);
  const rows = await suppressed(rx, mail.tenant, named.map(textKey));
  if (rows.length === 0) return undefined;
  const reasons = new Map(rows.map((row) => [row.key, row.reason]));
  const recipients = named.flatMap((address) => {
    const reason = reasons.get(textKey(address));
    return reason === undefined ? [] : [{ address, reason }];
  });
  return { kind: 'suppressed', recipients };
}
