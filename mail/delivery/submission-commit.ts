import { type Address, formatAddress, parseAddress, textKey } from '../message/address.ts';
import { hasExhaustedAlias } from '../store/address/alias-use.ts';
import { countAllowance, overAllowance, type OverAllowance } from '../store/limit/allowance.ts';
import { recordCorrespondents, overBudget, countBudget } from '../store/limit/budget.ts';
import { command, query, type Read, type Stamp, type Write } from '../store/engine/types.ts';
import { rememberSent, findEarlierSend, type SentBefore } from '../store/queue/idempotency.ts';
import { pauseHoldReason } from '../store/limit/paused-sender.ts';
import { ownerOf } from '../store/queue/queue-lane.ts';
import { recordContacted } from '../agents/gate/contacted.ts';
import { suppressed } from '../store/queue/suppression.ts';
import type { PassedAgentMail } from '../agents/gate/gate.ts';
import type { AgentStop, Reason } from '../agents/gate/types.ts';
import { beforeSubmit, onSubmit, onWait } from '../agents/hooks.ts';
import { findBlockedSender, fileAsJunkForBlockers } from './blocked-senders.ts';
import { findForeignAuthor, type ForeignAuthor } from './identity.ts';
import { sendSuccessReport } from './notice.ts';
import { namedRecipients, sendMessage, type SendMessageResult } from './outgoing.ts';
import { findBlockedRecipient } from './recipient-rules.ts';
import { scheduleMessage } from './scheduled-messages.ts';
import { findNewRecipients, findWatchedSender, recordSent } from './anomaly-watch.ts';
import type { Submission } from './submission.ts';

/** Reasons to reject a submission; nothing is stored. */
export type SubmissionRejection =
  | SentBefore
  | ForeignAuthor
  /** The caller may retry without these recipients. */
  | { kind: 'suppressed'; recipients: { address: string; reason: string }[] }
  | OverAllowance
  | AgentStop
  | { kind: 'refused'; because: string };

/** A submission that passed all checks. */
interface PassedSubmission {
  kind: 'passed';
  /** Distinct recipient keys. */
  keys: readonly string[];
  /** Agent mail only. */
  agent?: PassedAgentMail;
}

export type AcceptedSubmission =
  | ({ kind: 'taken' } & SendMessageResult)
  /** Scheduled, or held for approval, with the reasons. */
  | { kind: 'waits'; submission: number; heldBecause: string | null; reasons: readonly Reason[] };

export type SubmissionResult = AcceptedSubmission | SubmissionRejection;

/** Preview of {@link submit}; `reasons`: those for which the message would be held for approval. */
export type SubmissionPreview = SubmissionRejection | { kind: 'passed'; reasons: readonly Reason[] };

/**
 * Runs in the transaction of a message that passed all checks. Calls `accept` before or after it writes rows of its own, or
 * not at all: nothing is counted before. `held`: reasons for which the message would be held for approval.
 */
export type SubmissionSteps<T> = (
  accept: () => Promise<AcceptedSubmission>,
  held: () => Promise<readonly Reason[]>,
) => Promise<T>;

/** Accepts a message with all its effects in one commit, or returns the reason for rejection. */
export const submit = command('submit', (tx, mail: Submission, stamp): Promise<SubmissionResult> =>
  commitSubmission(tx, mail, stamp, (accept) => accept()),
);

/** {@link submit} without its changes, for dry runs. */
export const trySubmit = query(
  'try-submit',
  async (rx, { mail, now }: { mail: Submission; now: number }): Promise<SubmissionPreview> => {
    const check = await checkSubmission(rx, mail, now);
    return check.kind === 'passed' ? { kind: 'passed', reasons: await heldReasons(rx, mail, check) } : check;
  },
);

/** Common part of all commands that submit a message: all checks, then the steps of the command. */
export async function commitSubmission<T>(
  tx: Write,
  mail: Submission,
  stamp: Stamp,
  steps: SubmissionSteps<T>,
): Promise<T | SubmissionRejection> {
  const check = await checkSubmission(tx, mail, stamp.now);
  if (check.kind !== 'passed') return check;
  return steps(
    () => acceptSubmission(tx, mail, check, stamp),
    () => heldReasons(tx, mail, check),
  );
}

/** Lists the reasons to hold a message that passed; empty: it would be sent. */
async function heldReasons(rx: Read, mail: Submission, { agent }: PassedSubmission): Promise<readonly Reason[]> {
  const { verdict } = mail;
  const held = verdict.kind === 'hold' ? [{ code: 'policy', text: verdict.because }] : [];
  const watched = findWatchedSender(mail, mail.budgets);
  const paused = watched && (await pauseHoldReason(rx, watched.sender));
  const waits = paused === undefined ? [] : [{ code: 'paused', text: paused }];
  return [...held, ...waits, ...(agent?.reasons ?? [])];
}

/** Runs all checks of outgoing mail in the fixed order. */
async function checkSubmission(
  rx: Read,
  mail: Submission,
  now: number,
): Promise<SubmissionRejection | PassedSubmission> {
  const keys = [...new Set(namedRecipients(mail).map(textKey))];
  const { tenant, allowance, budgets } = mail;
  return (
    // First: a repeated request sends nothing, so current limits and lists must not change its result.
    (await findEarlierSend(rx, mail.guard, now)) ??
    (await findForeignAuthor(rx, mail.as, authorsOf(mail))) ??
    (mail.skipsSuppressed ? await suppressedRecipients(rx, mail) : undefined) ??
    (await overAllowance(rx, { tenant, allowance, recipients: keys }, now)) ??
    (await overBudget(rx, budgets, keys, now)) ??
    (await findRejection(rx, mail, now)) ??
    (mail.verdict.kind === 'refuse' ? { kind: 'refused', because: mail.verdict.because } : undefined) ??
    checkAgent(rx, mail, keys, now)
  );
}

async function checkAgent(
  rx: Read,
  mail: Submission,
  keys: readonly string[],
  now: number,
): Promise<AgentStop | PassedSubmission> {
  if (mail.verdict.kind !== 'agent') return { kind: 'passed', keys };
  const recipients = namedRecipients(mail);
  const agent = await beforeSubmit(rx, { ...mail, recipients }, mail.verdict.agent, now);
  return agent.kind === 'agent-stop' ? agent : { kind: 'passed', keys, agent };
}

/** Counts and accepts a message in the transaction of its checks. */
async function acceptSubmission(
  tx: Write,
  submission: Submission,
  { keys, agent }: PassedSubmission,
  stamp: Stamp,
): Promise<AcceptedSubmission> {
  const { trace, tenant, allowance, budgets, guard, verdict, sendAt } = submission;
  const reasons = agent?.reasons ?? [];
  const watched = findWatchedSender(submission, budgets);
  const mail = { ...submission, sentBy: watched?.sender ?? '' };
  const met = watched === undefined ? undefined : await findNewRecipients(tx, mail);
  if (agent !== undefined) await onSubmit(tx, agent, stamp);
  await countAllowance(tx, { tenant, allowance, recipients: keys }, stamp);
  await countBudget(tx, budgets, keys, stamp);
  if (guard !== null) await rememberSent(tx, guard, mail.trace, stamp);
  // Held messages do not count: an outsider who makes an agent write many of them would pause the whole mailbox.
  const counts = reasons.length === 0;
  const paused = counts && watched && met ? await recordSent(tx, watched, { trace, met }, stamp) : undefined;
  if (agent !== undefined) await recordCorrespondents(tx, ownerOf(mail), keys, stamp.now);
  const heldBecause = verdict.kind === 'hold' ? verdict.because : (paused ?? reasons[0]?.text ?? null);
  if (sendAt === null && heldBecause === null) {
    await recordRecipients(tx, mail, keys, stamp.now);
    const here = mail.here.length === 0 ? mail.here : await fileAsJunkForBlockers(tx, mail);
    const sent = await sendMessage(tx, { ...mail, here }, stamp);
    if (mail.report !== undefined) await sendSuccessReport(tx, mail, mail.report, stamp);
    return { kind: 'taken', ...sent };
  }
  const wait = { until: sendAt ?? stamp.now, heldBecause, skipsSuppressed: mail.skipsSuppressed };
  const id = await scheduleMessage(tx, mail, wait, stamp);
  if (agent !== undefined) await onWait(tx, agent, id, stamp);
  return { kind: 'waits', submission: id, heldBecause, reasons };
}

/** Records contacted recipients, except of programs and automatic replies, whose recipients outsiders choose. */
async function recordRecipients(tx: Write, mail: Submission, keys: readonly string[], now: number): Promise<void> {
  const { sender, as, verdict } = mail;
  if (sender !== '' && (as.kind === 'account' || verdict.kind === 'agent'))
    await recordContacted(tx, ownerOf(mail), keys, now);
}

/** Checks recipient rules, block rules of recipients, and aliases that expired meanwhile. */
async function findRejection(rx: Read, mail: Submission, now: number): Promise<SubmissionRejection | undefined> {
  const blocked = (await findBlockedRecipient(rx, mail)) ?? (await findBlockedSender(rx, mail));
  if (blocked !== undefined) return { kind: 'refused', because: blocked };
  const local = [...mail.here, ...(mail.onward ?? [])];
  if (local.length === 0 || !(await hasExhaustedAlias(rx, local, now))) return undefined;
  return { kind: 'refused', because: 'A recipient address has just expired: leave it out' };
}

/** Lists authors, including the envelope sender unless it is null. */
function authorsOf({ sender, authors }: Submission): Address[] {
  const envelope = parseAddress(sender);
  const named = new Map(
    (envelope === undefined ? authors : [envelope, ...authors]).map((one) => [formatAddress(one), one]),
  );
  return [...named.values()];
}

async function suppressedRecipients(rx: Read, mail: Submission): Promise<SubmissionRejection | undefined> {
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
