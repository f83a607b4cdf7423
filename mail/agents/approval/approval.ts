import { createHash } from 'node:crypto';
import { APPROVAL, type ApprovalRow, type ApprovalState, type ApprovalRequest } from './approval-row.ts';
import { clearContent } from '../taint/content.ts';
import { fileForApproval, refile } from './mailbox.ts';
import { command, type Read, type Stamp, type Write } from '../../store/engine/types.ts';
import { recordJournalEvent } from '../../store/journal/journal.ts';
import { dropScheduled } from '../../store/queue/scheduled.ts';

const HOUR_MS = 3_600_000;
/** Time to decide before the approval expires. */
const PENDING_MS = 24 * HOUR_MS;
/** Retention of decided approvals. */
const RETENTION_MS = 30 * 24 * HOUR_MS;
const SLICE = 50;
/** Pending approvals of one sender. */
export const MAX_PENDING_APPROVALS = 100;

/**
 * Requests approval for a message in the commit that accepts it. The message is shown in a mailbox, and a hash seals its
 * octets and envelope, so that nothing else can be released.
 */
export async function awaitApproval(tx: Write, what: ApprovalRequest, stamp: Stamp): Promise<void> {
  const { submission, tenant, account, trace, credential, sender, recipients, reasons, sha256, index } = what;
  const blob = (await tx.get<{ blob: number }>('SELECT blob_id AS blob FROM submission WHERE id = ?', submission))
    ?.blob;
  if (blob === undefined) throw new Error(`submission ${submission} does not exist`);
  const email =
    account === null ? null : await fileForApproval(tx, { account, blob, index, reasons, by: credential }, stamp);
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

/** Tests if a sender has so many pending approvals that no more are accepted. */
export async function hasTooManyPending(
  rx: Read,
  { tenant, account }: { tenant: number; account: number | null },
): Promise<boolean> {
  const row = await rx.get<{ n: number }>(
    `SELECT count(*) AS n FROM (SELECT 1 FROM approval INDEXED BY approval_pending_tenant
       WHERE tenant = ? AND state = 'pending' AND account_id IS ? LIMIT ?)`,
    tenant,
    account,
    MAX_PENDING_APPROVALS,
  );
  return (row?.n ?? 0) >= MAX_PENDING_APPROVALS;
}

/** Hash of the octets and the envelope. */
function sealOf(what: { blob: number; sha256: string; sender: string; recipients: string }): string {
  const { blob, sha256, sender, recipients } = what;
  return createHash('sha256')
    .update(JSON.stringify([blob, sha256, sender, JSON.parse(recipients)]))
    .digest('hex');
}

/** Reason why an approval cannot be decided. */
export type ApprovalFlaw = 'decided' | 'expired' | 'changed';

/**
 * Finds out in the commit of the decision if the approval can be decided: the message that leaves must be the one that was
 * shown. `sha256` as in {@link isUnchanged}.
 */
export async function findApprovalFlaw(
  rx: Read,
  row: ApprovalRow,
  now: number,
  sha256?: string,
): Promise<ApprovalFlaw | undefined> {
  if (row.state === 'expired') return 'expired';
  if (row.state !== 'pending') return 'decided';
  if (row.expires_at <= now) return 'expired';
  return (await isUnchanged(rx, row, sha256)) ? undefined : 'changed';
}

/**
 * Tests if a message still is what approval was requested for. Small messages are hashed here. For large ones `sha256`
 * (hex) of the octets as just read decides; if left out, the stored digest stands for the file.
 */
export async function isUnchanged(rx: Read, row: ApprovalRow, sha256?: string): Promise<boolean> {
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

/** Releases a message: it leaves at its time, mostly at once. Call {@link findApprovalFlaw} before, in the same commit. */
export async function approve(tx: Write, row: ApprovalRow, by: string, stamp: Stamp): Promise<void> {
  await recordOutcome(tx, row, 'approved', by, stamp);
  await clearContent(tx, [`trace/${row.trace}`]);
  await tx.run('UPDATE scheduled SET hold_reason = NULL, attempts = 0 WHERE submission_id = ?', row.id);
  await recordJournalEvent(tx, row.trace, 'released', row.account_id, { by, outbox: row.id }, stamp, {
    tenant: row.tenant,
  });
  await refile(tx, row, 'approved', stamp);
}

const END_REASONS = {
  denied: 'denied by a person',
  expired: 'no decision within 24 hours',
  withdrawn: 'withdrawn',
  void: 'changed after approval was requested',
} as const;

/** Ends an approval without sending. Moves the copy in the mailbox to the trash. `void` is stored as expired. */
export async function endApproval(
  tx: Write,
  row: ApprovalRow,
  state: keyof typeof END_REASONS,
  by: string | null,
  stamp: Stamp,
): Promise<void> {
  await recordOutcome(tx, row, state === 'void' ? 'expired' : state, by, stamp);
  await dropScheduled(tx, row, { because: END_REASONS[state] }, stamp);
  await refile(tx, row, 'trash', stamp);
}

async function recordOutcome(tx: Write, row: ApprovalRow, state: ApprovalState, by: string | null, { now }: Stamp) {
  await tx.run('UPDATE approval SET state = ?, decided_at = ?, decided_by = ? WHERE id = ?', state, now, by, row.id);
}

/** Expires a slice of approvals that nobody decided in time. Returns if there may be more. */
export const expireApprovals = command('expire-approvals', async (tx, _: undefined, stamp): Promise<boolean> => {
  const late = await tx.all<ApprovalRow>(
    `SELECT ${APPROVAL} FROM approval INDEXED BY approval_pending WHERE state = 'pending' AND expires_at <= ?
     ORDER BY expires_at LIMIT ? + 0`,
    stamp.now,
    SLICE,
  );
  for (const row of late) await endApproval(tx, row, 'expired', null, stamp);
  return late.length === SLICE;
});

/** Purges a slice of old decided approvals, but not those of messages that are still scheduled. */
export const purgeApprovals = command('purge-approvals', async (tx, _: undefined, stamp): Promise<boolean> => {
  const { changes } = await tx.run(
    `DELETE FROM approval WHERE id IN (SELECT id FROM approval INDEXED BY approval_decided
       WHERE decided_at < ? AND NOT EXISTS (SELECT 1 FROM scheduled WHERE submission_id = approval.id)
       ORDER BY decided_at LIMIT ? + 0)`,
    stamp.now - RETENTION_MS,
    SLICE,
  );
  return changes === SLICE;
});
