import { type Address, parseAddress, textKey } from '../message/address.ts';
import type { MessageIndex } from '../message/index-types.ts';
import { namedAddresses } from '../message/named-address.ts';
import { readEnvelope } from '../message/stored-envelope.ts';
import { holdWhole, isToBeHeld } from '../store/agent-hold.ts';
import { anyOver, countUse } from '../store/alias-use.ts';
import { approvalRow, endApproval, isWhole } from '../store/approval.ts';
import { refile } from '../store/approval-mailbox.ts';
import { addBlob } from '../store/blob.ts';
import { command, query, type Stamp, type Write } from '../store/engine/types.ts';
import { newBlob } from '../store/entry-commands.ts';
import { note } from '../store/journal.ts';
import { heldFor } from '../store/paused-sender.ts';
import { reach } from '../store/reached.ts';
import { addRows, addSubmission, dropSubmission } from '../store/queue.ts';
import { dropScheduled, type ScheduledRow as Owned, scheduledOf } from '../store/scheduled.ts';
import { filedForBlockers } from './blocked-senders.ts';
import { receive, sendOn } from './deliver.ts';
import { type Destinations, type Unreachable, UNREACHABLE } from './destinations.ts';
import { foreignAuthor, foreignDomain, type Identity } from './identity.ts';
import { namedRecipients, noteSubmitted, type Outgoing, tellSender, type Wish } from './outgoing.ts';
import { fileCopy } from './sent-copy.ts';

/** What keeps a message back as a whole. */
export interface Wait {
  /** ms UTC. */
  until: number;
  /** A person has to let it go, whatever its time is; the reason. */
  heldBecause: string | null;
  /** It goes to nobody who is suppressed when it leaves. */
  spares: boolean;
}

/**
 * Keeps a message until its time, or until somebody lets it go. Recipients on this box wait too. Answers the id of its
 * submission.
 */
export async function schedule(tx: Write, mail: Outgoing, wait: Wait, stamp: Stamp): Promise<number> {
  const { until, heldBecause, spares } = wait;
  const blob = await addBlob(tx, newBlob(mail));
  const to = namedRecipients(mail);
  const { trace, tenant, account, sender, index } = mail;
  const why = heldBecause === null ? { until: new Date(until).toISOString() } : { because: heldBecause };
  const about = { tenant, messageId: index.messageId };
  const event = heldBecause === null ? 'scheduled' : 'held';
  const id = await addSubmission(tx, { ...mail, blob, size: mail.index.size }, stamp);
  await note(tx, trace, event, account, { from: sender, to, size: index.size, ...why, outbox: id }, stamp, about);
  await tx.run(
    `INSERT INTO scheduled (submission_id, tenant, account_id, due_at, recipients, held_because, spares, copy_for, wishes,
       made_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    tenant,
    account,
    until,
    JSON.stringify(to),
    heldBecause,
    Number(spares),
    mail.copyFor ?? null,
    JSON.stringify(wishesOf(mail)),
    mail.by ?? null,
  );
  return id;
}

function wishesOf({ elsewhere, wishes = [] }: Outgoing): Wish[] {
  return [...elsewhere, ...wishes]
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
  /** Domains of its authors, which were checked. */
  signAs: string[];
  recipients: string[];
  /** About those recipients of whom something was asked. */
  wishes: Wish[];
  envid: string;
  spares: boolean;
}

/** Messages whose time has come, and when the next one's does (ms UTC). */
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
      spares: number;
    }>(
      `SELECT s.id, s.blob_id AS blob, s.size, s.trace, s.tenant, s.sender, s.sign_as, d.recipients, d.wishes, s.envid, d.spares
       FROM scheduled d JOIN submission s ON s.id = d.submission_id
       WHERE d.due_at <= ? AND d.held_because IS NULL ORDER BY d.due_at LIMIT 50`,
      input.now,
    );
    const next = await rx.get<{ at: number | null }>(
      'SELECT min(due_at) AS at FROM scheduled WHERE due_at > ? AND held_because IS NULL',
      input.now,
    );
    const messages = due.map(({ sign_as: signAs, ...row }) => ({
      ...row,
      signAs: signAs.split(' ').filter((one) => one !== ''),
      recipients: JSON.parse(row.recipients) as string[],
      wishes: JSON.parse(row.wishes) as Wish[],
      spares: row.spares === 1,
    }));
    return { due: messages, next: next?.at ?? undefined };
  },
);

/** What a message that leaves now was found to need. */
export interface Leaving extends Destinations {
  id: number;
  index: MessageIndex;
  /** Recipients who are gone since it was taken. */
  unreachable: readonly Unreachable[];
  /** Recipients whom the tenant writes to no more. */
  suppressed: readonly { address: string; reason: string }[];
  /** Why rows for elsewhere may not go out yet; null lets them go. */
  hold: string | null;
  /** What its sender is told of recipients on this box. */
  report?: Outgoing;
  /** Of its octets as they were just read, hex: what a person let go must be what leaves. */
  sha256: string;
}

/** Lets a message go whose time has come. Answers whether anything was queued; none when it was cancelled meanwhile. */
export const sendScheduled = command(
  'send-scheduled',
  async (tx, mail: Leaving, stamp): Promise<{ queued: boolean }> => {
    const { id, index, hold, local, elsewhere, onward } = mail;
    // Where an alias has just taken its last message the next look finds it so, and leaves its address out.
    if (await anyOver(tx, [...mail.here, ...onward], stamp.now)) return { queued: false };
    if ((await isForeignNow(tx, id, stamp)) || (await isPausedNow(tx, id, stamp))) return { queued: false };
    if (await isStoppedNow(tx, id, stamp)) return { queued: false };
    if (!(await isLetGo(tx, mail, stamp))) return { queued: false };
    const waited = await tx.get<{ copy_for: number | null; by: string | null }>(
      'DELETE FROM scheduled WHERE submission_id = ? AND held_because IS NULL RETURNING copy_for, made_by AS by',
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
    const asked = {
      eightBit: row.eight_bit === 1,
      smtputf8: row.smtputf8 === 1,
      requireTls: row.require_tls === 1,
    };
    const message = { trace, tenant, account, sender, index, hold, ...asked };
    // Who blocks it since it was taken.
    const here = await filedForBlockers(tx, { tenant, sender, here: mail.here, authors: authorsIn(index) });
    await noteSubmitted(tx, { ...message, local, here, elsewhere, outbox: id }, stamp);
    if (account !== null && sender !== '') {
      await reach(tx, account, namedRecipients({ local, here, elsewhere }).map(textKey), stamp.now);
    }
    await noteLeftOut(tx, message, mail, stamp);
    if (!(await fileLetGo(tx, id, stamp)) && waited.copy_for !== null)
      await fileCopy(tx, waited.copy_for, { blob: row.blob_id, index, by: waited.by }, stamp);
    for (const delivery of here) await receive(tx, message, delivery, row.blob_id, stamp);
    await countUse(tx, [...here, ...onward], sender, stamp);
    if (mail.report !== undefined) await tellSender(tx, message, mail.report, stamp);
    await addRows(tx, { submission: id, trace, account, tenant }, elsewhere, hold, stamp);
    for (const one of onward) await sendOn(tx, message, one, row.blob_id, stamp);
    if (elsewhere.length === 0) await dropSubmission(tx, id);
    return { queued: elsewhere.length + onward.length + (mail.report?.elsewhere.length ?? 0) > 0 };
  },
);

function authorsIn({ envelope }: MessageIndex): Address[] {
  return namedAddresses(readEnvelope(envelope).from ?? []).flatMap(({ email }) => parseAddress(email) ?? []);
}

/**
 * A domain or an address may have gone to somebody else while a message waited, and with it the keys that would sign it:
 * then a person has to look.
 */
async function isForeignNow(tx: Write, id: number, stamp: Stamp): Promise<boolean> {
  const row = await tx.get<Owned & { sender: string; sign_as: string }>(
    `SELECT s.id, s.trace, s.tenant, s.account_id, s.sender, s.sign_as FROM submission s
       JOIN scheduled d ON d.submission_id = s.id WHERE s.id = ? AND d.held_because IS NULL`,
    id,
  );
  if (row === undefined) return false;
  const { trace, tenant, account_id: account, sender, sign_as: signAs } = row;
  const as: Identity = account === null ? { kind: 'tenant', tenant, domains: null } : { kind: 'account', account };
  const from = parseAddress(sender);
  const foreign =
    (from && (await foreignAuthor(tx, as, [from]))) ?? (await foreignDomain(tx, tenant, signAs.split(' ')));
  if (foreign === undefined) return false;
  const because = `${foreign.domain} cannot be written from any more: it is not yours, not verified, or paused`;
  await tx.run('UPDATE scheduled SET held_because = ? WHERE submission_id = ?', because, id);
  await note(tx, trace, 'held', account, { because, outbox: id }, stamp, { tenant });
  return true;
}

/** Its sender may have been paused while it waited. */
async function isPausedNow(tx: Write, id: number, stamp: Stamp): Promise<boolean> {
  const row = await tx.get<Owned & { sent_by: string }>(
    `SELECT s.id, s.trace, s.tenant, s.account_id, s.sent_by FROM submission s
       JOIN scheduled d ON d.submission_id = s.id WHERE s.id = ? AND d.held_because IS NULL`,
    id,
  );
  const because = row === undefined ? undefined : await heldFor(tx, row.sent_by);
  if (row === undefined || because === undefined) return false;
  await tx.run('UPDATE scheduled SET held_because = ? WHERE submission_id = ?', because, id);
  await note(tx, row.trace, 'held', row.account_id, { because, outbox: id }, stamp, { tenant: row.tenant });
  return true;
}

/** Its agent may have been stopped a moment ago, so that it is not marked yet. */
async function isStoppedNow(tx: Write, id: number, stamp: Stamp): Promise<boolean> {
  const row = await tx.get<Owned>(
    `SELECT s.id, s.trace, s.tenant, s.account_id FROM submission s JOIN scheduled d ON d.submission_id = s.id
     WHERE s.id = ? AND d.held_because IS NULL`,
    id,
  );
  if (row === undefined || !(await isToBeHeld(tx, row.trace))) return false;
  await holdWhole(tx, row.tenant, row, stamp);
  return true;
}

/**
 * Whether a message that had to be let go was, by a person who saw what leaves now. One that still waits is held again,
 * whatever else released it; one that is another by now is void.
 */
async function isLetGo(tx: Write, { id, sha256 }: Pick<Leaving, 'id' | 'sha256'>, stamp: Stamp): Promise<boolean> {
  const asked = await approvalRow(tx, id);
  const waits = await tx.get('SELECT 1 AS yes FROM scheduled WHERE submission_id = ? AND held_because IS NULL', id);
  if (asked === undefined || waits === undefined) return true;
  if (asked.state === 'approved' && (await isWhole(tx, asked, sha256))) return true;
  if (asked.state === 'pending') {
    const because = 'a person has to let it go';
    await tx.run('UPDATE scheduled SET held_because = ? WHERE submission_id = ?', because, id);
  } else await endApproval(tx, asked, 'void', null, stamp);
  return false;
}

/** What a person let go leaves the mailbox of what is approved for Sent. False: it lies nowhere. */
async function fileLetGo(tx: Write, id: number, stamp: Stamp): Promise<boolean> {
  const asked = await approvalRow(tx, id);
  return asked !== undefined && refile(tx, asked, 'sent', stamp);
}

/** Who gets nothing after all, and why: the sender sees it in the message's story. */
async function noteLeftOut(
  tx: Write,
  { trace, account, tenant }: { trace: string; account: number | null; tenant: number },
  { unreachable, suppressed }: Pick<Leaving, 'unreachable' | 'suppressed'>,
  stamp: Stamp,
): Promise<void> {
  for (const { address, why } of unreachable) {
    const detail = { to: address, status: '5.1.1', text: `${address} is not there any more: ${UNREACHABLE[why]}` };
    await note(tx, trace, 'failed', account, detail, stamp, { tenant });
  }
  for (const { address, reason } of suppressed) {
    await note(tx, trace, 'suppressed', account, { to: address, because: reason }, stamp, { tenant });
  }
}

const MINUTE_MS = 60_000;
const LONGEST_PAUSE_MS = 60 * MINUTE_MS;
/** About six hours: then a person has to look. */
const MOST_ATTEMPTS = 12;

/** A message that could not be sent waits and is tried again; at last it is held, where somebody sees it. */
export const putOff = command('put-off', async (tx, input: { id: number; because: string }, stamp): Promise<void> => {
  const tried = await tx.get<{ attempts: number }>(
    'UPDATE scheduled SET attempts = attempts + 1 WHERE submission_id = ? RETURNING attempts',
    input.id,
  );
  if (tried === undefined) return;
  const pause = Math.min(LONGEST_PAUSE_MS, MINUTE_MS * 2 ** (tried.attempts - 1));
  await tx.run('UPDATE scheduled SET due_at = ? WHERE submission_id = ?', stamp.now + pause, input.id);
  if (tried.attempts < MOST_ATTEMPTS) return;
  await tx.run('UPDATE scheduled SET held_because = ? WHERE submission_id = ?', input.because, input.id);
  const row = await tx.get<Owned>('SELECT id, trace, tenant, account_id FROM submission WHERE id = ?', input.id);
  if (row === undefined) return;
  const { trace, account_id: account, tenant } = row;
  await note(tx, trace, 'held', account, { because: input.because, outbox: input.id }, stamp, { tenant });
});

/** Lets a message go that a person had to look at; its time still counts. */
export const releaseWaiting = command(
  'release-waiting',
  async (tx, { id }: { id: number }, stamp): Promise<{ kind: 'released' | 'none' }> => {
    const { changes } = await tx.run(
      'UPDATE scheduled SET held_because = NULL, attempts = 0 WHERE submission_id = ? AND held_because IS NOT NULL',
      id,
    );
    const row = await tx.get<Owned>('SELECT id, trace, tenant, account_id FROM submission WHERE id = ?', id);
    if (changes === 0 || row === undefined) return { kind: 'none' };
    await note(tx, row.trace, 'released', row.account_id, { outbox: id }, stamp, { tenant: row.tenant });
    return { kind: 'released' };
  },
);

/** Takes back what has not left yet, whether or not a person was asked about it. `by`: who does, as people know them. */
export async function unschedule(tx: Write, trace: string, stamp: Stamp, by: string | null = null): Promise<boolean> {
  const row = await scheduledOf(tx, trace);
  if (row === undefined) return false;
  const asked = await approvalRow(tx, row.id);
  if (asked === undefined) await dropScheduled(tx, row, {}, stamp);
  else await endApproval(tx, asked, 'withdrawn', by, stamp);
  return true;
}

/** Gives a message that has not left yet another time. */
export async function reschedule(tx: Write, trace: string, until: number, stamp: Stamp): Promise<boolean> {
  const row = await scheduledOf(tx, trace);
  if (row === undefined) return false;
  await tx.run('UPDATE scheduled SET due_at = ?, attempts = 0 WHERE submission_id = ?', until, row.id);
  const detail = { until: new Date(until).toISOString(), outbox: row.id };
  await note(tx, trace, 'scheduled', row.account_id, detail, stamp, { tenant: row.tenant });
  return true;
}

const SLICE = 200;

/** Takes back a slice of everything of a tenant that waits. Answers how many. */
export async function unscheduleTenant(tx: Write, tenant: number, stamp: Stamp): Promise<number> {
  const rows = await tx.all<{ trace: string }>(
    'SELECT s.trace FROM scheduled d JOIN submission s ON s.id = d.submission_id WHERE d.tenant = ? LIMIT ?',
    tenant,
    SLICE,
  );
  for (const { trace } of rows) await unschedule(tx, trace, stamp);
  return rows.length;
}

/** Holds all of a tenant that waits for its time, or lets go again what was held for that reason. */
export async function holdTenant(tx: Write, tenant: number, because: string, hold: boolean): Promise<void> {
  await tx.run(
    'UPDATE scheduled SET held_because = ? WHERE held_because IS ? AND tenant = ?',
    hold ? because : null,
    hold ? null : because,
    tenant,
  );
}
