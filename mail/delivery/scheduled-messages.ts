import { type Address, parseAddress, textKey } from '../message/address.ts';
import type { MessageIndex } from '../message/index-types.ts';
import { namedAddresses } from '../message/named-address.ts';
import { readEnvelope } from '../message/stored-envelope.ts';
import { holdScheduled, isHoldPending } from '../agents/freeze/hold.ts';
import { holdIfRedirected } from '../agents/freeze/redirected.ts';
import { hasExhaustedAlias, countAliasUse } from '../store/address/alias-use.ts';
import { approvalRow, endApproval, isUnchanged } from '../agents/approval/approval.ts';
import { refile } from '../agents/approval/mailbox.ts';
import { addBlob } from '../store/blob/blob.ts';
import { command, query, type Stamp, type Write } from '../store/engine/types.ts';
import { newBlob } from '../store/mailbox/entry-commands.ts';
import { recordJournalEvent } from '../store/journal/journal.ts';
import { pauseHoldReason } from '../store/limit/paused-sender.ts';
import { recordContacted } from '../agents/gate/contacted.ts';
import { addRows, addSubmission, dropSubmission } from '../store/queue/queue.ts';
import { dropScheduled, type ScheduledRow as Owned, scheduledOf } from '../store/queue/scheduled.ts';
import { fileAsJunkForBlockers } from './blocked-senders.ts';
import { storeDelivery, enqueueForward } from './deliver.ts';
import { type Destinations, type Unreachable, UNREACHABLE } from './destinations.ts';
import { findForeignAuthor, findForeignDomain, type Identity } from './identity.ts';
import { sendSuccessReport } from './notice.ts';
import { namedRecipients, noteSubmitted } from './outgoing.ts';
import { fileCopy } from './sent-copy.ts';
import type { OutgoingMessage, DsnRequest } from './types.ts';

/** Reason why a whole message is postponed. */
export interface Postponement {
  /** ms UTC. */
  until: number;
  /** Reason why it needs release by a person, whatever its time; null: none. */
  heldBecause: string | null;
  /** Leaves out suppressed recipients when it is sent. */
  skipsSuppressed: boolean;
}

/**
 * Stores a message until its time, or until a person releases it; for local recipients too. Returns the id of its submission.
 */
export async function scheduleMessage(
  tx: Write,
  mail: OutgoingMessage,
  wait: Postponement,
  stamp: Stamp,
): Promise<number> {
  const { until, heldBecause, skipsSuppressed } = wait;
  const blob = await addBlob(tx, newBlob(mail));
  const to = namedRecipients(mail);
  const { trace, tenant, account, sender, index } = mail;
  const why = heldBecause === null ? { until: new Date(until).toISOString() } : { because: heldBecause };
  const about = { tenant, messageId: index.messageId };
  const event = heldBecause === null ? 'scheduled' : 'held';
  const id = await addSubmission(tx, { ...mail, blob, size: mail.index.size }, stamp);
  await recordJournalEvent(
    tx,
    trace,
    event,
    account,
    { from: sender, to, size: index.size, ...why, outbox: id },
    stamp,
    about,
  );
  await tx.run(
    `INSERT INTO scheduled (submission_id, tenant, account_id, due_at, recipients, hold_reason, skip_suppressed, copy_for, dsn_parameters,
       created_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    tenant,
    account,
    until,
    JSON.stringify(to),
    heldBecause,
    Number(skipsSuppressed),
    mail.copyFor ?? null,
    JSON.stringify(dsnRequestsOf(mail)),
    mail.by ?? null,
  );
  return id;
}

function dsnRequestsOf({ elsewhere, dsnRequests = [] }: OutgoingMessage): DsnRequest[] {
  return [...elsewhere, ...dsnRequests]
    .filter(({ notify, orcpt }) => notify !== '' || orcpt !== '')
    .map(({ recipient, notify, orcpt }) => ({ recipient, notify, orcpt }));
}

export interface DueMessage {
  id: number;
  blob: number;
  size: number;
  trace: string;
  tenant: number;
  sender: string;
  /** Domains of its verified authors. */
  signAs: string[];
  recipients: string[];
  /** DSN parameters of recipients that have any. */
  wishes: DsnRequest[];
  envid: string;
  skipsSuppressed: boolean;
}

/** Lists due messages, and the time of the next one (ms UTC). */
export const dueMessages = query(
  'due-messages',
  async (rx, input: { now: number }): Promise<{ due: DueMessage[]; next: number | undefined }> => {
    const due = await rx.all<{
      id: number;
      blob: number;
      size: number;
      trace: string;
      tenant: number;
      sender: string;
      sign_as: string;
      recipients: string;
      wishes: string;
      envid: string;
      skipSuppressed: number;
    }>(
      `SELECT s.id, s.blob_id AS blob, s.size, s.trace, s.tenant, s.sender, s.sign_as, d.recipients, d.dsn_parameters AS wishes, s.envid,
         d.skip_suppressed AS skipSuppressed
       FROM scheduled d JOIN submission s ON s.id = d.submission_id
       WHERE d.due_at <= ? AND d.hold_reason IS NULL ORDER BY d.due_at LIMIT 50`,
      input.now,
    );
    const next = await rx.get<{ at: number | null }>(
      'SELECT min(due_at) AS at FROM scheduled WHERE due_at > ? AND hold_reason IS NULL',
      input.now,
    );
    const messages = due.map(({ sign_as: signAs, skipSuppressed, ...row }) => ({
      ...row,
      signAs: signAs.split(' ').filter((one) => one !== ''),
      recipients: JSON.parse(row.recipients) as string[],
      wishes: JSON.parse(row.wishes) as DsnRequest[],
      skipsSuppressed: skipSuppressed === 1,
    }));
    return { due: messages, next: next?.at ?? undefined };
  },
);

/** A due message with its resolved destinations. */
export interface ReleasedMessage extends Destinations {
  id: number;
  index: MessageIndex;
  /** Recipients that were deleted since it was accepted. */
  unreachable: readonly Unreachable[];
  /** Recipients on the suppression list of the tenant. */
  suppressed: readonly { address: string; reason: string }[];
  /** Reason why remote recipients are held; null: none. */
  hold: string | null;
  /** Success report about local recipients. */
  report?: OutgoingMessage;
  /** Hex digest of the octets as just read: the approved message must be the one that is sent. */
  sha256: string;
}

/** Sends a due message, unless it was canceled or held meanwhile. Returns true if anything was queued. */
export const sendScheduled = command(
  'send-scheduled',
  async (tx, mail: ReleasedMessage, stamp): Promise<{ queued: boolean }> => {
    const { id, index, hold, local, elsewhere, onward } = mail;
    // An alias that has just expired is left out by the next run.
    if (await hasExhaustedAlias(tx, [...mail.here, ...onward], stamp.now)) return { queued: false };
    if ((await holdIfForeign(tx, id, stamp)) || (await holdIfPaused(tx, id, stamp))) return { queued: false };
    if ((await holdIfStopped(tx, id, stamp)) || (await holdIfRedirected(tx, mail, stamp))) return { queued: false };
    if (!(await isReleased(tx, mail, stamp))) return { queued: false };
    const waited = await tx.get<{ copy_for: number | null; by: string | null }>(
      'DELETE FROM scheduled WHERE submission_id = ? AND hold_reason IS NULL RETURNING copy_for, created_by AS by',
      id,
    );
    const row = await tx.get<{
      trace: string;
      tenant: number;
      blob_id: number;
      account_id: number | null;
      sender: string;
      eight_bit: number;
      smtputf8: number;
      require_tls: number;
    }>(
      'SELECT trace, tenant, blob_id, account_id, sender, eight_bit, smtputf8, require_tls FROM submission WHERE id = ?',
      id,
    );
    if (waited === undefined || row === undefined) return { queued: false };
    const { trace, tenant, account_id: account, sender } = row;
    const parameters = {
      eightBit: row.eight_bit === 1,
      smtputf8: row.smtputf8 === 1,
      requireTls: row.require_tls === 1,
    };
    const message = { trace, tenant, account, sender, index, hold, ...parameters };
    // Recipients that block the sender since it was accepted.
    const here = await fileAsJunkForBlockers(tx, { tenant, sender, here: mail.here, authors: authorsOf(index) });
    await noteSubmitted(tx, { ...message, local, here, elsewhere, outbox: id }, stamp);
    if (account !== null && sender !== '') {
      await recordContacted(tx, account, namedRecipients({ local, here, elsewhere }).map(textKey), stamp.now);
    }
    await recordLeftOut(tx, message, mail, stamp);
    if (!(await fileReleased(tx, id, stamp)) && waited.copy_for !== null)
      await fileCopy(tx, waited.copy_for, { blob: row.blob_id, index, by: waited.by }, stamp);
    for (const delivery of here) await storeDelivery(tx, message, delivery, row.blob_id, stamp);
    await countAliasUse(tx, [...here, ...onward], sender, stamp);
    if (mail.report !== undefined) await sendSuccessReport(tx, message, mail.report, stamp);
    await addRows(tx, { submission: id, trace, account, tenant }, elsewhere, hold, stamp);
    for (const one of onward) await enqueueForward(tx, message, one, row.blob_id, stamp);
    if (elsewhere.length === 0) await dropSubmission(tx, id);
    return { queued: elsewhere.length + onward.length + (mail.report?.elsewhere.length ?? 0) > 0 };
  },
);

function authorsOf({ envelope }: MessageIndex): Address[] {
  return namedAddresses(readEnvelope(envelope).from ?? []).flatMap(({ email }) => parseAddress(email) ?? []);
}

/**
 * Holds a message for review if its domain or address has changed owner while it waited, and with it the signing keys.
 */
async function holdIfForeign(tx: Write, id: number, stamp: Stamp): Promise<boolean> {
  const row = await tx.get<Owned & { sender: string; sign_as: string }>(
    `SELECT s.id, s.trace, s.tenant, s.account_id, s.sender, s.sign_as FROM submission s
       JOIN scheduled d ON d.submission_id = s.id WHERE s.id = ? AND d.hold_reason IS NULL`,
    id,
  );
  if (row === undefined) return false;
  const { trace, tenant, account_id: account, sender, sign_as: signAs } = row;
  const as: Identity = account === null ? { kind: 'tenant', tenant, domains: null } : { kind: 'account', account };
  const from = parseAddress(sender);
  const foreign =
    (from && (await findForeignAuthor(tx, as, [from]))) ?? (await findForeignDomain(tx, tenant, signAs.split(' ')));
  if (foreign === undefined) return false;
  const because = `${foreign.domain} is not allowed as sender any more: not your domain, not verified, or paused`;
  await tx.run('UPDATE scheduled SET hold_reason = ? WHERE submission_id = ?', because, id);
  await recordJournalEvent(tx, trace, 'held', account, { because, outbox: id }, stamp, { tenant });
  return true;
}

/** Holds a message whose sender was paused while it waited. */
async function holdIfPaused(tx: Write, id: number, stamp: Stamp): Promise<boolean> {
  const row = await tx.get<Owned & { sent_by: string }>(
    `SELECT s.id, s.trace, s.tenant, s.account_id, s.sent_by FROM submission s
       JOIN scheduled d ON d.submission_id = s.id WHERE s.id = ? AND d.hold_reason IS NULL`,
    id,
  );
  const because = row === undefined ? undefined : await pauseHoldReason(tx, row.sent_by);
  if (row === undefined || because === undefined) return false;
  await tx.run('UPDATE scheduled SET hold_reason = ? WHERE submission_id = ?', because, id);
  await recordJournalEvent(tx, row.trace, 'held', row.account_id, { because, outbox: id }, stamp, {
    tenant: row.tenant,
  });
  return true;
}

/** Holds a message whose agent was just stopped, if it is not marked yet. */
async function holdIfStopped(tx: Write, id: number, stamp: Stamp): Promise<boolean> {
  const row = await tx.get<Owned>(
    `SELECT s.id, s.trace, s.tenant, s.account_id FROM submission s JOIN scheduled d ON d.submission_id = s.id
     WHERE s.id = ? AND d.hold_reason IS NULL`,
    id,
  );
  if (row === undefined || !(await isHoldPending(tx, row.trace))) return false;
  await holdScheduled(tx, row.tenant, row, stamp);
  return true;
}

/**
 * Returns true if the message needs no approval, or a person approved these octets. A pending one is held again, whatever
 * else released it; the approval of changed octets becomes void.
 */
async function isReleased(
  tx: Write,
  { id, sha256 }: Pick<ReleasedMessage, 'id' | 'sha256'>,
  stamp: Stamp,
): Promise<boolean> {
  const approval = await approvalRow(tx, id);
  const waits = await tx.get('SELECT 1 AS yes FROM scheduled WHERE submission_id = ? AND hold_reason IS NULL', id);
  if (approval === undefined || waits === undefined) return true;
  if (approval.state === 'approved' && (await isUnchanged(tx, approval, sha256))) return true;
  if (approval.state === 'pending') {
    const because = 'awaiting approval';
    await tx.run('UPDATE scheduled SET hold_reason = ? WHERE submission_id = ?', because, id);
  } else await endApproval(tx, approval, 'void', null, stamp);
  return false;
}

/** Moves the copy of an approved message to Sent. False: it has no copy. */
async function fileReleased(tx: Write, id: number, stamp: Stamp): Promise<boolean> {
  const approval = await approvalRow(tx, id);
  return approval !== undefined && refile(tx, approval, 'sent', stamp);
}

/** Records recipients that are left out, with the reason, in the timeline of the message. */
async function recordLeftOut(
  tx: Write,
  { trace, account, tenant }: { trace: string; account: number | null; tenant: number },
  { unreachable, suppressed }: Pick<ReleasedMessage, 'unreachable' | 'suppressed'>,
  stamp: Stamp,
): Promise<void> {
  for (const { address, why } of unreachable) {
    const detail = { to: address, status: '5.1.1', text: `${address} does not exist any more: ${UNREACHABLE[why]}` };
    await recordJournalEvent(tx, trace, 'failed', account, detail, stamp, { tenant });
  }
  for (const { address, reason } of suppressed) {
    await recordJournalEvent(tx, trace, 'suppressed', account, { to: address, because: reason }, stamp, { tenant });
  }
}

const MINUTE_MS = 60_000;
const MAX_PAUSE_MS = 60 * MINUTE_MS;
/** About six hours; then the message is held for review. */
const MAX_ATTEMPTS = 12;

/** Defers a message that could not be sent; holds it after the last attempt. */
export const deferScheduled = command(
  'defer-scheduled',
  async (tx, input: { id: number; because: string }, stamp): Promise<void> => {
    const tried = await tx.get<{ attempts: number }>(
      'UPDATE scheduled SET attempts = attempts + 1 WHERE submission_id = ? RETURNING attempts',
      input.id,
    );
    if (tried === undefined) return;
    const pause = Math.min(MAX_PAUSE_MS, MINUTE_MS * 2 ** (tried.attempts - 1));
    await tx.run('UPDATE scheduled SET due_at = ? WHERE submission_id = ?', stamp.now + pause, input.id);
    if (tried.attempts < MAX_ATTEMPTS) return;
    await tx.run('UPDATE scheduled SET hold_reason = ? WHERE submission_id = ?', input.because, input.id);
    const row = await tx.get<Owned>('SELECT id, trace, tenant, account_id FROM submission WHERE id = ?', input.id);
    if (row === undefined) return;
    const { trace, account_id: account, tenant } = row;
    await recordJournalEvent(tx, trace, 'held', account, { because: input.because, outbox: input.id }, stamp, {
      tenant,
    });
  },
);

/** Releases a held message; it is still sent at its time. */
export const releaseWaiting = command(
  'release-waiting',
  async (tx, { id }: { id: number }, stamp): Promise<{ kind: 'released' | 'none' }> => {
    const { changes } = await tx.run(
      'UPDATE scheduled SET hold_reason = NULL, attempts = 0, internal = NULL WHERE submission_id = ? AND hold_reason IS NOT NULL',
      id,
    );
    const row = await tx.get<Owned>('SELECT id, trace, tenant, account_id FROM submission WHERE id = ?', id);
    if (changes === 0 || row === undefined) return { kind: 'none' };
    await recordJournalEvent(tx, row.trace, 'released', row.account_id, { outbox: id }, stamp, { tenant: row.tenant });
    return { kind: 'released' };
  },
);

/** Cancels a message that is not sent yet, with its approval request. `by`: display name of the actor. */
export async function unschedule(tx: Write, trace: string, stamp: Stamp, by: string | null = null): Promise<boolean> {
  const row = await scheduledOf(tx, trace);
  if (row === undefined) return false;
  const approval = await approvalRow(tx, row.id);
  if (approval === undefined) await dropScheduled(tx, row, {}, stamp);
  else await endApproval(tx, approval, 'withdrawn', by, stamp);
  return true;
}

/** Changes the time of a message that is not sent yet. */
export async function reschedule(tx: Write, trace: string, until: number, stamp: Stamp): Promise<boolean> {
  const row = await scheduledOf(tx, trace);
  if (row === undefined) return false;
  await tx.run('UPDATE scheduled SET due_at = ?, attempts = 0 WHERE submission_id = ?', until, row.id);
  const detail = { until: new Date(until).toISOString(), outbox: row.id };
  await recordJournalEvent(tx, trace, 'scheduled', row.account_id, detail, stamp, { tenant: row.tenant });
  return true;
}

const SLICE = 200;

/** Cancels a slice of the waiting messages of a tenant. Returns the number. */
export async function unscheduleTenant(tx: Write, tenant: number, stamp: Stamp): Promise<number> {
  const rows = await tx.all<{ trace: string }>(
    'SELECT s.trace FROM scheduled d JOIN submission s ON s.id = d.submission_id WHERE d.tenant = ? LIMIT ?',
    tenant,
    SLICE,
  );
  for (const { trace } of rows) await unschedule(tx, trace, stamp);
  return rows.length;
}

/** Cancels a slice of the waiting messages of an account that is purged. True while there may be more. */
export async function unscheduleAccount(tx: Write, account: number, stamp: Stamp): Promise<boolean> {
  const rows = await tx.all<{ trace: string }>(
    'SELECT s.trace FROM scheduled d JOIN submission s ON s.id = d.submission_id WHERE d.account_id = ? LIMIT ?',
    account,
    SLICE,
  );
  for (const { trace } of rows) await unschedule(tx, trace, stamp);
  return rows.length === SLICE;
}

/** Holds all scheduled messages of a tenant, or releases those that were held for this reason. */
export async function holdTenant(tx: Write, tenant: number, because: string, hold: boolean): Promise<void> {
  await tx.run(
    'UPDATE scheduled SET hold_reason = ? WHERE hold_reason IS ? AND tenant = ?',
    hold ? because : null,
    hold ? null : because,
    tenant,
  );
}
