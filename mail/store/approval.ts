import { createHash } from 'node:crypto';
import type { MessageIndex } from '../message/index-types.ts';
import { fileWaiting, refile } from './approval-mailbox.ts';
import type { Read, Stamp, Write } from './engine/types.ts';
import { note } from './journal.ts';
import { dropScheduled } from './scheduled.ts';

const HOUR_MS = 3_600_000;
/** A person has so long. */
const PENDING_MS = 24 * HOUR_MS;
/** Of one sender; an agent that goes on asking is told to wait. */
export const MOST_PENDING = 100;

/** Why a message waits: a code for programs, a sentence without its full stop for people. */
export interface HeldReason {
  readonly code: string;
  readonly text: string;
  readonly recipients?: readonly string[];
}

export type ApprovalState = 'pending' | 'approved' | 'denied' | 'expired' | 'withdrawn';

/** A message of an agent that shall wait for a person. */
export interface ToApprove {
  /** Row of its submission, which waits already. */
  submission: number;
  tenant: number;
  /** Null: no mailbox sends it. */
  account: number | null;
  trace: string;
  /** Who asks: public id of a token, or of the mailbox whose password it is. */
  credential: string;
  /** The envelope. */
  sender: string;
  recipients: readonly string[];
  reasons: readonly HeldReason[];
  /** Of the octets that leave, hex. */
  sha256: string;
  /** ms UTC; null: at once. */
  sendAt: number | null;
  index: MessageIndex;
}

export interface ApprovalRow extends Record<string, string | number | null> {
  id: number;
  tenant: number;
  account_id: number | null;
  trace: string;
  sha256: string;
  seal: string;
  email_id: number | null;
  state: ApprovalState;
  expires_at: number;
}

export const APPROVAL = `id, tenant, account_id, trace, sha256, seal, email_id, state, expires_at`;

/**
 * Has a person decide about a message, in the commit that takes it: it lies in the mailbox where a mail program shows it,
 * and what was asked for is sealed, so that nothing else can be let go.
 */
export async function awaitApproval(tx: Write, what: ToApprove, stamp: Stamp): Promise<void> {
  const { submission, tenant, account, trace, credential, sender, recipients, reasons, sha256, index } = what;
  const blob = (await tx.get<{ blob: number }>('SELECT blob_id AS blob FROM submission WHERE id = ?', submission))
    ?.blob;
  if (blob === undefined) throw new Error(`submission ${submission} is not there`);
  const email =
    account === null ? null : await fileWaiting(tx, { account, blob, index, reasons, by: credential }, stamp);
  await tx.run(
    `INSERT INTO approval (id, tenant, account_id, trace, credential, sender, recipients, subject, reasons, sha256, seal,
       send_at, email_id, state, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)`,
    submission,
    tenant,
    account,
    trace,
    credential,
    sender,
    JSON.stringify(recipients),
    index.subject,
    JSON.stringify(reasons),
    sha256,
    sealOf({ blob, sha256, sender, recipients: JSON.stringify(recipients) }),
    what.sendAt,
    email,
    stamp.now,
    stamp.now + PENDING_MS,
  );
}

/** Whether so much of a sender waits that nothing more may. */
export async function isCrowded(
  rx: Read,
  { tenant, account }: { tenant: number; account: number | null },
): Promise<boolean> {
  const row = await rx.get<{ n: number }>(
    `SELECT count(*) AS n FROM (SELECT 1 FROM approval INDEXED BY approval_waits
       WHERE tenant = ? AND state = 'pending' AND account_id IS ? LIMIT ?)`,
    tenant,
    account,
    MOST_PENDING,
  );
  return (row?.n ?? 0) >= MOST_PENDING;
}

/** Octets and envelope as one value. */
function sealOf(what: { blob: number; sha256: string; sender: string; recipients: string }): string {
  const { blob, sha256, sender, recipients } = what;
  return createHash('sha256')
    .update(JSON.stringify([blob, sha256, sender, JSON.parse(recipients)]))
    .digest('hex');
}

/** Why nobody can let a message go; undefined: it can be. */
export type Undecidable = 'decided' | 'expired' | 'changed';

/**
 * Asked in the commit of the decision: whatever was shown before, this is what will leave. `sha256` as in {@link isWhole}.
 */
export async function undecidable(
  rx: Read,
  row: ApprovalRow,
  now: number,
  sha256?: string,
): Promise<Undecidable | undefined> {
  if (row.state === 'expired') return 'expired';
  if (row.state !== 'pending') return 'decided';
  if (row.expires_at <= now) return 'expired';
  return (await isWhole(rx, row, sha256)) ? undefined : 'changed';
}

/**
 * Whether a message is still what a person was asked about. Small ones are looked at here; of large ones `sha256`, hex, of
 * the octets as they were just read decides, and where it is left out, that it is their file still.
 */
export async function isWhole(rx: Read, row: ApprovalRow, sha256?: string): Promise<boolean> {
  const now = await rx.get<{ blob: number; data: Uint8Array | null; sender: string; recipients: string }>(
    `SELECT b.id AS blob, b.data, s.sender, d.recipients FROM submission s JOIN scheduled d ON d.submission_id = s.id
     JOIN blob b ON b.id = s.blob_id WHERE s.id = ?`,
    row.id,
  );
  if (now === undefined) return false;
  const own = now.data === null ? (sha256 ?? row.sha256) : createHash('sha256').update(now.data).digest('hex');
  return [own, sha256 ?? own].every((one) => sealOf({ ...now, sha256: one }) === row.seal);
}

export function approvalRow(rx: Read, id: number): Promise<ApprovalRow | undefined> {
  return rx.get<ApprovalRow>(`SELECT ${APPROVAL} FROM approval WHERE id = ?`, id);
}

/** Lets a message go: it leaves when its time comes, mostly at once. Ask {@link undecidable} before, in this commit. */
export async function approve(tx: Write, row: ApprovalRow, by: string, stamp: Stamp): Promise<void> {
  await conclude(tx, row, 'approved', by, stamp);
  await tx.run('UPDATE scheduled SET held_because = NULL, attempts = 0 WHERE submission_id = ?', row.id);
  await note(tx, row.trace, 'released', row.account_id, { by, outbox: row.id }, stamp, { tenant: row.tenant });
  await refile(tx, row, 'approved', stamp);
}

const BECAUSE = {
  denied: 'a person refused it',
  expired: 'nobody let it go within 24 hours',
  withdrawn: 'it was withdrawn',
  void: 'it was changed after a person was asked about it',
} as const;

/** Ends it without sending: nobody gets it. What lies in the mailbox goes to the trash. A void one counts as expired. */
export async function endApproval(
  tx: Write,
  row: ApprovalRow,
  state: keyof typeof BECAUSE,
  by: string | null,
  stamp: Stamp,
): Promise<void> {
  await conclude(tx, row, state === 'void' ? 'expired' : state, by, stamp);
  await dropScheduled(tx, row, { because: BECAUSE[state] }, stamp);
  await refile(tx, row, 'trash', stamp);
}

async function conclude(tx: Write, row: ApprovalRow, state: ApprovalState, by: string | null, { now }: Stamp) {
  await tx.run('UPDATE approval SET state = ?, decided_at = ?, decided_by = ? WHERE id = ?', state, now, by, row.id);
}
