import type { Submission } from '../../mail/delivery/submission.ts';
import type { Reason } from '../../mail/agents/gate/types.ts';
import { namedRecipients } from '../../mail/delivery/outgoing.ts';
import { reschedule, unschedule } from '../../mail/delivery/scheduled-messages.ts';
import { type AcceptedSubmission, commitSubmission } from '../../mail/delivery/submission-commit.ts';
import { recordReturned, findWatchedSender } from '../../mail/delivery/anomaly-watch.ts';
import { command, type Stamp, type Write } from '../../mail/store/engine/types.ts';
import { recordJournalEvent } from '../../mail/store/journal/journal.ts';
import { findEarlierSend } from '../../mail/store/queue/idempotency.ts';
import type { SendOutcome, SendRequest } from './send-request.ts';
import { type InitialState, sentByTrace, type SentEmail } from './sent-queries.ts';
import { changeEmails, destroyEmails } from '../../mail/store/message/email-change-commands.ts';
import { ANSWERED, type NamedFlags } from '../../mail/store/mailbox/flags.ts';
import { isDraft } from './draft-commands.ts';

/** Accepts a message of a program in one commit: submission, sent record and duplicate guard. */
export const sendEmail = command('send-email', async (tx, request: SendRequest, stamp): Promise<SendOutcome> => {
  const { mail, draft, failIfHeld } = request;
  if (await isFrozen(tx, mail.tenant)) return { kind: 'frozen' };
  const isStale = draft !== null && !(await isDraft(tx, mail.account, draft));
  if (isStale && !(await isRepeated(tx, mail, stamp.now))) {
    return { kind: 'draft-changed' };
  }
  const done = await commitSubmission(tx, mail, stamp, async (accept, held) => {
    const reasons = failIfHeld ? await held() : [];
    if (reasons.length > 0) return { kind: 'needs-approval' as const, reasons: reasons.map(({ text }) => text) };
    return recordAccepted(tx, request, await accept(), stamp);
  });
  if (done.kind !== 'repeated') return done;
  const sent = await sentByTrace(tx, done.trace);
  if (sent === undefined) throw new Error(`the message ${done.trace} was sent before and has no record`);
  return { kind: 'repeated', sent };
});

/** True if the request was accepted before; its draft is then deleted. */
async function isRepeated(tx: Write, { guard }: Submission, now: number): Promise<boolean> {
  return (await findEarlierSend(tx, guard, now)) !== undefined;
}

async function recordAccepted(
  tx: Write,
  request: SendRequest,
  done: AcceptedSubmission,
  stamp: Stamp,
): Promise<Extract<SendOutcome, { kind: 'sent' }>> {
  if (request.leftOut.length > 0) await countSuppressed(tx, request, stamp);
  await markOriginals(tx, { ...request, account: request.mail.account }, done, stamp);
  const sent = await insertSent(tx, request, done.kind === 'waits' ? done : null, stamp);
  return { kind: 'sent', sent, queued: done.kind === 'taken' && done.queued };
}

/** Counts suppressed recipients for abuse detection: many of them indicate an old or bought list. */
async function countSuppressed(tx: Write, { mail, leftOut }: SendRequest, stamp: Stamp): Promise<void> {
  const watched = findWatchedSender(mail, mail.budgets);
  if (watched === undefined) return;
  const back = { ...watched, sent_by: watched.sender, trace: mail.trace };
  await recordReturned(tx, back, { suppressed: leftOut.length }, stamp);
}

/** Checked in the commit: a freeze holds only what is queued by then, so later mail would be sent. */
async function isFrozen(tx: Write, organization: number): Promise<boolean> {
  const row = await tx.get('SELECT 1 AS frozen FROM organization WHERE id = ? AND frozen_at IS NOT NULL', organization);
  return row !== undefined;
}

async function insertSent(
  tx: Write,
  request: SendRequest,
  waits: Extract<AcceptedSubmission, { kind: 'waits' }> | null,
  stamp: Stamp,
): Promise<SentEmail> {
  const { messageId, subject, tags, metadata, sha256, leftOut } = request;
  const { trace, account, tenant, sender, sendAt } = request.mail;
  for (const { address, reason } of leftOut) {
    await recordJournalEvent(tx, trace, 'suppressed', account, { to: address, because: reason }, stamp, { tenant });
  }
  await tx.run(PURGE_EXPIRED, stamp.now - RETENTION_MS);
  const recipients = recipientsOf(request, waits);
  const heldBecause = waits?.heldBecause ?? null;
  const reasons = waits === null ? [] : reasonsOf(waits);
  const { id } = await tx.run(
    `INSERT INTO sent_email (organization_id, credential, trace, message_id, sender, recipients, subject, tags, metadata,
       sha256, created_at, scheduled_at, hold_reason, reasons, outbox_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    tenant,
    request.credential,
    trace,
    messageId,
    sender,
    JSON.stringify(recipients),
    subject,
    JSON.stringify(tags),
    JSON.stringify(metadata),
    sha256,
    stamp.now,
    sendAt,
    heldBecause,
    JSON.stringify(reasons),
    waits?.submission ?? null,
  );
  const facts = {
    trace,
    messageId,
    sender,
    recipients,
    subject,
    sha256,
    heldBecause,
    reasons,
    outbox: waits?.submission ?? null,
  };
  const times = { createdAt: stamp.now, scheduledAt: sendAt, cancelledAt: null };
  return { id, ...facts, ...times, tags: { ...tags }, metadata: { ...metadata } };
}

/** All reasons as sentences, each once. */
function reasonsOf({ heldBecause, reasons }: { heldBecause: string | null; reasons: readonly Reason[] }): string[] {
  return heldBecause === null ? [] : [...new Set([heldBecause, ...reasons.map(({ text }) => text)])];
}

/** Same retention as the journal. */
const RETENTION_MS = 90 * 24 * 3_600_000;
// Deletes two rows for each inserted one, which bounds the table and the work of a commit.
const PURGE_EXPIRED = `DELETE FROM sent_email WHERE id IN
  (SELECT id FROM sent_email WHERE created_at < ? ORDER BY created_at LIMIT 2)`;

/** State of each recipient at acceptance. */
export function recipientsOf(
  { mail, leftOut, fields }: Pick<SendRequest, 'mail' | 'leftOut' | 'fields'>,
  waits: { heldBecause: string | null } | null,
): SentEmail['recipients'] {
  const elsewhere = new Set<string>();
  for (const { recipient } of mail.elsewhere) elsewhere.add(recipient);
  const recipients: SentEmail['recipients'] = [];
  for (const address of namedRecipients(mail)) {
    let state: InitialState = mail.hold === null ? 'queued' : 'held';
    if (!elsewhere.has(address)) state = 'delivered';
    if (waits !== null) state = waits.heldBecause === null ? 'scheduled' : 'held';
    recipients.push({ address, state, ...fields[address] });
  }
  for (const { address } of leftOut) recipients.push({ address, state: 'suppressed', ...fields[address] });
  return recipients;
}

export type SentChange = { kind: 'done' | 'missing' | 'gone' };

/** Cancels a scheduled or held message; `gone`: already sent or cancelled. */
export const cancelSent = command(
  'cancel-sent',
  async (tx, input: { organization: number; id: number }, stamp): Promise<SentChange> => {
    const trace = await traceOf(tx, input);
    if (trace === undefined) return { kind: 'missing' };
    if (!(await unschedule(tx, trace, stamp))) return { kind: 'gone' };
    await tx.run('UPDATE sent_email SET cancelled_at = ? WHERE id = ?', stamp.now, input.id);
    return { kind: 'done' };
  },
);

/** Reschedules a message, ms UTC; `gone`: already sent or cancelled. */
export const moveSent = command(
  'move-sent',
  async (tx, input: { organization: number; id: number; sendAt: number }, stamp): Promise<SentChange> => {
    const trace = await traceOf(tx, input);
    if (trace === undefined) return { kind: 'missing' };
    if (!(await reschedule(tx, trace, input.sendAt, stamp))) return { kind: 'gone' };
    await tx.run('UPDATE sent_email SET scheduled_at = ? WHERE id = ?', input.sendAt, input.id);
    return { kind: 'done' };
  },
);

async function traceOf(
  tx: Write,
  { organization, id }: { organization: number; id: number },
): Promise<string | undefined> {
  const row = await tx.get<{ trace: string }>(
    'SELECT trace FROM sent_email WHERE id = ? AND organization_id = ?',
    id,
    organization,
  );
  return row?.trace;
}

/** Withdraws a waiting message of a program or a mailbox. `by`: name of the actor, for people. */
export const withdrawWaiting = command(
  'withdraw-waiting',
  async (tx, { trace, by }: { trace: string; by: string }, stamp): Promise<{ kind: 'withdrawn' | 'gone' }> => {
    if (!(await unschedule(tx, trace, stamp, by))) return { kind: 'gone' };
    await tx.run('UPDATE sent_email SET cancelled_at = ? WHERE trace = ?', stamp.now, trace);
    return { kind: 'withdrawn' };
  },
);

/** Messages that an outgoing message was created from, in the sending mailbox. */
interface MessageOrigin {
  /** Null: a program without a mailbox. */
  account: number | null;
  answers: number | null;
  forwards: number | null;
  draft: number | null;
}

/**
 * Deletes the draft after sending and marks the originals as answered or forwarded. A message held for approval may
 * never be sent, so it marks nothing.
 */
async function markOriginals(
  tx: Write,
  { account, answers, forwards, draft }: MessageOrigin,
  done: AcceptedSubmission,
  stamp: Stamp,
): Promise<void> {
  if (account === null) return;
  if (draft !== null) await destroyEmails.run(tx, { account, emails: [draft], ifState: null }, stamp);
  if (done.kind === 'waits' && done.heldBecause !== null) return;
  if (answers !== null) await mark(tx, account, answers, { bits: ANSWERED, keywords: [] }, stamp);
  if (forwards !== null) await mark(tx, account, forwards, { bits: 0, keywords: ['$Forwarded'] }, stamp);
}

async function mark(tx: Write, account: number, email: number, add: NamedFlags, stamp: Stamp): Promise<void> {
  const keywords = { kind: 'patch', add, remove: { bits: 0, keywords: [] } } as const;
  await changeEmails.run(tx, { account, changes: [{ email, keywords, mailboxes: null }], ifState: null }, stamp);
}
